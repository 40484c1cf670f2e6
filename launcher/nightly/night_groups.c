/* Which jobs of a night start together, and how many run at once. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/nightly/night_groups.h"

#include "base/alloc.h"
#include "launcher/nightly/jobs/jobs_slurm.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void night_groups_open(struct night_groups *groups, const struct jobs *jobs)
{
	size_t *first = xcalloc(jobs->count + 1, sizeof(*first));
	size_t count = 0;

	*groups = (struct night_groups){
		.group = xcalloc(jobs->count + 1, sizeof(size_t)),
		.waiting = xcalloc(jobs->count + 1, sizeof(size_t)),
		.waits = xcalloc(jobs->count + 1, sizeof(bool)),
		.jobs = jobs->count,
		.first = jobs->count,
	};
	for (size_t i = 0; i < jobs->count; i++) {
		size_t at = 0;

		while (at < count &&
		       !job_slurm_equal(&jobs->items[first[at]].slurm,
					&jobs->items[i].slurm))
			at++;
		if (at == count)
			first[count++] = i;
		groups->group[i] = at;
	}
	free(first);
}

void night_groups_release(struct night_groups *groups)
{
	free(groups->group);
	free(groups->waiting);
	free(groups->waits);
	memset(groups, 0, sizeof(*groups));
}

void night_groups_add(struct night_groups *groups, size_t at)
{
	assert(at < groups->jobs && !groups->waits[at]);
	groups->waits[at] = true;
	if (groups->waiting[groups->group[at]]++ == 0)
		groups->with_some++;
	if (at < groups->first)
		groups->first = at;
}

static void groups_remove(struct night_groups *groups, size_t at)
{
	assert(groups->waits[at] && groups->waiting[groups->group[at]] > 0);
	groups->waits[at] = false;
	if (--groups->waiting[groups->group[at]] == 0)
		groups->with_some--;
}

size_t night_groups_take(struct night_groups *groups, size_t room,
			 size_t together_max, size_t *items, size_t *at_once)
{
	size_t share = groups->with_some ? room / groups->with_some : 0;
	size_t count = 0;

	while (groups->first < groups->jobs && !groups->waits[groups->first])
		groups->first++;
	if (!room || groups->first == groups->jobs)
		return 0;
	for (size_t i = groups->first; i < groups->jobs && count < together_max;
	     i++) {
		if (!groups->waits[i] ||
		    groups->group[i] != groups->group[groups->first])
			continue;
		groups_remove(groups, i);
		items[count++] = i;
	}
	assert(count >= 1 && "the first of them waits");
	if (!share)
		share = 1;
	*at_once = share < count ? share : count;
	return count;
}

size_t night_shares_used(const struct night_share *shares, size_t count)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++)
		used += shares[i].left < shares[i].at_once ? shares[i].left
							   : shares[i].at_once;
	return used;
}
