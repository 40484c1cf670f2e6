/* Plans a round: the next question, and those that may follow it. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_PLAN_PLAN_AHEAD_H
#define AUTOFIT_LAUNCHER_TUNING_PLAN_PLAN_AHEAD_H

#include "base/trial.h"
#include "launcher/tuning/plan/plan.h"

#include <stddef.h>

/*
 * steps[0] is plan_next's. Behind it stands what plan_next would say if that
 * probe fitted, with the peak that is to be expected, or ran out of memory; and
 * so on, those first that fewer outcomes lead to, of two outcomes the likelier
 * one. From max 3 on, whichever of the two comes true, the question after it
 * is there. No size stands twice. What has fitted and is to be confirmed stands
 * alone: that seldom fails, and is to show how fast it is.
 *
 * Returns their number, at most max (1 or more); 0: steps[0] asks for no probe.
 */
size_t plan_ahead(const struct plan *plan, const struct trial *trials,
		  size_t count, struct plan_step *steps, size_t max);

#endif
