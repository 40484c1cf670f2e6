/* The process that a tree was copied from, and what both have. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OBSERVERS_HOST_HOST_ORIGIN_H
#define AUTOFIT_PROBES_OBSERVERS_HOST_HOST_ORIGIN_H

#include "probes/observers/host/host_process.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A probe that a zygote forks has most of its pages in common with the zygote,
 * and with its keeper, a copy as well. Alone it would have them alone: an exact
 * reading, in which a page of n processes counts 1/n, lacks the others' part.
 */
struct host_origin {
	/* folder_fd -1: the tree is no copy; keeper: it is the origin. */
	struct host_process process, keeper;
};

void host_origin_init(struct host_origin *origin);
void host_origin_open(struct host_origin *origin, pid_t pid, pid_t keeper);
void host_origin_release(struct host_origin *origin);

/* Bytes of the tree's that count for the origin and the keeper, by the last
 * exact readings of these processes of the tree; 0: it is no copy. */
uint64_t host_origin_lent(const struct host_origin *origin,
			  const struct host_process *processes, size_t count);

#endif
