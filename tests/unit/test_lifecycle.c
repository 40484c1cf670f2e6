/* When a running probe goes on, is decided, or is stopped; and its peaks. */
/* SPDX-License-Identifier: MIT */
/* USES probes */
#include "probes/verdict/lifecycle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)

static const struct lifecycle_limits limits = {
	.limit_bytes = 1000 * MIB,
	.host_limit_bytes = 2000 * MIB,
	.noise = { 0.01, 8 * MIB, 0.02, 1, 0 },
	.steps_needed = 3,
	.startup_timeout_ms = 600000,
	.timeout_ms = 90000,
	.available_floor_bytes = 100 * MIB,
};

/* Peaks after each step, in MiB; 0 ends. */
struct row {
	const char *name;
	uint64_t peaks[12];
	struct lifecycle_facts facts;
	enum lifecycle_action action;
	enum stop_reason reason;
};

#define ENOUGH (100 * MIB)

static const struct row rows[] = {
	{ "starting",
	  { 0 },
	  { .available_bytes = ENOUGH, .memory_line_ms = -1 },
	  LIFECYCLE_GO_ON,
	  0 },
	{ "two steps",
	  { 500, 500 },
	  { .available_bytes = ENOUGH, .memory_line_ms = -1, .steps = 2 },
	  LIFECYCLE_GO_ON,
	  0 },
	{ "three stable steps",
	  { 500, 503, 505 },
	  { .available_bytes = ENOUGH, .memory_line_ms = -1, .steps = 3 },
	  LIFECYCLE_DECIDED,
	  0 },
	{ "it retried until the third",
	  { 500, 503, 505 },
	  { .available_bytes = ENOUGH,
	    .memory_line_ms = -1,
	    .steps = 3,
	    .retried_steps = 3 },
	  LIFECYCLE_GO_ON,
	  0 },
	{ "a step after it retried",
	  { 500, 503, 505, 505 },
	  { .available_bytes = ENOUGH,
	    .memory_line_ms = -1,
	    .steps = 4,
	    .retried_steps = 3 },
	  LIFECYCLE_DECIDED,
	  0 },
	{ "still growing",
	  { 500, 520, 540 },
	  { .available_bytes = ENOUGH, .memory_line_ms = -1, .steps = 3 },
	  LIFECYCLE_GO_ON,
	  0 },
	{ "growing for ten steps is judged as it stands",
	  { 500, 520, 540, 560, 580, 600, 620, 640, 660, 680 },
	  { .available_bytes = ENOUGH, .memory_line_ms = -1, .steps = 10 },
	  LIFECYCLE_DECIDED,
	  0 },
	{ "over the limit",
	  { 0 },
	  { .available_bytes = ENOUGH,
	    .memory_line_ms = -1,
	    .peak_bytes = 1001 * MIB },
	  LIFECYCLE_STOP,
	  STOP_OVER_LIMIT },
	{ "over the host's limit",
	  { 0 },
	  { .available_bytes = ENOUGH,
	    .memory_line_ms = -1,
	    .host_peak_bytes = 2001 * MIB },
	  LIFECYCLE_STOP,
	  STOP_OVER_HOST_LIMIT },
	{ "its last words",
	  { 500, 500, 500 },
	  { .available_bytes = ENOUGH,
	    .memory_line_ms = 5000,
	    .now_ms = 5100,
	    .steps = 3 },
	  LIFECYCLE_GO_ON,
	  0 },
	{ "out of memory, and it goes on",
	  { 0 },
	  { .available_bytes = ENOUGH,
	    .memory_line_ms = 5000,
	    .now_ms = 5000 + LAST_WORDS_MS },
	  LIFECYCLE_STOP,
	  STOP_SIGNATURE },
	{ "silent for the time-out",
	  { 0 },
	  { .available_bytes = ENOUGH,
	    .memory_line_ms = -1,
	    .now_ms = 700000,
	    .last_life_ms = 90000 },
	  LIFECYCLE_STOP,
	  STOP_STARTUP_TIMEOUT },
	{ "a slow start with signs of life",
	  { 0 },
	  { .available_bytes = ENOUGH,
	    .memory_line_ms = -1,
	    .now_ms = 700000,
	    .last_life_ms = 699000,
	    .steps_will_come = true },
	  LIFECYCLE_GO_ON,
	  0 },
	{ "slow steps",
	  { 500 },
	  { .available_bytes = ENOUGH,
	    .memory_line_ms = -1,
	    .now_ms = 90000,
	    .last_life_ms = 89000,
	    .steps = 1 },
	  LIFECYCLE_STOP,
	  STOP_TIMEOUT },
	{ "no step source, no growth for long enough",
	  { 0 },
	  { .available_bytes = ENOUGH,
	    .memory_line_ms = -1,
	    .now_ms = TIME_ONLY_MS,
	    .last_life_ms = TIME_ONLY_MS,
	    .peak_bytes = 500 * MIB,
	    .half_time_peak_bytes = 500 * MIB },
	  LIFECYCLE_DECIDED,
	  0 },
	{ "no step source, still growing",
	  { 0 },
	  { .available_bytes = ENOUGH,
	    .memory_line_ms = -1,
	    .now_ms = TIME_ONLY_MS,
	    .last_life_ms = TIME_ONLY_MS,
	    .peak_bytes = 600 * MIB,
	    .half_time_peak_bytes = 500 * MIB },
	  LIFECYCLE_GO_ON,
	  0 },
	{ "a neighbour came",
	  { 500, 500, 500 },
	  { .available_bytes = ENOUGH,
	    .memory_line_ms = -1,
	    .steps = 3,
	    .neighbour_moved = true },
	  LIFECYCLE_STOP,
	  STOP_NEIGHBOUR },
	{ "over the limit, but that may be the neighbour's",
	  { 0 },
	  { .available_bytes = ENOUGH,
	    .memory_line_ms = -1,
	    .peak_bytes = 1001 * MIB,
	    .neighbour_moved = true },
	  LIFECYCLE_STOP,
	  STOP_NEIGHBOUR },
	{ "the machine runs out of memory",
	  { 0 },
	  { .memory_line_ms = -1, .available_bytes = 100 * MIB - 1 },
	  LIFECYCLE_STOP,
	  STOP_MEMORY_TAKEN },
	{ "it does, by the probe itself",
	  { 0 },
	  { .memory_line_ms = -1,
	    .available_bytes = 1,
	    .host_peak_bytes = 2001 * MIB },
	  LIFECYCLE_STOP,
	  STOP_OVER_HOST_LIMIT },
	{ "scratch is full",
	  { 500, 500, 500 },
	  { .available_bytes = ENOUGH,
	    .memory_line_ms = -1,
	    .steps = 3,
	    .scratch_full = true },
	  LIFECYCLE_STOP,
	  STOP_SCRATCH_FULL },
	{ "a rank is gone: the others may end by themselves",
	  { 500, 500, 500 },
	  { .available_bytes = ENOUGH,
	    .memory_line_ms = -1,
	    .steps = 3,
	    .rank_lost_for_ms = LAST_WORDS_MS - 1 },
	  LIFECYCLE_GO_ON,
	  0 },
	{ "they wait for it",
	  { 500, 500, 500 },
	  { .available_bytes = ENOUGH,
	    .memory_line_ms = -1,
	    .steps = 3,
	    .rank_lost_for_ms = LAST_WORDS_MS },
	  LIFECYCLE_STOP,
	  STOP_RANK_LOST },
	{ "a hook will count its steps",
	  { 0 },
	  { .available_bytes = ENOUGH,
	    .memory_line_ms = -1,
	    .now_ms = TIME_ONLY_MS,
	    .last_life_ms = TIME_ONLY_MS,
	    .peak_bytes = 500 * MIB,
	    .half_time_peak_bytes = 500 * MIB,
	    .steps_will_come = true },
	  LIFECYCLE_GO_ON,
	  0 },
};

