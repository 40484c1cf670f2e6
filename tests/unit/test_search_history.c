/* What is asked after which trials: one row for each rule of the search. */
/* SPDX-License-Identifier: MIT */
/* USES search base */
#include "search/search.h"

#include "base/trial.h"
#include "base/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

#define COMMON .exact_up_to = 64, .tolerance = 0.02, .limit_bytes = 100 * GIB
#define ANY_SIZE                                                               \
	.multiple_of = 1, .max_micro = 4096, .start = 8, .max_growth = 4
/* As the launcher asks without knowing the model. */
#define USUAL COMMON, ANY_SIZE
/* With a tolerance of 0. */
#define EXACT .limit_bytes = 100 * GIB, ANY_SIZE

#define FITS(micro, gib)                                                       \
	{                                                                      \
		.micro_batch = (micro), .verdict = VERDICT_FITS,               \
		.peak_bytes = (uint64_t)((gib) * (double)GIB)                  \
	}
#define RESTS(micro, gib, rest)                                                \
	{                                                                      \
		.micro_batch = (micro), .verdict = VERDICT_FITS,               \
		.peak_bytes = (uint64_t)((gib) * (double)GIB),                 \
		.rest_bytes = (uint64_t)((rest) * (double)GIB)                 \
	}
#define FORWARD(micro, gib, rest, forward)                                     \
	{                                                                      \
		.micro_batch = (micro), .verdict = VERDICT_FITS,               \
		.peak_bytes = (uint64_t)((gib) * (double)GIB),                 \
		.rest_bytes = (uint64_t)((rest) * (double)GIB),                \
		.forward_bytes = (uint64_t)((forward) * (double)GIB)           \
	}
#define PASS(micro, gib, rest, forward, pass)                                  \
	{                                                                      \
		.micro_batch = (micro), .verdict = VERDICT_FITS,               \
		.peak_bytes = (uint64_t)((gib) * (double)GIB),                 \
		.rest_bytes = (uint64_t)((rest) * (double)GIB),                \
		.forward_bytes = (uint64_t)((forward) * (double)GIB),          \
		.pass_bytes = (uint64_t)((pass) * (double)GIB)                 \
	}
/* Stopped at the limit. */
#define OVER(micro)                                                            \
	{                                                                      \
		.micro_batch = (micro), .verdict = VERDICT_OVER_BUDGET,        \
		.peak_bytes = 100 * GIB, .peak_is_lower_bound = true           \
	}
/* The same, after so many steps that stayed under it. */
#define LATE(micro, steps_made)                                                \
	{                                                                      \
		.micro_batch = (micro), .verdict = VERDICT_OVER_BUDGET,        \
		.peak_bytes = 100 * GIB, .peak_is_lower_bound = true,          \
		.steps = (steps_made)                                          \
	}
#define ENDED(micro, by)                                                       \
	{                                                                      \
		.micro_batch = (micro), .verdict = (by)                        \
	}

static const int64_t seven[] = { 1, 7 };
static const int64_t vast[] = { 1, INT64_MAX - 1, INT64_MAX };
#define ONE_OR_SEVEN                                                           \
	COMMON, .candidates = seven, .candidate_count = 2, .start = 1,         \
		.multiple_of = 1, .max_micro = 7

static const int64_t of_240[] = { 1,  2,  3,  4,  5,  6,  8,  10, 12,  15,
				  16, 20, 24, 30, 40, 48, 60, 80, 120, 240 };
#define OF_240                                                                 \
	COMMON, .candidates = of_240, .candidate_count = COUNT(of_240),        \
		.start = 8, .multiple_of = 1, .max_micro = 240

