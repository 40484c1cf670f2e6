/* One folder seen through a layer that takes all writes: an overlay. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_ISOLATION_LAYER_H
#define AUTOFIT_PROBES_ISOLATION_LAYER_H

#include "base/strlist.h"

#include <stdbool.h>

struct layer {
	const char *folder;  /* made here; takes the writes */
	const char *lower;   /* absolute, without links; only read */
	const char *target;  /* where it is mounted */
	unsigned long flags; /* MS_NOSUID, ...: as lower is mounted */
	/* In a user namespace: other attributes, and most owners unknown. */
	bool in_user_namespace;
	/* Folders below lower (absolute) that have to be writable. */
	const struct strlist *wanted;
};

/*
 * 0 or -errno; -ENOTDIR when lower is no folder. After a failure nothing is
 * mounted. A folder that is not the user's cannot be changed inside a user
 * namespace (EOVERFLOW) unless the layer has it from the start. So put there
 * are the folders that lead to the wanted ones, and those of others in them and
 * near the top of lower that the user may write in or has something in.
 */
int layer_mount(const struct layer *layer);

#endif
