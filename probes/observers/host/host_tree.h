/* The processes below one, as looks have found them, with their counters. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OBSERVERS_HOST_HOST_TREE_H
#define AUTOFIT_PROBES_OBSERVERS_HOST_HOST_TREE_H

#include "probes/observers/host/host_pace.h"
#include "probes/observers/host/host_process.h"
#include "probes/process/pid_list.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* All zero but root to begin with. */
struct host_tree {
	pid_t root;
	struct host_process *processes; /* by pid; those that have memory */
	size_t count, capacity;
	struct pid_list pids;         /* of processes */
	struct pid_list ever;         /* all that were seen */
	uint64_t cpu_ticks, io_bytes; /* of all that were seen */
	uint64_t changes;             /* how many processes have come or gone */
	struct pid_list found;        /* by the last walk */
	uint64_t ended_cpu_ticks, ended_io_bytes;
	int64_t work_next_ms;
	struct host_pace walk;
};

/* A new look at all descendants of root; now_ms is monotonic. */
void host_tree_look(struct host_tree *tree, int64_t now_ms);
/* One of the processes of the last look, valid until the next; or NULL. */
const struct host_process *host_tree_find(const struct host_tree *tree,
					  pid_t pid);
void host_tree_release(struct host_tree *tree);

#endif
