/* One tuning per GPU, of all users of a node: a flock they all can take. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_ADMISSION_NODE_LOCK_H
#define AUTOFIT_LAUNCHER_ADMISSION_NODE_LOCK_H

#include "base/error.h"

#define NODE_LOCK_WHO_MAX 128

/*
 * Where all users can make files and none can remove another's: /run/lock,
 * else /tmp; NULL: neither is such a folder.
 */
const char *node_lock_folder(void);

/*
 * Lock folder/autofit-<name>.lock, which is made when it is not there and
 * stays, empty. Returns its descriptor (close-on-exec), which the caller closes
 * to let go; -EWOULDBLOCK when another holds it, and who then names the process
 * as far as the kernel tells ("process 4711 of alice"); another negative errno
 * where there is no such lock to be had. who may be NULL.
 */
int node_lock_take(const char *folder, const char *name,
		   char who[NODE_LOCK_WHO_MAX], struct error *err);

#endif
