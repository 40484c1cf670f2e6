/* Of the splits that fit, the one that trains fastest. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/plan/plan_fastest.h"

#include <assert.h>
#include <math.h>

/* It may be the answer, and ran as that would. */
static const struct trial *timed_trial(const struct plan *plan,
				       const struct plan_view *view,
				       int64_t micro)
{
	const struct trial *trial = plan_view_trial(view, micro);

	if (!trial || !trial_fits(trial) || !(trial->step_seconds > 0) ||
	    trial_may_count_passes(trial) ||
	    trial->grad_accum != plan_final_accum(plan, micro) ||
	    (view->split_count && !plan_view_has_split(view, micro)))
		return NULL;
	return trial;
}

/* Of the splits between the own one and the largest the middle, or 0. */
static int64_t middle_split(const struct plan_view *view, int64_t own,
			    int64_t largest)
{
	double middle = sqrt((double)own * (double)largest);
	int64_t found = 0;

	assert(own >= 1 && largest >= 1);
	for (size_t i = 0; i < view->split_count; i++)
		if (view->splits[i] > own && view->splits[i] < largest &&
		    (!found || fabs((double)view->splits[i] - middle) <
				       fabs((double)found - middle)))
			found = view->splits[i];
	return found;
}

/*
 * Is a run of this split worth its time? Not where the largest shows that no
 * other that accumulates can be compared with it.
 */
static bool can_be_timed(const struct plan *plan, const struct plan_view *view,
			 int64_t micro, int64_t largest)
{
	const struct trial *trial = plan_view_trial(view, micro);
	const struct trial *ran = plan_view_trial(view, largest);

	if (micro <= 0 || micro >= largest ||
	    (view->split_count && !plan_view_has_split(view, micro)) ||
	    (trial && trial_is_misfit(trial)))
		return false;
	return !ran || ran->steps_source != STEPS_LOG ||
	       plan_final_accum(plan, micro) == 1;
}

/* More samples than this are taken for the same rate: see report/rates.h. */
#define SAME_RATE 0.98

int64_t plan_fastest_untimed(const struct plan *plan,
			     const struct plan_view *view, int64_t largest)
{
	int64_t own = plan->own_micro;
	const int64_t wanted[] = { own,
				   own > 0 ? middle_split(view, own, largest)
					   : 0 };

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		if (can_be_timed(plan, view, wanted[i], largest) &&
		    !plan_view_is_settled(view, wanted[i]))
			return wanted[i];
	return 0;
}

int64_t plan_fastest(const struct plan *plan, const struct plan_view *view,
		     int64_t largest)
{
	double best = 0;

	for (size_t i = 0; i < view->count; i++) {
		const struct trial *trial =
			timed_trial(plan, view, view->trials[i].micro_batch);

		if (trial && trial_is_confirmed(trial) &&
		    trial_rate(trial) > best)
			best = trial_rate(trial);
	}
	for (size_t i = 0; best > 0 && i < view->count; i++) {
		const struct trial *trial =
			timed_trial(plan, view, view->trials[i].micro_batch);

		if (trial && trial_is_confirmed(trial) &&
		    trial_rate(trial) >= SAME_RATE * best &&
		    trial->micro_batch < largest)
			largest = trial->micro_batch;
	}
	return largest;
}
