/* Caches on disk that probes share with the user, as a table. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_ISOLATION_SHARED_PATHS_H
#define AUTOFIT_PROBES_ISOLATION_SHARED_PATHS_H

#include "base/strlist.h"

#include <stdbool.h>
#include <sys/types.h>

/* Absolute paths, existing or not. Release it. */
struct shared_paths {
	struct strlist all;
	struct strlist kept; /* of all: nothing that is there may change */
	struct strlist made; /* of all: wanted even if not there yet */
};

/*
 * Append the caches that the environment (NAME=value) names, or their
 * defaults: folders of HF_HOME, of TORCH_HOME and of XDG_CACHE_HOME, compilers'
 * caches, CUDA's, the pipes of the MPS server, ... Never a folder in which a
 * program's own files may lie beside them: of ~/.cache only what is known.
 * Never "/", never HOME itself, never a relative value.
 */
void shared_paths_find(struct shared_paths *out,
		       const struct strlist *environment, uid_t user);
void shared_paths_release(struct shared_paths *paths);

/* A file that caches write again by themselves: an index, a lock, a part of a
 * download. */
bool shared_paths_is_own_file(const char *path);

#endif