static void fill(struct step_peaks *peaks, const uint64_t *mib)
{
	memset(peaks, 0, sizeof(*peaks));
	for (int64_t i = 0; i < 12 && mib[i]; i++)
		step_peaks_note(peaks, i + 1, mib[i] * MIB, (i + 1) * 100);
}

static void every_row_is_decided(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct step_peaks peaks;
		struct lifecycle_step step;

		fill(&peaks, rows[i].peaks);
		step = lifecycle_next(&limits, &rows[i].facts, &peaks);
		if (step.action != rows[i].action ||
		    step.reason != rows[i].reason)
			fail_msg("%s: action %d reason %d", rows[i].name,
				 (int)step.action, (int)step.reason);
	}
}

static void a_time_out_that_was_asked_for_covers_the_start(void **state)
{
	const struct lifecycle_facts facts = {
		.available_bytes = ENOUGH,
		.memory_line_ms = -1,
		.now_ms = 90000,
		.last_life_ms = 89000,
		.steps_will_come = true,
	};
	struct lifecycle_limits asked = limits;

	(void)state;
	assert_int_equal(lifecycle_breach(&asked, &facts), STOP_NONE);
	asked.timeout_covers_start = true;
	assert_int_equal(lifecycle_breach(&asked, &facts), STOP_TIMEOUT);
}

