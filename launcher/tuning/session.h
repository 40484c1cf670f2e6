/* A tuning: probes until the plan is done, then the record. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_SESSION_H
#define AUTOFIT_LAUNCHER_TUNING_SESSION_H

#include "launcher/report/result.h"
#include "launcher/tuning/plan/plan.h"
#include "launcher/tuning/setup/session_setup.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Runs probes on the target under the guard's locks until there is an answer,
 * the time is up or a signal comes. result is filled in: outcome, exit code,
 * message, the record (written to disk when tuned), the command to run, the
 * signal that ended it. Every process of every probe is gone when this returns.
 */
void session_tune(const struct session_setup *setup, struct result *result);

/* A card that the target stands for, and the answer there. */
struct session_card {
	uint64_t usable_bytes;
	int64_t more_bytes; /* see memory_target_stand_for() */
	/* PLAN_DONE: the largest split; PLAN_NOTHING_FITS: there is none;
	 * PLAN_PROBE: it was not found out. */
	struct plan_step step;
	uint64_t peak_bytes; /* of that split, on the target's own card */
	uint64_t limit_bytes, headroom_bytes; /* on this card */
};

/*
 * The largest split on each of the cards, largest first, for which the target's
 * phantom stands one after the other: a probe that has run for one of them
 * counts for all behind it. No record is written. result tells why it ended
 * where outcome is not OUTCOME_TUNED, and holds the probes.
 */
void session_survey(const struct session_setup *setup, struct result *result,
		    struct session_card *cards, size_t count);

/*
 * The step that such a tuning begins with, were none cut off before it. Starts
 * nothing; guard, lease and style are not looked at. *winner: the same, or the
 * largest split below it, where that size can be no answer.
 */
struct plan_step session_first_step(const struct session_setup *setup,
				    struct plan_step *winner);

#endif
