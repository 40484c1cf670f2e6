/* Caches on disk that probes share with the user, as a table. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_ISOLATION_SHARED_PATHS_H
#define AUTOFIT_PROBES_ISOLATION_SHARED_PATHS_H

#include "base/strlist.h"

#include <sys/types.h>

/*
 * Append the absolute paths of all caches that the environment (NAME=value)
 * names, or their defaults: XDG_CACHE_HOME, HF_HOME, TORCH_HOME, compilers'
 * caches, CUDA's, the pipes of the MPS server, ... Existing or not. Never "/",
 * never HOME itself, never a relative value.
 */
void shared_paths_find(struct strlist *out, const struct strlist *environment,
		       uid_t user);

#endif
