/* Of the splits that fit, the one that trains fastest. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_PLAN_PLAN_FASTEST_H
#define AUTOFIT_LAUNCHER_TUNING_PLAN_PLAN_FASTEST_H

#include "launcher/tuning/plan/plan_view.h"

/*
 * Beside the largest size, which is known, the command's own is compared, and
 * the middle between both. The first of them that has not run in full yet; 0:
 * none.
 */
int64_t plan_fastest_untimed(const struct plan *plan,
			     const struct plan_view *view, int64_t largest);

/* The knee of the rate: the smallest size that trains as fast as any, or
 * largest, where none is timed. */
int64_t plan_fastest(const struct plan *plan, const struct plan_view *view,
		     int64_t largest);

#endif
