/* The memory line: which peaks it goes through, and what it predicts. */
/* SPDX-License-Identifier: MIT */
/* USES search base */
#include "search/memory_line.h"

#include "base/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))
#define PEAK(micro, mib, by)                                                   \
	{                                                                      \
		.micro_batch = (micro), .peak_bytes = (mib)*MIB,               \
		.verdict = VERDICT_##by                                        \
	}

#define AT_REST(micro, mib, rest, by)                                          \
	{                                                                      \
		.micro_batch = (micro), .peak_bytes = (mib)*MIB,               \
		.rest_bytes = (rest)*MIB, .verdict = VERDICT_##by              \
	}

/* What a forward pass leaves, and what a whole pass takes. */
#define PASS(micro, mib, rest, forward, pass)                                  \
	{                                                                      \
		.micro_batch = (micro), .peak_bytes = (mib)*MIB,               \
		.rest_bytes = (rest)*MIB, .forward_bytes = (forward)*MIB,      \
		.pass_bytes = (pass)*MIB, .verdict = VERDICT_FITS              \
	}

#define STOPPED(micro, mib)                                                    \
	{                                                                      \
		.micro_batch = (micro), .peak_bytes = (mib)*MIB,               \
		.verdict = VERDICT_OVER_BUDGET, .peak_is_lower_bound = true    \
	}

static const struct {
	const char *name;
	struct trial trials[4];
	size_t points;
	uint64_t fixed_mib, per_sample_mib;
} fits[] = {
	{ "nothing", { { 0 } }, 0, 0, 0 },
	{ "a fit", { PEAK(8, 800, FITS) }, 1, 0, 100 },
	{ "a fit without a peak", { PEAK(8, 0, FITS) }, 0, 0, 0 },
	{ "a failure", { PEAK(8, 800, FAILED) }, 0, 0, 0 },
	{ "out of memory", { PEAK(8, 800, OOM_DEVICE) }, 0, 0, 0 },
	{ "two fits",
	  { PEAK(8, 280, FITS), PEAK(16, 360, FITS_BARELY) },
	  2,
	  200,
	  10 },
	{ "any order",
	  { PEAK(16, 360, FITS), PEAK(8, 280, FITS) },
	  2,
	  200,
	  10 },
	{ "the largest two of three",
	  { PEAK(1, 250, FITS), PEAK(8, 280, FITS), PEAK(16, 360, FITS) },
	  2,
	  200,
	  10 },
	{ "far apart, where nothing refutes that",
	  { PEAK(8, 400, FITS), PEAK(64, 420, FITS), PEAK(80, 472, FITS) },
	  2,
	  392,
	  1 },
	{ "of a bend that a misfit tells, the nearest two",
	  { PEAK(8, 400, FITS), PEAK(64, 420, FITS), PEAK(80, 500, FITS),
	    STOPPED(128, 700) },
	  2,
	  100,
	  5 },
	{ "over the budget, yet it ended",
	  { PEAK(8, 280, FITS), PEAK(16, 360, OVER_BUDGET) },
	  2,
	  200,
	  10 },
	{ "16 MiB apart are one",
	  { PEAK(8, 80, FITS), PEAK(16, 96, FITS) },
	  1,
	  0,
	  6 },
	{ "17 MiB apart are two",
	  { PEAK(8, 80, FITS), PEAK(25, 97, FITS) },
	  2,
	  72,
	  1 },
	{ "2% apart are one: the larger size counts",
	  { PEAK(8, 9900, FITS), PEAK(10, 10000, FITS) },
	  1,
	  0,
	  1000 },
	{ "the next far enough apart",
	  { PEAK(1, 9000, FITS), PEAK(10, 9900, FITS), PEAK(11, 10000, FITS) },
	  2,
	  8900,
	  100 },
	{ "two that are near are noise where one is further off",
	  { PEAK(8, 280, FITS), PEAK(30, 500, FITS), PEAK(32, 520, FITS),
	    PEAK(31, 503, FITS) },
	  2,
	  200,
	  10 },
	{ "a falling peak makes no line",
	  { PEAK(8, 1000, FITS), PEAK(16, 800, FITS) },
	  1,
	  0,
	  50 },
	{ "a larger size that took less may take as much",
	  { PEAK(2, 446, FITS), PEAK(4, 541, FITS), PEAK(7, 478, FITS) },
	  2,
	  408,
	  19 },
	{ "one size, two peaks",
	  { PEAK(8, 800, FITS), PEAK(8, 1600, FITS) },
	  1,
	  0,
	  200 },
};

