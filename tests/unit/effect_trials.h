/* Trials of the tests of effects, in the words of a row. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_UNIT_EFFECT_TRIALS_H
#define AUTOFIT_TESTS_UNIT_EFFECT_TRIALS_H

#include "base/trial.h"
#include "base/units.h"

#define OWN_ACCUM 2
#define STOPPED(micro, peak)                                                   \
	MICRO(micro, VERDICT_OVER_BUDGET), .peak_bytes = (peak)*MIB,           \
					   .peak_is_lower_bound = true
/* Peak in MiB, seconds of a step. */
#define TRIAL(micro, accum, ended, peak, time)                                 \
	.micro_batch = (micro), .grad_accum = (accum), .verdict = (ended),     \
	.peak_bytes = (peak)*MIB, .step_seconds = (time), .steps = 3
#define RAN(micro, peak, time) TRIAL(micro, OWN_ACCUM, VERDICT_FITS, peak, time)
#define BY_OUTPUT(micro, peak, time)                                           \
	RAN(micro, peak, time), .steps_source = STEPS_LOG
#define HOOKED(micro, accum)                                                   \
	TRIAL(micro, accum, VERDICT_FITS, 100, 1), .steps_source = STEPS_HOOK
#define ACCUM(micro, accum, time) TRIAL(micro, accum, VERDICT_FITS, 100, time)
#define MICRO(micro, ended)                                                    \
	.micro_batch = (micro), .grad_accum = OWN_ACCUM, .verdict = (ended)

#endif
