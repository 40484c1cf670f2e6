/* Where in the cgroup trees a process is. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OBSERVERS_HOST_HOST_CGROUP_PLACE_H
#define AUTOFIT_PROBES_OBSERVERS_HOST_HOST_CGROUP_PLACE_H

#include "probes/observers/host/host.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum host_cgroup_version { HOST_CGROUP_V1, HOST_CGROUP_V2 };

/*
 * The folder of the caller's own cgroup that controls memory, or the nearest
 * ancestor that can be seen: a container often sees its own cgroup as the
 * root of the tree under another name.
 */
struct host_cgroup_place {
	char *folder;       /* owned */
	size_t root_length; /* of folder: the mounted root */
};

/* -ENOENT when there is no such tree. The caller releases. */
int host_cgroup_find(struct host_cgroup_place *place,
		     const struct host_roots *roots,
		     enum host_cgroup_version version);
/* Go to the parent; false at the root. */
bool host_cgroup_parent(struct host_cgroup_place *place);
void host_cgroup_place_release(struct host_cgroup_place *place);

/*
 * Makes limit_bytes the hard limit of a cgroup that is there, and its swap
 * none where the kernel can do that. -ENOENT when it controls no memory.
 */
int host_cgroup_limit(const struct host_cgroup *cgroup, uint64_t limit_bytes);

/* A file of one number; "max" and what is too large to bind: UINT64_MAX. */
int host_cgroup_number(const char *folder, const char *file, uint64_t *number);

/* The number behind "<name> " in a file of such lines; -ENODATA. */
int host_cgroup_entry(const char *folder, const char *file, const char *name,
		      uint64_t *number);

#endif
