/* Decides on a running probe: a pure function of what is seen. */
/* SPDX-License-Identifier: MIT */
#include "probes/verdict/lifecycle.h"

#include <assert.h>

enum stop_reason lifecycle_breach(const struct lifecycle_limits *limits,
				  const struct lifecycle_facts *facts)
{
	/* Before the peaks: they may be the neighbour's. */
	if (facts->neighbour_moved)
		return STOP_NEIGHBOUR;
	if (limits->limit_bytes && facts->peak_bytes > limits->limit_bytes)
		return STOP_OVER_LIMIT;
	if (limits->host_limit_bytes &&
	    facts->host_peak_bytes > limits->host_limit_bytes)
		return STOP_OVER_HOST_LIMIT;
	if (facts->available_bytes < limits->available_floor_bytes)
		return STOP_MEMORY_TAKEN;
	if (facts->scratch_full)
		return STOP_SCRATCH_FULL;
	if (facts->memory_line_ms >= 0 &&
	    facts->now_ms - facts->memory_line_ms >= LAST_WORDS_MS)
		return STOP_SIGNATURE;
	if (facts->rank_lost_for_ms >= LAST_WORDS_MS)
		return STOP_RANK_LOST;
	if (facts->now_ms - facts->last_life_ms >= limits->startup_timeout_ms)
		return STOP_STARTUP_TIMEOUT;
	if (limits->timeout_ms && facts->now_ms >= limits->timeout_ms &&
	    (facts->steps || limits->timeout_covers_start))
		return STOP_TIMEOUT;
	return STOP_NONE;
}

static bool enough_by_time(const struct lifecycle_limits *limits,
			   const struct lifecycle_facts *facts)
{
	return !facts->steps && !facts->steps_will_come &&
	       facts->now_ms >= TIME_ONLY_MS && facts->peak_bytes &&
	       !step_peaks_rose(facts->half_time_peak_bytes, facts->peak_bytes,
				&limits->noise);
}

struct lifecycle_step lifecycle_next(const struct lifecycle_limits *limits,
				     const struct lifecycle_facts *facts,
				     const struct step_peaks *peaks)
{
	struct lifecycle_step step = { .action = LIFECYCLE_GO_ON };

	assert(limits->steps_needed >= 1 && limits->startup_timeout_ms > 0);
	step.reason = lifecycle_breach(limits, facts);
	if (step.reason != STOP_NONE) {
		step.action = LIFECYCLE_STOP;
	} else if (facts->memory_line_ms >= 0 || facts->rank_lost_for_ms) {
		/* It has a few moments left to print why; it cannot fit. */
		step.action = LIFECYCLE_GO_ON;
	} else if (facts->steps >= limits->steps_needed &&
		   facts->steps > facts->retried_steps &&
		   (step_peaks_are_stable(peaks, &limits->noise) ||
		    facts->steps >= UNSTABLE_STEPS_MAX ||
		    limits->steps_needed < 3)) {
		step.action = LIFECYCLE_DECIDED;
	} else if (enough_by_time(limits, facts)) {
		step.action = LIFECYCLE_DECIDED;
		step.by_time = true;
	}
	return step;
}
