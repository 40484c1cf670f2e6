/* Verdicts that change after their probe, row by row. */
/* SPDX-License-Identifier: MIT */
/* USES probes */
#include "probes/verdict/rejudge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define CONFIRMED .steps_source = STEPS_HOOK, .confirmed_steps = 20

static const struct {
	const char *name;
	struct trial trial;
	struct trial_limits limits;
	enum verdict verdict;
	const char *why; /* words of it; NULL: nothing is said */
} rows[] = {
	{ "nothing became known",
	  { .verdict = VERDICT_FITS, .peak_bytes = 90, CONFIRMED },
	  { 0 },
	  VERDICT_FITS,
	  NULL },
	{ "over budget by another limit than the device's",
	  { .verdict = VERDICT_OVER_BUDGET, .peak_bytes = 50 },
	  { 0 },
	  VERDICT_OVER_BUDGET,
	  NULL },
	{ "a fit under the new limit",
	  { .verdict = VERDICT_FITS, .peak_bytes = 90 },
	  { .limit_bytes = 90 },
	  VERDICT_FITS,
	  NULL },
	{ "a fit over the new limit",
	  { .verdict = VERDICT_FITS_BARELY, .peak_bytes = 91 },
	  { .limit_bytes = 90 },
	  VERDICT_OVER_BUDGET,
	  NULL },
	{ "too large then, all of it was seen, and it fits now",
	  { .verdict = VERDICT_OVER_BUDGET, .peak_bytes = 80 },
	  { .limit_bytes = 90 },
	  VERDICT_FITS,
	  NULL },
	{ "stopped under a lower limit",
	  { .verdict = VERDICT_OVER_BUDGET,
	    .peak_bytes = 80,
	    .peak_is_lower_bound = true },
	  { .limit_bytes = 90 },
	  VERDICT_NONE,
	  NULL },
	{ "still too large",
	  { .verdict = VERDICT_OVER_BUDGET, .peak_bytes = 95 },
	  { .limit_bytes = 90 },
	  VERDICT_OVER_BUDGET,
	  NULL },
	{ "out of memory under any limit",
	  { .verdict = VERDICT_OOM_DEVICE, .peak_bytes = 80 },
	  { .limit_bytes = 90 },
	  VERDICT_OOM_DEVICE,
	  NULL },
	{ "rising, confirmed, over its own limit",
	  { .verdict = VERDICT_FITS,
	    .peak_bytes = 85,
	    .peak_rising = true,
	    CONFIRMED },
	  { .confirmed_limit_bytes = 80 },
	  VERDICT_OVER_BUDGET,
	  "twice the headroom" },
	{ "varying, confirmed, over its own limit",
	  { .verdict = VERDICT_FITS,
	    .peak_bytes = 85,
	    .peak_rising = true,
	    .peak_varying = true,
	    .steps_source = STEPS_EXIT },
	  { .confirmed_limit_bytes = 80 },
	  VERDICT_OVER_BUDGET,
	  "20% headroom" },
	{ "confirmed, just under its own limit",
	  { .verdict = VERDICT_FITS, .peak_bytes = 80, CONFIRMED },
	  { .confirmed_limit_bytes = 80 },
	  VERDICT_FITS,
	  NULL },
	{ "not confirmed yet",
	  { .verdict = VERDICT_FITS, .peak_bytes = 85, .peak_rising = true },
	  { .confirmed_limit_bytes = 80 },
	  VERDICT_FITS,
	  NULL },
	{ "the limit moves up, its own limit still holds",
	  { .verdict = VERDICT_OVER_BUDGET,
	    .peak_bytes = 85,
	    .peak_rising = true,
	    CONFIRMED },
	  { .limit_bytes = 90, .confirmed_limit_bytes = 80 },
	  VERDICT_OVER_BUDGET,
	  "twice the headroom" },
	{ "words alone, no evidence any more",
	  { .verdict = VERDICT_OOM_HOST },
	  { .words_count_no_more = true },
	  VERDICT_NONE,
	  NULL },
	{ "no words were behind it",
	  { .verdict = VERDICT_TOO_BIG },
	  { .words_count_no_more = true },
	  VERDICT_TOO_BIG,
	  NULL },
};

static void each_row_is_judged_anew(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct trial trial = rows[i].trial;
		const char *why = trial_rejudge(&trial, &rows[i].limits);

		if (trial.verdict != rows[i].verdict || !why != !rows[i].why ||
		    (why && !strstr(why, rows[i].why)))
			fail_msg("%s: %s, %s", rows[i].name,
				 verdict_name(trial.verdict),
				 why ? why : "nothing said");
	}
}

/* The last limit that it was held against is known, also where it fits. */
static void the_limit_is_kept(void **state)
{
	static const struct {
		struct trial trial;
		struct trial_limits limits;
		uint64_t limit_bytes;
	} cases[] = {
		{ { .verdict = VERDICT_FITS, .limit_bytes = 70 }, { 0 }, 70 },
		{ { .verdict = VERDICT_FITS, .limit_bytes = 70 },
		  { .limit_bytes = 90 },
		  90 },
		{ { .verdict = VERDICT_FITS, .limit_bytes = 90, CONFIRMED },
		  { .confirmed_limit_bytes = 80 },
		  80 },
		{ { .verdict = VERDICT_FITS, .limit_bytes = 90 },
		  { .confirmed_limit_bytes = 80 },
		  90 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct trial trial = cases[i].trial;

		(void)trial_rejudge(&trial, &cases[i].limits);
		assert_int_equal(trial.limit_bytes, cases[i].limit_bytes);
	}
}

/* Whatever changed, the same limits change nothing more. */
static void once_is_enough(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct trial trial = rows[i].trial;

		(void)trial_rejudge(&trial, &rows[i].limits);
		(void)trial_rejudge(&trial, &rows[i].limits);
		if (trial.verdict != rows[i].verdict)
			fail_msg("%s: %s", rows[i].name,
				 verdict_name(trial.verdict));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_row_is_judged_anew),
		cmocka_unit_test(the_limit_is_kept),
		cmocka_unit_test(once_is_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
