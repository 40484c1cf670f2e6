/* Ranks of a probe that wait for one that is gone. */
/* SPDX-License-Identifier: MIT */
#include "probes/probe_ranks.h"

#include "probes/channel/last_errors.h"
#include "probes/process/proctree.h"

#include <stdbool.h>

struct rank_list {
	struct channel_rank items[CHANNEL_SLOTS];
	size_t count;
	bool is_alive[CHANNEL_SLOTS];
	bool some_ended;
};

/* One that nobody has waited for yet has ended all the same. */
static bool is_running(const struct channel_rank *rank)
{
	struct proc_stat stat;

	return proctree_stat(rank->pid, &stat) == 0 &&
	       stat.start_time == rank->start_time && stat.state != 'Z' &&
	       stat.state != 'X';
}

static void look_at_ranks(struct rank_list *ranks,
			  const struct channel *channel)
{
	ranks->count = channel_ranks(channel, ranks->items);
	ranks->some_ended = false;
	for (size_t i = 0; i < ranks->count; i++) {
		ranks->is_alive[i] = is_running(&ranks->items[i]);
		ranks->some_ended = ranks->some_ended || !ranks->is_alive[i];
	}
}

/* It was there, is gone, and another one is not. */
static bool was_left(const struct rank_list *ranks, int rank)
{
	bool was_there = false;
	bool others_live = false;

	for (size_t i = 0; i < ranks->count; i++) {
		bool is_it = ranks->items[i].rank == rank;

		if (is_it && ranks->is_alive[i])
			return false;
		was_there = was_there || is_it;
		others_live = others_live || (!is_it && ranks->is_alive[i]);
	}
	return was_there && others_live;
}

int probe_ranks_lost(const struct channel *channel, const char *folder,
		     const struct allocation_findings *findings)
{
	struct last_errors errors = LAST_ERRORS_INIT;
	struct rank_list ranks;
	int lost = -1;

	look_at_ranks(&ranks, channel);
	if (!ranks.some_ended)
		return -1;
	if (findings->end == ALLOCATIONS_FATAL && findings->rank >= 0 &&
	    was_left(&ranks, findings->rank))
		return findings->rank;
	if (folder)
		last_errors_read(&errors, folder);
	for (size_t i = 0; i < errors.count && lost < 0; i++)
		if (errors.items[i].rank >= 0 &&
		    was_left(&ranks, errors.items[i].rank))
			lost = errors.items[i].rank;
	last_errors_release(&errors);
	return lost;
}
