/* The process that a tree was copied from, and what both have. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/host/host_origin.h"

#include "base/units.h"

#include <assert.h>
#include <stdbool.h>

void host_origin_init(struct host_origin *origin)
{
	*origin = (struct host_origin){ .process = { .folder_fd = -1 },
					.keeper = { .folder_fd = -1 } };
}

void host_origin_open(struct host_origin *origin, pid_t pid, pid_t keeper)
{
	assert(origin->process.folder_fd < 0);
	(void)host_process_open(&origin->process, pid);
	if (pid != keeper)
		(void)host_process_open(&origin->keeper, keeper);
}

void host_origin_release(struct host_origin *origin)
{
	host_process_close(&origin->process);
	host_process_close(&origin->keeper);
}

/* Has it so many pages from there? Else an exec has given it its own. */
static bool shares_with_origin(uint64_t others_part, uint64_t whole)
{
	return others_part >= whole / 4;
}

/* 2: the keeper is a copy as well. */
static double processes_outside(const struct host_origin *origin,
				uint64_t whole)
{
	struct host_share share;

	if (origin->keeper.folder_fd < 0 ||
	    host_process_share(&origin->keeper, &share) < 0)
		return 1;
	return shares_with_origin(bytes_minus(share.whole, share.anon), whole)
		       ? 2
		       : 1;
}

/*
 * A page of the origin is in all k copies and the o processes outside, or only
 * in these: of its w bytes r are in k + o, w - r in o. So its share is
 * s = r / (k + o) + (w - r) / o, which gives r. A process that comes and goes
 * has a part as well, and then this is too much: a copy lacks no more than all
 * it has less its own part.
 */
uint64_t host_origin_lent(const struct host_origin *origin,
			  const struct host_process *processes, size_t count)
{
	struct host_share share;
	uint64_t lacking = 0;
	double copies = 0;
	double outside, common;

	if (origin->process.folder_fd < 0 ||
	    host_process_share(&origin->process, &share) < 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (!shares_with_origin(processes[i].others_part, share.whole))
			continue;
		copies++;
		lacking += processes[i].others_part;
	}
	if (copies < 1)
		return 0;
	outside = processes_outside(origin, share.whole);
	common = ((double)share.whole / outside - (double)share.anon) /
		 (1 / outside - 1 / (copies + outside));
	if (common <= 0)
		return 0;
	return bytes_min((uint64_t)(common * outside / (copies + outside)),
			 lacking);
}
