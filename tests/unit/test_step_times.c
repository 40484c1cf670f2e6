/* How long a step takes: bursts, warm-up, and other clocks. */
/* SPDX-License-Identifier: MIT */
/* USES probes */
#include "probes/verdict/step_times.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define NOTES_MAX 8

static const struct {
	const char *name;
	struct {
		int64_t steps, ms;
	} notes[NOTES_MAX]; /* steps 0 ends them */
	double median_ms, mad_ms;
} rows[] = {
	{ "nothing", { { 0 } }, 0, 0 },
	{ "one step", { { 1, 500 } }, 0, 0 },
	{ "two steps", { { 1, 500 }, { 2, 600 } }, 100, 0 },
	{ "the first two are left out",
	  { { 1, 0 }, { 2, 900 }, { 3, 1000 }, { 4, 1100 } },
	  100,
	  0 },
	{ "one slow step is no matter",
	  { { 1, 5000 },
	    { 2, 6000 },
	    { 3, 6100 },
	    { 4, 6200 },
	    { 5, 6900 },
	    { 6, 7000 } },
	  100,
	  0 },
	{ "steps that differ",
	  { { 1, 0 },
	    { 2, 100 },
	    { 3, 180 },
	    { 4, 280 },
	    { 5, 400 },
	    { 6, 510 },
	    { 7, 600 } },
	  110,
	  10 },
	{ "a burst shares its time", { { 100, 20 }, { 200, 40 } }, 0.2, 0 },
	{ "a count that falls",
	  { { 1, 0 }, { 3, 200 }, { 2, 900 }, { 4, 300 }, { 5, 400 } },
	  100,
	  0 },
	{ "a clock that is set back",
	  { { 1, 900 }, { 2, 100 }, { 3, 100 }, { 4, 100 } },
	  0,
	  0 },
	{ "more than are timed", { { 1, 0 }, { 4000, 1023 } }, 1, 0 },
};

/* Steps of 50 ms, of which some are heard late: the next seem to come at once.
 */
static void what_was_heard_late_is_less_certain(void **state)
{
	static const int64_t heard_ms[] = { 0, 50, 100, 223, 246, 269, 300 };
	static struct step_times times;
	struct step_pace own, heard;

	(void)state;
	memset(&times, 0, sizeof(times));
	for (size_t k = 0; k < sizeof(heard_ms) / sizeof(*heard_ms); k++)
		step_times_note(&times, (int64_t)k + 1, heard_ms[k] * 1000);
	own = step_times_pace(&times);
	times.are_heard = true;
	heard = step_times_pace(&times);
	assert_true(fabs(1000 * own.median_seconds - 31) < 0.011);
	assert_true(fabs(1000 * own.mad_seconds - 8) < 0.011);
	assert_true(heard.median_seconds == own.median_seconds);
	assert_true(fabs(1000 * heard.mad_seconds - 19) < 0.011);
}

static void rows_are_timed(void **state)
{
	static struct step_times times;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct step_pace pace;

		memset(&times, 0, sizeof(times));
		for (size_t k = 0; k < NOTES_MAX && rows[i].notes[k].steps; k++)
			step_times_note(&times, rows[i].notes[k].steps,
					rows[i].notes[k].ms * 1000);
		pace = step_times_pace(&times);
		if (fabs(1000 * pace.median_seconds - rows[i].median_ms) >
			    0.011 ||
		    fabs(1000 * pace.mad_seconds - rows[i].mad_ms) > 0.011)
			fail_msg("%s: %g ms, MAD %g ms", rows[i].name,
				 1000 * pace.median_seconds,
				 1000 * pace.mad_seconds);
	}
}

/* Micro-steps of 100 ms, and 40 ms more between steps of so many of them. */
static void the_optimizer_is_left_out(void **state)
{
	static const struct {
		int64_t count, per_step;
		double median_ms;
	} steps[] = { { 12, 4, 100 }, { 12, 1, 0 }, { 2, 2, 100 },
		      { 7, 2, 100 },  { 1, 4, 0 },  { 0, 4, 0 } };
	static struct step_times times;

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		int64_t us = 1000;
		struct step_pace pace;

		memset(&times, 0, sizeof(times));
		for (int64_t k = 1; k <= steps[i].count; k++) {
			us += 100000;
			step_times_note(&times, k, us);
			if (k % steps[i].per_step == 0)
				us += 40000;
		}
		pace = step_times_pace_within(&times, steps[i].per_step);
		if (fabs(1000 * pace.median_seconds - steps[i].median_ms) >
		    0.011)
			fail_msg("row %zu: %g ms", i,
				 1000 * pace.median_seconds);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_timed),
		cmocka_unit_test(what_was_heard_late_is_less_certain),
		cmocka_unit_test(the_optimizer_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
