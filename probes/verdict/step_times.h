/* How long an optimizer step takes, and how far steps differ. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_VERDICT_STEP_TIMES_H
#define AUTOFIT_PROBES_VERDICT_STEP_TIMES_H

#include <stdbool.h>
#include <stdint.h>

/* Later steps are not timed. */
#define STEP_TIMES_MAX 1024

/* When each step was done, by the program's own clock where it tells that. */
struct step_times {
	int64_t us[STEP_TIMES_MAX];
	int64_t steps;
	/* It tells none: they are when autofit heard of it. A machine that has
	 * no time for that lets them seem closer than they were. */
	bool are_heard;
};

/*
 * So many steps are done, the last of them at us. Steps that came at once
 * share the time since the last ones. A count that falls is ignored.
 */
void step_times_note(struct step_times *times, int64_t steps, int64_t us);

/* Of the steps after the warm-up; all 0: not known. */
struct step_pace {
	double median_seconds;
	/* Median absolute deviation from the median; 0 with one step. Of what
	 * was heard only, at least how far the mean is from it. */
	double mad_seconds;
};

struct step_pace step_times_pace(const struct step_times *times);

/*
 * Of micro-steps, of which so many make a step: the time between two of one
 * step. What lies between steps is the optimizer's. per_step 1: not known.
 */
struct step_pace step_times_pace_within(const struct step_times *times,
					int64_t per_step);

#endif