static const struct history {
	const char *name;
	struct search_problem problem;
	struct trial trials[9];
	struct search_answer answer;
} histories[] = {
	{ "nothing yet: the start",
	  { USUAL },
	  { { 0 } },
	  { SEARCH_PROBE, 8, 0, MISFIT_BY_NONE } },
	{ "failures prove nothing",
	  { USUAL },
	  { ENDED(8, VERDICT_FAILED), ENDED(8, VERDICT_DISTURBED) },
	  { SEARCH_PROBE, 8, 0, MISFIT_BY_NONE } },
	{ "an estimate",
	  { USUAL, .estimated_fixed_bytes = 20 * GIB,
	    .estimated_bytes_per_sample = GIB },
	  { { 0 } },
	  { SEARCH_PROBE, 65, 0, MISFIT_BY_NONE } },
	{ "an estimate above every size",
	  { USUAL, .estimated_bytes_per_sample = 1 },
	  { { 0 } },
	  { SEARCH_PROBE, 4096, 0, MISFIT_BY_NONE } },
	{ "an estimate below every size",
	  { USUAL, .estimated_fixed_bytes = 200 * GIB,
	    .estimated_bytes_per_sample = 1 },
	  { { 0 } },
	  { SEARCH_PROBE, 1, 0, MISFIT_BY_NONE } },
	{ "one fit corrects the estimate, whose slope stays",
	  { USUAL, .estimated_fixed_bytes = 20 * GIB,
	    .estimated_bytes_per_sample = GIB },
	  { FITS(40, 60.) },
	  { SEARCH_PROBE, 75, 0, MISFIT_BY_NONE } },
	{ "a fit far above the estimate",
	  { USUAL, .estimated_fixed_bytes = 4 * GIB,
	    .estimated_bytes_per_sample = 1 },
	  { FITS(8, 50.) },
	  { SEARCH_PROBE, 32, 0, MISFIT_BY_NONE } },
	{ "a fit far below it",
	  { USUAL, .estimated_fixed_bytes = 4 * GIB,
	    .estimated_bytes_per_sample = 40 * GIB },
	  { FITS(8, 40.) },
	  { SEARCH_PROBE, 20, 0, MISFIT_BY_NONE } },
	{ "one fit and its bytes at rest",
	  { USUAL },
	  { RESTS(8, 40., 20.) },
	  { SEARCH_PROBE, 32, 0, MISFIT_BY_NONE } },
	{ "bytes at rest promise more than 4 times, but not 16 times",
	  { USUAL },
	  { RESTS(2, 11., 10.) },
	  { SEARCH_PROBE, 32, 0, MISFIT_BY_NONE } },
	{ "bytes at rest above the peak are none",
	  { USUAL },
	  { RESTS(8, 50., 51.) },
	  { SEARCH_PROBE, 16, 0, MISFIT_BY_NONE } },
	{ "bytes at rest alone never end it",
	  { USUAL },
	  { RESTS(8, 90., 10.) },
	  { SEARCH_PROBE, 10, 0, MISFIT_BY_NONE } },
	{ "with an estimate they do",
	  { ONE_OR_SEVEN, .estimated_bytes_per_sample = 19 * GIB },
	  { RESTS(1, 30., 10.) },
	  { SEARCH_DONE, 1, 7, MISFIT_BY_PREDICTION } },
	{ "not where gradients may be all that is more",
	  { USUAL, .estimated_bytes_per_sample = 9 * GIB },
	  { RESTS(9, 97., 10.) },
	  { SEARCH_PROBE, 11, 0, MISFIT_BY_NONE } },
	{ "what the forward pass leaves ends it alone",
	  { ONE_OR_SEVEN },
	  { FORWARD(1, 30., 10., 14.) },
	  { SEARCH_DONE, 1, 7, MISFIT_BY_PREDICTION } },
	{ "or what a whole pass takes",
	  { ONE_OR_SEVEN },
	  { PASS(1, 30., 10., 4., 18.) },
	  { SEARCH_DONE, 1, 7, MISFIT_BY_PREDICTION } },
	{ "which a larger size may take less of",
	  { ONE_OR_SEVEN },
	  { PASS(1, 30., 10., 4., 14.5) },
	  { SEARCH_PROBE, 7, 0, MISFIT_BY_NONE } },
	{ "it says where the limit is met",
	  { USUAL },
	  { PASS(2, 60., 10., 1., 8.) },
	  { SEARCH_PROBE, 12, 0, MISFIT_BY_NONE } },
	{ "or says that more of the rise are no samples",
	  { USUAL },
	  { FORWARD(2, 60., 10., 1.) },
	  { SEARCH_PROBE, 28, 0, MISFIT_BY_NONE } },
	{ "not where the estimate says less",
	  { USUAL, .estimated_bytes_per_sample = 7 * GIB },
	  { RESTS(9, 97., 10.) },
	  { SEARCH_PROBE, 11, 0, MISFIT_BY_NONE } },
	{ "in a bracket they help",
	  { USUAL },
	  { OVER(64), RESTS(16, 60., 40.) },
	  { SEARCH_PROBE, 48, 64, MISFIT_BY_PROBE } },
	{ "one fit: through the origin, at most 4 times",
	  { USUAL },
	  { FITS(8, 20.) },
	  { SEARCH_PROBE, 32, 0, MISFIT_BY_NONE } },
	{ "one fit: through the origin",
	  { USUAL },
	  { FITS(8, 50.) },
	  { SEARCH_PROBE, 16, 0, MISFIT_BY_NONE } },
	{ "one fit near the limit: a little more",
	  { USUAL },
	  { FITS(8, 99.) },
	  { SEARCH_PROBE, 10, 0, MISFIT_BY_NONE } },
	{ "one fit without a peak: four times",
	  { USUAL },
	  { ENDED(8, VERDICT_FITS_BARELY) },
	  { SEARCH_PROBE, 32, 0, MISFIT_BY_NONE } },
	{ "two peaks within the noise: four times",
	  { USUAL },
	  { FITS(8, 90.), FITS(10, 90.5) },
	  { SEARCH_PROBE, 40, 0, MISFIT_BY_NONE } },
	{ "a line",
	  { USUAL },
	  { FITS(8, 60.), FITS(16, 68.) },
	  { SEARCH_PROBE, 48, 0, MISFIT_BY_NONE } },
	{ "a line that promises more than 4 times",
	  { USUAL },
	  { FITS(8, 20.), FITS(16, 28.) },
	  { SEARCH_PROBE, 88, 0, MISFIT_BY_NONE } },
	{ "a flat line: at most 16 times",
	  { USUAL },
	  { FITS(8, 20.), FITS(16, 20.5) },
	  { SEARCH_PROBE, 256, 0, MISFIT_BY_NONE } },
	{ "at the limit, where any size will do: the line decides",
	  { USUAL },
	  { FITS(16, 68.), FITS(48, 100.) },
	  { SEARCH_DONE, 48, 49, MISFIT_BY_PREDICTION } },
	{ "not where noise can hide more than a little",
	  { USUAL },
	  { FITS(40, 97.4), FITS(48, 99.8) },
	  { SEARCH_PROBE, 49, 0, MISFIT_BY_NONE } },
	{ "nor where the line leaves room",
	  { USUAL },
	  { FITS(16, 67.), FITS(48, 98.9) },
	  { SEARCH_PROBE, 49, 0, MISFIT_BY_NONE } },
	{ "at the limit, to be exact: the next decides",
	  { EXACT },
	  { FITS(16, 68.), FITS(48, 100.) },
	  { SEARCH_PROBE, 49, 0, MISFIT_BY_NONE } },
	{ "or three peaks on one line do",
	  { EXACT },
	  { FITS(8, 60.), FITS(16, 68.), FITS(48, 100.) },
	  { SEARCH_DONE, 48, 49, MISFIT_BY_PREDICTION } },
	{ "not where one is off it by a quarter of what is in doubt",
	  { EXACT },
	  { FITS(8, 60.3), FITS(16, 68.), FITS(48, 100.) },
	  { SEARCH_PROBE, 49, 0, MISFIT_BY_NONE } },
	{ "and not of those below a bend",
	  { EXACT },
	  { FITS(1, 60.), FITS(8, 60.), FITS(16, 68.), FITS(48, 100.) },
	  { SEARCH_DONE, 48, 49, MISFIT_BY_PREDICTION } },
	{ "at the limit, clearly",
	  { USUAL },
	  { FITS(8, 20.), FITS(16, 40.), FITS(40, 100.) },
	  { SEARCH_DONE, 40, 41, MISFIT_BY_PREDICTION } },
	{ "clear only if the noise is none",
	  { EXACT },
	  { FITS(1, 92.), FITS(2, 94.), FITS(3, 98.5) },
	  { SEARCH_PROBE, 4, 0, MISFIT_BY_NONE } },
	{ "a larger size that took less makes the line less steep",
	  { USUAL },
	  { FITS(1, 92.), FITS(2, 96.), FITS(3, 95.) },
	  { SEARCH_PROBE, 5, 0, MISFIT_BY_NONE } },
	{ "a line that calls the largest fit too large",
	  { USUAL },
	  { FITS(8, 70.),
	    FITS(16, 60.),
	    { .micro_batch = 24,
	      .verdict = VERDICT_OVER_BUDGET,
	      .peak_bytes = 200 * GIB } },
	  { SEARCH_PROBE, 17, 24, MISFIT_BY_PROBE } },
	{ "the line promised too much: by noise?",
	  { USUAL },
	  { FITS(16, 28.), FITS(64, 76.), OVER(88) },
	  { SEARCH_PROBE, 86, 88, MISFIT_BY_PROBE } },
	{ "by more than noise: the middle",
	  { USUAL },
	  { FITS(16, 28.), FITS(64, 76.), OVER(88), OVER(86) },
	  { SEARCH_PROBE, 75, 86, MISFIT_BY_PROBE } },
	{ "by steps that fitted first: any size may be the answer",
	  { USUAL },
	  { FITS(16, 50.), LATE(60, 3) },
	  { SEARCH_PROBE, 38, 60, MISFIT_BY_PROBE } },
	{ "one of a list on the line through the limit",
	  { OF_240 },
	  { FITS(16, 50.), LATE(60, 3) },
	  { SEARCH_PROBE, 48, 60, MISFIT_BY_PROBE } },
	{ "and where others make a line",
	  { OF_240 },
	  { FITS(16, 40.), FITS(24, 45.), LATE(80, 3) },
	  { SEARCH_PROBE, 60, 80, MISFIT_BY_PROBE } },
	{ "and where nothing fits, by what it held at rest",
	  { OF_240 },
	  { { .micro_batch = 48,
	      .verdict = VERDICT_OVER_BUDGET,
	      .peak_bytes = 92 * GIB,
	      .rest_bytes = 30 * GIB,
	      .limit_bytes = 91 * GIB,
	      .steps = 7 } },
	  { SEARCH_PROBE, 40, 48, MISFIT_BY_PROBE } },
	{ "but for that",
	  { OF_240 },
	  { LATE(48, 7) },
	  { SEARCH_PROBE, 12, 48, MISFIT_BY_PROBE } },
	{ "by one step: the optimizer may hold more after it",
	  { OF_240 },
	  { FITS(16, 50.), LATE(60, 1) },
	  { SEARCH_PROBE, 30, 60, MISFIT_BY_PROBE } },
	{ "a fit was taken back: as far below the limit as its peaks differed",
	  { USUAL, .spread_bytes = 10 * GIB },
	  { FITS(16, 28.), FITS(64, 76.), OVER(86) },
	  { SEARCH_PROBE, 78, 86, MISFIT_BY_PROBE } },
	{ "what is nearer to it is not asked",
	  { USUAL, .spread_bytes = 10 * GIB },
	  { FITS(16, 28.), FITS(64, 76.), OVER(86), FITS(78, 90.) },
	  { SEARCH_DONE, 78, 79, MISFIT_BY_PREDICTION } },
	{ "what is farther from it is",
	  { USUAL, .spread_bytes = 10 * GIB },
	  { FITS(16, 28.), FITS(64, 76.), OVER(86), FITS(74, 86.) },
	  { SEARCH_PROBE, 78, 86, MISFIT_BY_PROBE } },
	{ "again and again: no line",
	  { USUAL },
	  { FITS(16, 28.), FITS(64, 76.), OVER(100), OVER(98), OVER(96),
	    OVER(94), OVER(92), OVER(90), OVER(88) },
	  { SEARCH_PROBE, 76, 88, MISFIT_BY_PROBE } },
	{ "in a bracket through the origin",
	  { USUAL },
	  { FITS(16, 60.), OVER(32) },
	  { SEARCH_PROBE, 26, 32, MISFIT_BY_PROBE } },
	{ "in a bracket even close peaks help",
	  { USUAL },
	  { FITS(8, 98.), FITS(10, 98.5), OVER(20) },
	  { SEARCH_PROBE, 16, 20, MISFIT_BY_PROBE } },
	{ "too large: a quarter",
	  { USUAL },
	  { OVER(8) },
	  { SEARCH_PROBE, 2, 8, MISFIT_BY_PROBE } },
	{ "thrashing is too large",
	  { USUAL },
	  { ENDED(8, VERDICT_THRASHES) },
	  { SEARCH_PROBE, 2, 8, MISFIT_BY_PROBE } },
	{ "so is a timeout",
	  { USUAL },
	  { ENDED(8, VERDICT_TIMEOUT) },
	  { SEARCH_PROBE, 2, 8, MISFIT_BY_PROBE } },
	{ "too large by a known factor",
	  { USUAL },
	  { { .micro_batch = 8,
	      .verdict = VERDICT_OVER_BUDGET,
	      .peak_bytes = 400 * GIB } },
	  { SEARCH_PROBE, 2, 8, MISFIT_BY_PROBE } },
	{ "too large by a little",
	  { USUAL },
	  { { .micro_batch = 8,
	      .verdict = VERDICT_OVER_BUDGET,
	      .peak_bytes = 110 * GIB } },
	  { SEARCH_PROBE, 4, 8, MISFIT_BY_PROBE } },
	{ "nothing fits",
	  { USUAL },
	  { OVER(8), OVER(1) },
	  { SEARCH_NOTHING_FITS, 0, 1, MISFIT_BY_PROBE } },
	{ "a fit above a misfit is luck",
	  { USUAL },
	  { FITS(16, 50.), OVER(8) },
	  { SEARCH_PROBE, 4, 8, MISFIT_BY_PROBE } },
	{ "a confirmation that failed",
	  { USUAL },
	  { FITS(16, 50.), OVER(16) },
	  { SEARCH_PROBE, 8, 16, MISFIT_BY_PROBE } },
	{ "a misfit within the tolerance",
	  { USUAL },
	  { FITS(1000, 99.), OVER(1020) },
	  { SEARCH_DONE, 1000, 1020, MISFIT_BY_PROBE } },
	{ "a misfit beyond the tolerance",
	  { USUAL },
	  { FITS(1000, 99.), OVER(1021) },
	  { SEARCH_PROBE, 1020, 1021, MISFIT_BY_PROBE } },
	{ "a record bounds the question",
	  { USUAL, .recorded_misfit = 20 },
	  { FITS(8, 20.) },
	  { SEARCH_PROBE, 19, 0, MISFIT_BY_NONE } },
	{ "a record bounds the start",
	  { USUAL, .recorded_misfit = 5 },
	  { { 0 } },
	  { SEARCH_PROBE, 4, 0, MISFIT_BY_NONE } },
	{ "a record ends it",
	  { USUAL, .recorded_misfit = 20 },
	  { FITS(8, 20.), FITS(19, 40.) },
	  { SEARCH_DONE, 19, 20, MISFIT_BY_RECORD } },
	{ "a record refuted by a fit",
	  { USUAL, .recorded_misfit = 16 },
	  { FITS(8, 20.), FITS(16, 28.) },
	  { SEARCH_PROBE, 88, 0, MISFIT_BY_NONE } },
	{ "a record that leaves nothing",
	  { USUAL, .recorded_misfit = 1 },
	  { { 0 } },
	  { SEARCH_PROBE, 8, 0, MISFIT_BY_NONE } },
	{ "no more exact than asked",
	  { .multiple_of = 1,
	    .max_micro = 4096,
	    .exact_up_to = 100,
	    .tolerance = 0.02,
	    .limit_bytes = 100 * GIB },
	  { FITS(100, 99.), OVER(102) },
	  { SEARCH_DONE, 100, 102, MISFIT_BY_PROBE } },
	{ "as exact as asked",
	  { .multiple_of = 1,
	    .max_micro = 4096,
	    .exact_up_to = 101,
	    .tolerance = 0.02,
	    .limit_bytes = 100 * GIB },
	  { FITS(100, 99.), OVER(102) },
	  { SEARCH_PROBE, 101, 102, MISFIT_BY_PROBE } },
	{ "growth below the tolerance",
	  { COMMON, .multiple_of = 1, .max_micro = 4096, .max_growth = 1.01 },
	  { FITS(1000, 50.) },
	  { SEARCH_PROBE, 1010, 0, MISFIT_BY_NONE } },
	{ "the next candidate is out of reach",
	  { COMMON, .candidates = seven, .candidate_count = 2, .start = 1,
	    .max_growth = 4 },
	  { FITS(1, 20.) },
	  { SEARCH_DONE, 1, 0, MISFIT_BY_NONE } },
	{ "the largest number",
	  { COMMON, .multiple_of = 1, .max_micro = INT64_MAX, .max_growth = 4 },
	  { FITS(INT64_MAX / 2, 1.) },
	  { SEARCH_PROBE, INT64_MAX, 0, MISFIT_BY_NONE } },
	{ "the largest number fits",
	  { COMMON, .multiple_of = 1, .max_micro = INT64_MAX, .max_growth = 4 },
	  { FITS(INT64_MAX, 1.) },
	  { SEARCH_DONE, INT64_MAX, 0, MISFIT_BY_NONE } },
	{ "only the largest number",
	  { COMMON, .multiple_of = INT64_MAX, .max_micro = INT64_MAX,
	    .start = 1 },
	  { { 0 } },
	  { SEARCH_PROBE, INT64_MAX, 0, MISFIT_BY_NONE } },
	{ "a vast list",
	  { COMMON, .candidates = vast, .candidate_count = 3,
	    .start = INT64_MAX - 1 },
	  { FITS(INT64_MAX - 1, 1.) },
	  { SEARCH_PROBE, INT64_MAX, 0, MISFIT_BY_NONE } },
};

