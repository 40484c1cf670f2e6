/* A mount namespace of the process's own, with or without privilege. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_ISOLATION_NAMESPACES_H
#define AUTOFIT_PROBES_ISOLATION_NAMESPACES_H

#include "base/error.h"
#include "base/strlist.h"

#include <stdbool.h>
#include <stdint.h>

struct namespaces {
	/* Not the first user namespace: owners may have no name in it. */
	bool is_user;
	/* It was made here, and kept holds what the process may at most. */
	bool is_new;
	uint64_t kept;
};

/*
 * Leaves the mount namespace of the parent. With a user namespace, user and
 * group are what they were. From then on no mount made here is seen outside.
 */
int namespaces_enter(struct namespaces *namespaces, struct error *err);

/*
 * In there: leaves those of the machine's name, and of SysV and POSIX objects
 * between processes unless shares_ipc.
 */
void namespaces_own_ipc(bool shares_ipc);

/*
 * Once everything is mounted: what the process starts can have no capability
 * that it would not have had without the new user namespace.
 */
void namespaces_seal(const struct namespaces *namespaces);

/*
 * covers: a file, absolute and without links, and behind it the copy that is to
 * lie over it, and so on. Mounts them in the mount namespace of this process,
 * below root ("": its own). All of them or none.
 */
int namespaces_cover(const struct strlist *covers, const char *root,
		     struct error *err);

/*
 * The same in a mount namespace of its own, and without privilege in a user
 * namespace of its own: nobody else sees the copies, and they are gone with
 * the last process in it. The process has one thread.
 */
int namespaces_enter_covered(const struct strlist *covers, struct error *err);

#endif
