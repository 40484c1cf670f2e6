/* A mount namespace of the process's own, with or without privilege. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_ISOLATION_NAMESPACES_H
#define AUTOFIT_PROBES_ISOLATION_NAMESPACES_H

#include "base/error.h"

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
 * Leaves the namespaces of the parent: of mounts, of the machine's name, and of
 * SysV and POSIX objects between processes unless shares_ipc. With a user
 * namespace, user and group are what they were. From then on no mount made here
 * is seen outside.
 */
int namespaces_enter(struct namespaces *namespaces, bool shares_ipc,
		     struct error *err);

/*
 * Once everything is mounted: what the process starts can have no capability
 * that it would not have had without the new user namespace.
 */
void namespaces_seal(const struct namespaces *namespaces);

#endif