static void histories_lead_to_the_next_question(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(histories); i++) {
		const struct history *row = &histories[i];
		struct search_answer answer;
		size_t count = 0;

		while (count < COUNT(row->trials) &&
		       row->trials[count].micro_batch)
			count++;
		answer = search_next(search_strategies[0], &row->problem,
				     row->trials, count);
		if (answer.state != row->answer.state ||
		    answer.micro_batch != row->answer.micro_batch ||
		    answer.smallest_misfit != row->answer.smallest_misfit ||
		    answer.misfit_by != row->answer.misfit_by)
			fail_msg("%s: state %d, micro %lld, misfit %lld by %d",
				 row->name, (int)answer.state,
				 (long long)answer.micro_batch,
				 (long long)answer.smallest_misfit,
				 (int)answer.misfit_by);
	}
}

static void a_fit_that_would_end_is_known(void **state)
{
	static const struct {
		const char *name;
		struct trial trials[3];
		int64_t micro;
		int would_end;
	} rows[] = {
		{ "nothing known", { { 0 } }, 8, 0 },
		{ "the largest size", { { 0 } }, 4096, 1 },
		{ "below a misfit", { FITS(8, 80.), OVER(10) }, 9, 1 },
		{ "not just below", { FITS(8, 80.), OVER(12) }, 9, 0 },
		{ "above a misfit", { OVER(8) }, 16, 0 },
		{ "another one is the answer",
		  { FITS(8, 50.), OVER(9) },
		  16,
		  0 },
		{ "a fit is within the limit", { FITS(8, 50.) }, 20, 1 },
		{ "at the limit, clearly",
		  { FITS(8, 20.), FITS(16, 40.) },
		  40,
		  1 },
		{ "at the limit, barely",
		  { FITS(8, 60.6), FITS(16, 68.), FITS(32, 84.) },
		  48,
		  0 },
		{ "at the limit, with a third peak on the line",
		  { FITS(8, 60.), FITS(16, 68.) },
		  48,
		  1 },
		{ "short of the limit",
		  { FITS(8, 20.), FITS(16, 40.) },
		  20,
		  0 },
	};
	static struct trial many[300];
	static const struct search_problem problem = { EXACT };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t count = 0;

		while (count < COUNT(rows[i].trials) &&
		       rows[i].trials[count].micro_batch)
			count++;
		if (search_fit_would_end(search_strategies[0], &problem,
					 rows[i].trials, count,
					 rows[i].micro) != rows[i].would_end)
			fail_msg("%s", rows[i].name);
	}
	assert_int_equal(search_fit_would_end(search_strategies[0], &problem,
					      many, COUNT(many), 4096),
			 0);
}

