/* The verdict of a finished trial, judged anew by what became known later.
 * Pure.
 */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_VERDICT_REJUDGE_H
#define AUTOFIT_PROBES_VERDICT_REJUDGE_H

#include "base/trial.h"

#include <stdbool.h>
#include <stdint.h>

/* All zero: nothing became known. */
struct trial_limits {
	/*
	 * The limit is another one than the trial was judged by: a fit may be
	 * over it now, and what was stopped under a lower limit proves nothing
	 * any more. 0: it is the same.
	 */
	uint64_t limit_bytes;
	/*
	 * For this trial's peak, once confirmed: the budget less the headroom
	 * that its growth asks for. 0: the limit stands for it.
	 */
	uint64_t confirmed_limit_bytes;
	/*
	 * The program prints that it is out of memory whatever its size: a
	 * verdict of running out of memory is no evidence any more.
	 */
	bool words_count_no_more;
};

/*
 * The one place where a verdict changes after its probe. Returns why a
 * confirmed fit is none any more, for the user; NULL in every other case.
 */
const char *trial_rejudge(struct trial *trial,
			  const struct trial_limits *limits);

#endif
