/* Which split is faster, and which difference is noise. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/report/rates.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define TRIALS_MAX 4
#define TIMED(micro, accum, seconds, mad, count)                               \
	{                                                                      \
		.micro_batch = (micro), .grad_accum = (accum),                 \
		.step_seconds = (seconds), .step_mad_seconds = (mad),          \
		.steps = (count), .verdict = VERDICT_FITS                      \
	}

/* The same, by steps or micro-steps that its output counts. */
#define COUNTED(micro, accum, seconds)                                         \
	{                                                                      \
		.micro_batch = (micro), .grad_accum = (accum),                 \
		.step_seconds = (seconds), .step_mad_seconds = 0.01,           \
		.steps = 20, .steps_source = STEPS_LOG,                        \
		.verdict = VERDICT_FITS                                        \
	}

/* 8 x 2 with that many backward passes, of which each took a quarter second. */
#define TIMED_WITHIN(passes)                                                   \
	{                                                                      \
		.micro_batch = 8, .grad_accum = 2, .seen_accum = (passes),     \
		.step_seconds = 1, .step_mad_seconds = 0.01,                   \
		.pass_seconds = 0.25, .steps = 20, .verdict = VERDICT_FITS     \
	}

/* The own split is 8 x 4, the answer 16 x 2. */
static const struct {
	const char *name;
	struct trial trials[TRIALS_MAX];
	double factor;
	bool is_noise, is_slower;
} rows[] = {
	{ "nothing was run", { { 0 } }, 0, true, false },
	{ "the own one was not", { TIMED(16, 2, 1, 0, 20) }, 0, true, false },
	{ "twice as fast",
	  { TIMED(8, 4, 2, 0.01, 20), TIMED(16, 2, 1, 0.01, 20) },
	  2,
	  false,
	  false },
	{ "the own one ran with less accumulation, and was not timed within",
	  { TIMED(8, 2, 1, 0.01, 20), TIMED(16, 2, 1, 0.01, 20) },
	  0,
	  true,
	  false },
	{ "the same, timed within: half of its step was the optimizer's",
	  { TIMED_WITHIN(2), TIMED(16, 2, 1, 0.01, 20) },
	  1.5,
	  false,
	  false },
	{ "the same, with two passes of each micro-batch",
	  { TIMED_WITHIN(4), TIMED(16, 2, 1, 0.01, 20) },
	  2,
	  false,
	  false },
	{ "the same, of which it made one at first",
	  { TIMED_WITHIN(1), TIMED(16, 2, 1, 0.01, 20) },
	  1.75,
	  false,
	  false },
	{ "as many as its split has, of which it made two at first",
	  { { .micro_batch = 8,
	      .grad_accum = 4,
	      .seen_accum = 2,
	      .step_seconds = 1,
	      .step_mad_seconds = 0.01,
	      .steps = 20,
	      .verdict = VERDICT_FITS },
	    TIMED(16, 2, 1, 0.01, 20) },
	  2,
	  false,
	  false },
	{ "clearly slower",
	  { TIMED(8, 4, 1, 0.01, 20), TIMED(16, 2, 1.25, 0.01, 20) },
	  0.8,
	  false,
	  true },
	{ "slower, of a few steps",
	  { TIMED(8, 4, 1, 0, 3), TIMED(16, 2, 1.1, 0.01, 20) },
	  1 / 1.1,
	  true,
	  false },
	{ "slower, but steps differ as much",
	  { TIMED(8, 4, 1, 0.3, 8), TIMED(16, 2, 1.25, 0.3, 8) },
	  0.8,
	  true,
	  false },
	{ "slower, but so was one that ran twice",
	  { TIMED(8, 4, 1, 0, 20), TIMED(8, 4, 1.3, 0, 20),
	    TIMED(16, 2, 1.5, 0, 20) },
	  1.3 / 1.5,
	  true,
	  false },
	{ "slower, if its output does not count micro-steps",
	  { COUNTED(8, 4, 1), TIMED(16, 2, 1.25, 0.01, 20) },
	  0,
	  true,
	  false },
	{ "faster, whatever its output counts",
	  { COUNTED(8, 4, 1), TIMED(16, 2, 0.8, 0.01, 20) },
	  1.25,
	  false,
	  false },
	{ "slower, and so few micro-steps were no more",
	  { TIMED(8, 4, 1, 0.01, 20), COUNTED(16, 2, 1.25) },
	  0.8,
	  false,
	  true },
	{ "steps that were not timed",
	  { TIMED(8, 4, 0, 0, 20), TIMED(16, 2, 1, 0, 20) },
	  0,
	  true,
	  false },
};

static void rates_are_compared(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct result result = RESULT_INIT;
		struct rate_factor rate;
		bool is_slower;

		result.own = (struct batch){ 8, 4, 1, 32 };
		result.record.batch = (struct batch){ 16, 2, 1, 32 };
		for (size_t k = 0;
		     k < TRIALS_MAX && rows[i].trials[k].micro_batch; k++)
			probe_notes_add(&result.record.probes,
					&rows[i].trials[k], NULL, NULL);
		is_slower = rates_answer_is_slower(&result, &rate);
		if (fabs(rate.factor - rows[i].factor) > 1e-9 ||
		    is_slower != rows[i].is_slower ||
		    (rate.factor > 0 &&
		     rates_is_noise(&rate) != rows[i].is_noise))
			fail_msg("%s: %g, noise %g", rows[i].name, rate.factor,
				 rate.noise);
		result_release(&result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_are_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