#define EIGHTS .multiple_of = 8

static void candidates_are_found(void **state)
{
	static const struct {
		struct search_problem problem;
		int64_t micro, floor, ceiling;
	} rows[] = {
		{ { .multiple_of = 8, .max_micro = 20 }, 0, 0, 8 },
		{ { .multiple_of = 8, .max_micro = 20 }, INT64_MIN, 0, 8 },
		{ { .multiple_of = 8, .max_micro = 20 }, 8, 8, 8 },
		{ { .multiple_of = 8, .max_micro = 20 }, 9, 8, 16 },
		{ { .multiple_of = 8, .max_micro = 20 }, 17, 16, 0 },
		{ { .multiple_of = 8, .max_micro = 20 }, INT64_MAX, 16, 0 },
		{ { .multiple_of = 8, .max_micro = 7 }, 7, 0, 0 },
		{ { EIGHTS, .free_below = 8, .max_micro = 20 }, 0, 0, 1 },
		{ { EIGHTS, .free_below = 8, .max_micro = 20 }, 7, 7, 7 },
		{ { EIGHTS, .free_below = 8, .max_micro = 20 }, 9, 8, 16 },
		{ { EIGHTS, .free_below = 4, .max_micro = 20 }, 5, 3, 8 },
		{ { EIGHTS, .free_below = 8, .max_micro = 5 }, 6, 5, 0 },
		{ { EIGHTS, .free_below = 8, .max_micro = 5 }, 8, 5, 0 },
		{ { .candidates = seven, .candidate_count = 2 }, 0, 0, 1 },
		{ { .candidates = seven, .candidate_count = 2 }, 6, 1, 7 },
		{ { .candidates = seven, .candidate_count = 2 }, 7, 7, 7 },
		{ { .candidates = seven, .candidate_count = 2 }, 8, 7, 0 },
		{ { .candidates = seven, .candidate_count = 0 }, 8, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(problem_floor(&rows[i].problem, rows[i].micro),
				 rows[i].floor);
		assert_int_equal(
			problem_ceiling(&rows[i].problem, rows[i].micro),
			rows[i].ceiling);
	}
}

static void strategies_are_found_by_name(void **state)
{
	(void)state;
	for (size_t i = 0; search_strategies[i]; i++)
		assert_ptr_equal(
			search_strategy_find(search_strategies[i]->name),
			search_strategies[i]);
	assert_null(search_strategy_find("Guided"));
	assert_null(search_strategy_find(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(histories_lead_to_the_next_question),
		cmocka_unit_test(a_fit_that_would_end_is_known),
		cmocka_unit_test(candidates_are_found),
		cmocka_unit_test(strategies_are_found_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