static void lines_go_through_the_largest_peaks(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(fits); i++) {
		struct memory_line line =
			memory_line_fit(fits[i].trials, COUNT(fits[i].trials));

		if (line.points != fits[i].points ||
		    (uint64_t)line.fixed_bytes != fits[i].fixed_mib * MIB ||
		    (uint64_t)line.bytes_per_sample !=
			    fits[i].per_sample_mib * MIB)
			fail_msg("%s: %zu points, %.0f + %.0f", fits[i].name,
				 line.points, line.fixed_bytes,
				 line.bytes_per_sample);
	}
}

static void a_stopped_probe_is_no_point(void **state)
{
	struct trial trials[] = { PEAK(8, 280, FITS),
				  PEAK(16, 360, OVER_BUDGET) };

	(void)state;
	trials[1].peak_is_lower_bound = true;
	assert_int_equal(memory_line_fit(trials, 2).points, 1);
}

static void bytes_at_rest_make_a_line(void **state)
{
	static const struct {
		const char *name;
		struct trial trials[2];
		size_t points;
		uint64_t fixed_mib, per_sample_mib;
	} rows[] = {
		{ "none", { PEAK(8, 280, FITS) }, 0, 0, 0 },
		{ "a fit", { AT_REST(8, 280, 200, FITS) }, 2, 200, 10 },
		{ "the larger of two",
		  { AT_REST(8, 280, 200, FITS), AT_REST(16, 400, 240, FITS) },
		  2,
		  240,
		  10 },
		{ "of those that say it",
		  { AT_REST(8, 280, 200, FITS), PEAK(16, 400, FITS) },
		  2,
		  200,
		  10 },
		{ "all of the peak", { AT_REST(8, 280, 280, FITS) }, 0, 0, 0 },
		{ "three times what the forward pass left",
		  { PASS(8, 400, 200, 24, 0) },
		  2,
		  328,
		  9 },
		{ "what a pass took",
		  { PASS(8, 400, 200, 24, 160) },
		  2,
		  240,
		  20 },
		{ "unless that let a larger size fit",
		  { PASS(8, 400, 200, 24, 80), STOPPED(16, 550) },
		  2,
		  200,
		  25 },
		{ "out of memory",
		  { AT_REST(8, 280, 200, OOM_HOST) },
		  0,
		  0,
		  0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct memory_line line =
			memory_line_rest(rows[i].trials, COUNT(rows[i].trials));

		if (line.points != rows[i].points ||
		    (uint64_t)line.fixed_bytes != rows[i].fixed_mib * MIB ||
		    (uint64_t)line.bytes_per_sample !=
			    rows[i].per_sample_mib * MIB)
			fail_msg("%s: %zu points, %.0f + %.0f", rows[i].name,
				 line.points, line.fixed_bytes,
				 line.bytes_per_sample);
	}
}

static void lines_are_steeper_or_flatter(void **state)
{
	const struct trial two[] = { PEAK(8, 200, FITS), PEAK(16, 360, FITS) };
	const struct trial one = PEAK(8, 200, FITS);
	struct memory_line steep = memory_line_steep(two, 2);
	struct memory_line cautious = memory_line_cautious(two, 2);
	struct memory_line sloped = memory_line_sloped(&one, 1, 5 * MIB);

	(void)state;
	assert_int_equal((uint64_t)steep.bytes_per_sample, 22 * MIB);
	assert_int_equal((uint64_t)cautious.bytes_per_sample, 18 * MIB);
	assert_int_equal(memory_line_peak(&steep, 16), 360 * MIB);
	assert_int_equal(memory_line_steep(&one, 1).points, 0);
	assert_int_equal((uint64_t)sloped.fixed_bytes, 160 * MIB);
	assert_int_equal(memory_line_sloped(NULL, 0, 5).points, 0);
}

static void peaks_on_a_line_leave_little_doubt(void **state)
{
	static const struct {
		const char *name;
		struct trial trials[4];
		uint64_t doubt_mib;
	} rows[] = {
		{ "two are on any line",
		  { PEAK(8, 1800, FITS), PEAK(16, 2600, FITS) },
		  100 },
		{ "three",
		  { PEAK(1, 1100, FITS), PEAK(8, 1800, FITS),
		    PEAK(16, 2600, FITS) },
		  16 },
		{ "four times the distance",
		  { PEAK(1, 1110, FITS), PEAK(8, 1800, FITS),
		    PEAK(16, 2600, FITS) },
		  40 },
		{ "at most the noise",
		  { PEAK(1, 1130, FITS), PEAK(8, 1800, FITS),
		    PEAK(16, 2600, FITS) },
		  100 },
		{ "not of a bend",
		  { PEAK(1, 1500, FITS), PEAK(8, 1800, FITS),
		    PEAK(16, 2600, FITS) },
		  100 },
		{ "what is above it counts",
		  { PEAK(1, 1500, FITS), PEAK(8, 1800, FITS),
		    PEAK(12, 2200, FITS), PEAK(16, 2600, FITS) },
		  16 },
		{ "what was stopped is no peak",
		  { PEAK(8, 1800, FITS), PEAK(16, 2600, FITS),
		    STOPPED(24, 3400) },
		  100 },
	};
	static const struct memory_line line = { 2, 1000. * MIB, 100. * MIB };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t doubt =
			memory_line_doubt(&line, rows[i].trials,
					  COUNT(rows[i].trials), 100 * MIB);

		if (doubt != rows[i].doubt_mib * MIB)
			fail_msg("%s: %llu MiB", rows[i].name,
				 (unsigned long long)(doubt / MIB));
	}
}

