/* What the ranks of a probe report, whichever node they are on. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_NODES_NODE_RANKS_H
#define AUTOFIT_PROBES_NODES_NODE_RANKS_H

#include "base/error.h"
#include "probes/channel/channel.h"
#include "probes/observers/host/host.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The other side of node_report.h: gives the orders, and makes one reading of
 * all reports. All bytes 0: closed, and then nothing here does anything.
 *
 * Memory is that of the node that needs most: the sum of its ranks' peaks,
 * which may not have been of one moment, and so is never too little. Signs of
 * life are sums over all ranks.
 */
struct node_ranks {
	char *folder; /* NULL: closed */
	struct node_rank_seen *seen;
	size_t count;
	struct node_sum *nodes; /* those that a rank was seen on */
	size_t node_count, node_capacity;
	uint64_t beats; /* of autofit itself */
	int64_t next_beat_ms;
};

/* Makes the folder, before the first rank starts. count: ranks to be expected.
 */
int node_ranks_open(struct node_ranks *ranks, const char *folder, int64_t count,
		    struct error *err);
void node_ranks_close(struct node_ranks *ranks);

/*
 * Reads what is new, and tells the ranks that they are waited for. The slots of
 * all ranks' pages go into this machine's channel, times of theirs as if they
 * were of this machine's clock.
 */
void node_ranks_look(struct node_ranks *ranks, const struct channel *channel);

/* Joins what was read with own, a reading of the processes here, into host. */
void node_ranks_join(struct node_ranks *ranks, const struct host_reading *own,
		     struct host_reading *host);

/* The least memory that is available on any of their nodes; 0: not known. */
uint64_t node_ranks_available(const struct node_ranks *ranks);

/* Those that have reported nothing so far. */
int64_t node_ranks_unseen(const struct node_ranks *ranks);

/* Has every rank reported since then (milliseconds of clock_ms)? */
bool node_ranks_have_told(const struct node_ranks *ranks, int64_t since_ms);

/* One that failed while others live; -1: none. */
int node_ranks_lost(const struct node_ranks *ranks);

/* Every rank is to end: by SIGTERM within grace_ms; 0: at once. */
void node_ranks_stop(struct node_ranks *ranks, int64_t grace_ms);

/* Ctrl-Z and fg. */
void node_ranks_freeze(struct node_ranks *ranks, bool is_to_be);

/* None that was seen lives, or it has been silent for a while: Slurm may kill
 * it before its last word. */
bool node_ranks_are_over(const struct node_ranks *ranks);

/* Waits for that, reads the rest, and takes what the hook has written. */
void node_ranks_await(struct node_ranks *ranks, const struct channel *channel);

/* Of all ranks: processes killed by others, and by the kernel for memory. */
int32_t node_ranks_kills(const struct node_ranks *ranks, uint64_t *oom_kills);

#endif
