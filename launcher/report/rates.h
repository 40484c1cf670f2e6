/* How fast the splits of a result train, and which differences are noise. Pure.
 */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REPORT_RATES_H
#define AUTOFIT_LAUNCHER_REPORT_RATES_H

#include "launcher/report/result.h"

#include <stdbool.h>

/*
 * Of the trial's size with this accumulation, over the world, from the median
 * step of the trial; 0: not known. A step of another accumulation than it ran
 * with is told by the time of its micro-steps: an optimizer's time falls on
 * few of them or on many.
 */
double rates_samples_per_second(const struct result *result,
				const struct trial *trial, int64_t accum);

/*
 * The probe that tells of a split: the last of its own accumulation, for with
 * less of it a size may fit that does not with all; else the last of the size.
 * NULL: there is none.
 */
const struct trial *rates_trial(const struct result *result, int64_t micro,
				int64_t accum);

/* How far apart runs of one split are, at most; 0: none ran twice. */
struct runs_apart {
	double peak, speed;
};

struct runs_apart rates_runs_apart(const struct result *result);

/* Samples per second against those of the command's own split, as above. */
struct rate_factor {
	double factor; /* 0: not known */
	/*
	 * As far from 1 a factor is noise: twice the standard error of a ratio
	 * of two medians (of a median, 1.2533 x sigma / sqrt(n), with sigma as
	 * 1.4826 x MAD), and no less than equal runs differed.
	 */
	double noise;
};

struct rate_factor rates_against_own(const struct result *result,
				     const struct trial *trial, int64_t accum);
/* Twice the standard error of the trial's rate, as a share of it. */
double rates_spread(const struct trial *trial);
bool rates_is_noise(const struct rate_factor *rate);

/* The answer of a tuning is slower than the command's own split, clearly. */
bool rates_answer_is_slower(const struct result *result,
			    struct rate_factor *rate);

#endif
