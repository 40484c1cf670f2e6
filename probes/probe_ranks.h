/* Ranks of a probe that wait for one that is gone. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PROBE_RANKS_H
#define AUTOFIT_PROBES_PROBE_RANKS_H

#include "probes/channel/channel.h"
#include "probes/verdict/allocations.h"

/*
 * The rank that ended by an exception, or because the driver refused it memory
 * (findings), while others live on; -1: there is none. Those wait in a
 * collective that it will never enter: NCCL's do so for half an hour. The
 * folder is where the step hook writes exceptions. A rank of which any process
 * lives has not ended, whatever a child of it said.
 */
int probe_ranks_lost(const struct channel *channel, const char *folder,
		     const struct allocation_findings *findings);

#endif