static void lines_predict(void **state)
{
	static const struct {
		const char *name;
		struct memory_line line;
		int64_t micro;
		uint64_t peak;
		uint64_t limit;
		int64_t largest;
	} rows[] = {
		{ "unknown", { 0, 0, 0 }, 8, 0, 100, 0 },
		{ "exactly at the limit", { 2, 100, 10 }, 8, 180, 180, 8 },
		{ "a byte short", { 2, 100, 10 }, 8, 180, 179, 7 },
		{ "fixed at the limit", { 2, 100, 10 }, 1, 110, 100, 0 },
		{ "fixed above the limit", { 2, 100, 10 }, 0, 100, 50, 0 },
		{ "never negative", { 2, -100, 10 }, 8, 0, 100, 20 },
		{ "flat", { 2, 100, 0 }, 8, 100, 100, 0 },
		{ "thirds", { 2, 0, 1. / 3 }, 7, 2, 100, 301 },
		{ "rounded", { 2, 0, 0.6 }, 1, 1, 0, 0 },
		{ "vast", { 1, 0, 1e-3 }, 0, 0, UINT64_MAX, INT64_MAX },
		{ "vast peak", { 1, 0, 1e3 }, INT64_MAX, UINT64_MAX, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t peak = memory_line_peak(&rows[i].line, rows[i].micro);
		int64_t largest =
			memory_line_micro(&rows[i].line, rows[i].limit);

		if (peak != rows[i].peak || largest != rows[i].largest)
			fail_msg("%s: peak %llu, largest %lld", rows[i].name,
				 (unsigned long long)peak, (long long)largest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_go_through_the_largest_peaks),
		cmocka_unit_test(a_stopped_probe_is_no_point),
		cmocka_unit_test(bytes_at_rest_make_a_line),
		cmocka_unit_test(lines_are_steeper_or_flatter),
		cmocka_unit_test(peaks_on_a_line_leave_little_doubt),
		cmocka_unit_test(lines_predict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
