/* What a plan looks at: the trials so far, the splits there are. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_PLAN_PLAN_VIEW_H
#define AUTOFIT_LAUNCHER_TUNING_PLAN_PLAN_VIEW_H

#include "launcher/tuning/plan/plan.h"

/* The last trial of each size, and the exact splits. */
struct plan_view {
	struct trial trials[SEARCH_TRIALS_MAX];
	size_t count;
	int64_t splits[PLAN_SPLITS_MAX];
	size_t split_count;
	/* All sizes there are, where the framework names them. */
	int64_t sizes[PLAN_SPLITS_MAX];
	size_t size_count;
	bool only_confirmed; /* each probe runs on as its own confirmation */
};

/* Once two short fits failed late, confirmed trials alone are looked at. */
void plan_view_look(struct plan_view *view, const struct plan *plan,
		    const struct trial *trials, size_t count);

/*
 * By how much the peaks of one size differed where it fitted and was then over
 * the limit; 0: it did not happen. A longer run shows more than a short one, so
 * where only confirmed fits are looked at, short ones say nothing of that.
 */
uint64_t plan_view_spread(const struct trial *trials, size_t count);

/*
 * What sizes are a multiple of. A program may ask for that, as one that takes
 * groups of six: where its own size fits, and a larger one that is no multiple
 * of it fails at once and not by memory, only multiples of it are tried from
 * then on, and what such failures say of larger sizes is not counted.
 */
int64_t plan_view_multiple(const struct plan *plan, const struct trial *trials,
			   size_t count);

/* The samples of the loader that gave this trial batches of its size, where
 * those are all that a batch can have; 0: not known. */
int64_t plan_view_data(const struct trial *trial);

/* No more than a data loader has; where a size fitted and took as many rows,
 * what a loader gave of a larger one is all there is; else as the plan has it.
 */
int64_t plan_view_max_micro(const struct plan *plan, const struct trial *trials,
			    size_t count);

/* The last trial of this size; NULL: none. */
const struct trial *plan_view_trial(const struct plan_view *view,
				    int64_t micro);
/* Did it fit, confirmed? */
bool plan_view_is_settled(const struct plan_view *view, int64_t micro);
/* Is it one of the exact splits? */
bool plan_view_has_split(const struct plan_view *view, int64_t micro);

#endif