static void peaks_are_told_apart(void **state)
{
	static const struct {
		const char *name;
		uint64_t mib[12];
		bool stable, rising, varying;
	} shapes[] = {
		{ "flat",
		  { 500, 510, 510, 510, 510, 510 },
		  true,
		  false,
		  false },
		{ "creeping",
		  { 500, 510, 511, 512, 513, 514 },
		  true,
		  false,
		  false },
		{ "rising",
		  { 500, 510, 515, 520, 526, 532 },
		  false,
		  true,
		  false },
		{ "a jump",
		  { 500, 510, 510, 510, 540, 540 },
		  false,
		  true,
		  true },
		{ "an early jump",
		  { 100, 500, 510, 510, 510, 510 },
		  true,
		  false,
		  false },
		{ "too few", { 500, 510 }, false, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		struct step_peaks peaks;

		fill(&peaks, shapes[i].mib);
		if (step_peaks_are_stable(&peaks, &limits.noise) !=
			    shapes[i].stable ||
		    step_peaks_are_rising(&peaks, &limits.noise) !=
			    shapes[i].rising ||
		    step_peaks_are_varying(&peaks, &limits.noise) !=
			    shapes[i].varying)
			fail_msg("%s", shapes[i].name);
	}
}

/* MiB at the start, at each step, and the trend in KiB. */
static void a_trend_is_told_from_noise(void **state)
{
	static const struct {
		const char *name;
		int64_t steps;
		uint64_t kib, jump_at, jump_kib, trend_kib;
	} shapes[] = {
		{ "steady", 40, 2048, 0, 0, 2048 },
		{ "too slow to tell", 40, 50, 0, 0, 0 },
		{ "too few steps", 18, 2048, 0, 0, 0 },
		{ "one jump", 40, 0, 12, 65536, 0 },
		{ "growth that ends", 40, 0, 5, 40960, 0 },
		{ "flat", 40, 0, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		struct step_peaks peaks = { .steps = 0 };
		uint64_t trend;

		for (int64_t k = 0; k < shapes[i].steps; k++) {
			uint64_t kib = UINT64_C(500) * 1024 +
				       (uint64_t)k * shapes[i].kib;

			if (shapes[i].jump_at &&
			    (uint64_t)k >= shapes[i].jump_at)
				kib += shapes[i].jump_kib;
			step_peaks_note(&peaks, k + 1, kib * 1024, k * 100);
		}
		trend = step_peaks_trend(&peaks, &limits.noise);
		if (trend != shapes[i].trend_kib * 1024)
			fail_msg("%s: %llu", shapes[i].name,
				 (unsigned long long)trend);
	}
}

/* MiB after each step; its rise by the end of so many steps more. */
static void growth_is_carried_on(void **state)
{
	static const struct {
		const char *name;
		uint64_t mib[12];
		int64_t steps;
		int64_t stands_after; /* 0: not known */
		bool would_rise;
	} shapes[] = {
		{ "flat",
		  { 400, 500, 510, 510, 510, 510, 510, 510 },
		  16,
		  3,
		  false },
		{ "flat from the second",
		  { 400, 500, 500, 500, 500, 500, 500, 500 },
		  64,
		  2,
		  false },
		{ "noise",
		  { 400, 500, 501, 501, 502, 502, 502, 502 },
		  16,
		  2,
		  false },
		{ "late growth that ended",
		  { 400, 500, 501, 520, 520, 520, 520, 520, 520 },
		  64,
		  4,
		  false },
		{ "a little each",
		  { 400, 500, 501, 502, 503, 503, 504, 504 },
		  16,
		  2,
		  true },
		{ "five of them are few",
		  { 400, 500, 500, 500, 500, 500, 500 },
		  4,
		  2,
		  true },
		{ "the third step", { 400, 500, 540 }, 4, 0, true },
		{ "too few", { 400, 500 }, 4, 0, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		struct step_peaks peaks;

		fill(&peaks, shapes[i].mib);
		if (step_peaks_stand_after(&peaks, &limits.noise) !=
			    shapes[i].stands_after ||
		    step_peaks_would_rise(&peaks, shapes[i].steps,
					  &limits.noise) !=
			    shapes[i].would_rise)
			fail_msg("%s", shapes[i].name);
	}
}

/* Preference training on texts of 30 to 80 words: the peaks of its probe, and
 * 50 MiB more in a hundred steps after that. */
static void the_longest_sample_so_far_is_no_trend(void **state)
{
	static const uint64_t mib[] = { 691, 763, 763, 763, 811, 888, 888,
					888, 888, 899, 899, 899, 944, 944,
					962, 962, 962, 962, 962, 962 };
	struct step_peaks peaks = { .steps = 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(mib) / sizeof(*mib); i++)
		step_peaks_note(&peaks, (int64_t)i + 1, mib[i] * MIB,
				(int64_t)i * 100);
	assert_int_equal(step_peaks_trend(&peaks, &limits.noise), 0);
	/* So many steps can show a trend. */
	for (size_t i = 0; i < sizeof(mib) / sizeof(*mib); i++)
		peaks.bytes[i] = (600 + 20 * i) * MIB;
	assert_int_equal(step_peaks_trend(&peaks, &limits.noise), 20 * MIB);
}

static void any_number_of_steps_is_taken(void **state)
{
	struct step_peaks peaks;

	(void)state;
	memset(&peaks, 0, sizeof(peaks));
	step_peaks_note(&peaks, INT64_C(3) * STEP_PEAKS_MAX, MIB, 20);
	assert_int_equal(peaks.steps, INT64_C(3) * STEP_PEAKS_MAX);
	assert_true(step_peaks_are_stable(&peaks, &limits.noise));
	step_peaks_note(&peaks, 5, MIB, 40);
	assert_int_equal(peaks.steps, INT64_C(3) * STEP_PEAKS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_decided),
		cmocka_unit_test(
			a_time_out_that_was_asked_for_covers_the_start),
		cmocka_unit_test(peaks_are_told_apart),
		cmocka_unit_test(a_trend_is_told_from_noise),
		cmocka_unit_test(the_longest_sample_so_far_is_no_trend),
		cmocka_unit_test(growth_is_carried_on),
		cmocka_unit_test(any_number_of_steps_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
