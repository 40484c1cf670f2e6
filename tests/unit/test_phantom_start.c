/* When a tuning asks a phantom of its GPU: what real probes have cost. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/start/phantom_start.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static void it_pays_where_steps_are_dear(void **state)
{
	static const struct {
		struct trial trial;
		bool pays;
	} rows[] = {
		/* 20 steps of 3 s after a start of 10 s. */
		{ { .verdict = VERDICT_FITS,
		    .steps = 20,
		    .step_seconds = 3,
		    .seconds = 70 },
		  true },
		/* Half of it was the start: two more starts save nothing. */
		{ { .verdict = VERDICT_FITS,
		    .steps = 20,
		    .step_seconds = 3,
		    .seconds = 120 },
		  false },
		/* Exactly twice the start. */
		{ { .verdict = VERDICT_FITS,
		    .steps = 20,
		    .step_seconds = 1,
		    .seconds = 30 },
		  true },
		/* All of it is short. */
		{ { .verdict = VERDICT_FITS,
		    .steps = 8,
		    .step_seconds = 1,
		    .seconds = 9 },
		  false },
		/* What did not come to its steps does not tell their share. */
		{ { .verdict = VERDICT_OOM_DEVICE,
		    .steps = 20,
		    .step_seconds = 3,
		    .seconds = 70 },
		  false },
		/* Its start was another's. */
		{ { .verdict = VERDICT_FITS,
		    .is_forked = true,
		    .steps = 20,
		    .step_seconds = 3,
		    .seconds = 70 },
		  false },
		/* Without step times nothing is known. */
		{ { .verdict = VERDICT_FITS, .steps = 20, .seconds = 70 },
		  false },
	};
	struct trial all[COUNT(rows)];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		all[i] = rows[i].trial;
		assert_int_equal(phantom_start_limit_ms(&rows[i].trial, 1) > 0,
				 rows[i].pays);
	}
	/* The dearest of those that pay took 70 s. */
	assert_int_equal(phantom_start_limit_ms(all, COUNT(all)), 140000);
	assert_int_equal(phantom_start_limit_ms(all, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_pays_where_steps_are_dear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
