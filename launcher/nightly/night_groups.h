/* Which jobs of a night start together, and how many of them run at once. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_NIGHTLY_NIGHT_GROUPS_H
#define AUTOFIT_LAUNCHER_NIGHTLY_NIGHT_GROUPS_H

#include "launcher/nightly/jobs/jobs.h"

#include <stdbool.h>
#include <stddef.h>

/* Jobs that ask Slurm for the same are a group: one array can hold them. */
struct night_groups {
	size_t *group;    /* of each job */
	size_t *waiting;  /* of each group: jobs that wait */
	bool *waits;      /* of each job */
	size_t jobs;      /* of the list */
	size_t first;     /* no job before it waits */
	size_t with_some; /* groups of which a job waits */
};

/* What was started together: at most at_once of those that are left run. */
struct night_share {
	size_t at_once, left;
};

/* No job waits yet. */
void night_groups_open(struct night_groups *groups, const struct jobs *jobs);
void night_groups_release(struct night_groups *groups);

void night_groups_add(struct night_groups *groups, size_t at);

/*
 * Takes the first job that waits and further ones of its group, together_max
 * at most, into items; returns how many. *at_once receives how many of them
 * may run at once where room is left for so many: groups of which jobs wait
 * share it evenly. 0: there is no room, or nothing waits.
 */
size_t night_groups_take(struct night_groups *groups, size_t room,
			 size_t together_max, size_t *items, size_t *at_once);

/* How many jobs may run of all that was started. */
size_t night_shares_used(const struct night_share *shares, size_t count);

#endif
