/* Every strategy finds the largest size that fits, in few questions. */
/* SPDX-License-Identifier: MIT */
/* USES search base */
#include "search/search.h"

#include "search/memory_line.h"

#include "base/trial.h"
#include "base/units.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))
#define QUESTIONS_MAX 64
#define LATE_SHARE 1.05

/* A make-believe command: what it needs at a size, and what is seen of it. */
struct command {
	double fixed, per_sample;
	double power;       /* of the size; 0 means 1, a straight line */
	double noise;       /* share of the peak, either way */
	bool is_unmeasured; /* no peaks at all */
	uint64_t random;
};

struct game {
	const struct search_strategy *strategy;
	const struct search_problem *problem;
	struct command command;
	struct trial trials[QUESTIONS_MAX];
	size_t count;
	struct search_answer answer;
};

/* Deterministic: a test that fails must fail again. */
static double noise_of(struct command *command)
{
	command->random = command->random * UINT64_C(6364136223846793005) +
			  UINT64_C(1442695040888963407);
	return 1 +
	       command->noise * ((double)(command->random >> 11) / 0x1p52 - 1);
}

static struct trial run_probe(struct game *game, int64_t micro)
{
	struct command *command = &game->command;
	uint64_t limit = game->problem->limit_bytes;
	struct trial trial = { .micro_batch = micro, .verdict = VERDICT_FITS };
	double power = command->power > 0 ? command->power : 1;
	double peak = command->fixed +
		      command->per_sample * pow((double)micro, power);

	peak *= noise_of(command);

	trial.peak_bytes = (uint64_t)peak;
	if (peak > (double)limit) {
		trial.verdict = VERDICT_OVER_BUDGET;
		trial.peak_bytes = limit;
		trial.peak_is_lower_bound = true;
		/* It grows from step to step. */
		trial.steps = peak < LATE_SHARE * (double)limit ? 3 : 0;
	}
	if (command->is_unmeasured)
		trial.peak_bytes = 0;
	return trial;
}

static void check_question(const struct game *game, int64_t micro)
{
	double growth = game->problem->max_growth;
	struct memory_line steep = memory_line_steep(game->trials, game->count);
	int64_t promised = memory_line_micro(
		&steep, game->problem->limit_bytes / 10 * 11 + 10);
	int64_t largest = 0;

	assert_true(micro > 0);
	assert_int_equal(problem_floor(game->problem, micro), micro);
	for (size_t i = 0; i < game->count; i++) {
		const struct trial *trial = &game->trials[i];

		assert_int_not_equal(trial->micro_batch, micro);
		if (trial_fits(trial) && trial->micro_batch > largest)
			largest = trial->micro_batch;
	}
	if (!largest || growth <= 0)
		return;
	/* Farther only where the peaks, at their steepest, promise it. */
	assert_true((double)micro <= growth * (double)largest ||
		    micro <= promised);
	assert_true((double)micro <= growth * growth * (double)largest);
}

/* The answer ran, fitted, and lies below everything that did not. */
static void check_answer(const struct game *game)
{
	const struct search_answer *answer = &game->answer;
	bool has_fitted = answer->micro_batch == 0;
	bool has_misfit = answer->misfit_by != MISFIT_BY_PROBE;

	assert_int_equal(answer->state == SEARCH_DONE,
			 answer->micro_batch != 0);
	for (size_t i = 0; i < game->count; i++) {
		const struct trial *trial = &game->trials[i];

		if (trial->micro_batch == answer->micro_batch)
			has_fitted = trial_fits(trial);
		if (!trial_is_misfit(trial))
			continue;
		assert_true(trial->micro_batch > answer->micro_batch);
		if (trial->micro_batch == answer->smallest_misfit)
			has_misfit = true;
	}
	assert_true(has_fitted);
	assert_true(has_misfit);
	if (answer->misfit_by != MISFIT_BY_NONE)
		assert_true(answer->smallest_misfit > answer->micro_batch);
}

static void play(struct game *game)
{
	for (game->count = 0; game->count < QUESTIONS_MAX; game->count++) {
		game->answer = search_next(game->strategy, game->problem,
					   game->trials, game->count);
		if (game->answer.state != SEARCH_PROBE)
			break;
		check_question(game, game->answer.micro_batch);
		game->trials[game->count] =
			run_probe(game, game->answer.micro_batch);
	}
	assert_true(game->count < QUESTIONS_MAX);
	check_answer(game);
}

/* Exact in a list and up to exact_up_to, else within the tolerance below. */
static void check_is_right(const struct game *game, int64_t largest)
{
	const struct search_problem *problem = game->problem;
	int64_t wanted = problem_floor(problem, largest);
	int64_t micro = game->answer.micro_batch;

	if (problem->candidates || wanted <= problem->exact_up_to) {
		assert_int_equal(micro, wanted);
		return;
	}
	assert_in_range(micro, problem->exact_up_to, wanted);
	assert_true((double)wanted <= (double)micro * (1 + problem->tolerance));
}

static const int64_t powers[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512 };
static const int64_t of_360[] = { 1,  2,  3,  4,  5,  6,   8,   9,
				  10, 12, 15, 18, 20, 24,  30,  36,
				  40, 45, 60, 72, 90, 120, 180, 360 };
static const int64_t of_49[] = { 7, 21, 49 };
static const int64_t one[] = { 32 };

/* The sizes that may be tried; each strategy is played on all of them. */
static const struct search_problem oracle_problems[] = {
	{ .multiple_of = 1,
	  .max_micro = 512,
	  .exact_up_to = 64,
	  .tolerance = 0.02 },
	{ .multiple_of = 1, .max_micro = 512, .exact_up_to = 512 },
	{ .multiple_of = 8,
	  .max_micro = 509,
	  .exact_up_to = 64,
	  .tolerance = 0.02 },
	{ .multiple_of = 600, .max_micro = 512 },
	{ .candidates = powers, .candidate_count = COUNT(powers) },
	{ .candidates = of_360, .candidate_count = COUNT(of_360) },
	{ .candidates = of_49, .candidate_count = COUNT(of_49) },
	{ .candidates = one, .candidate_count = 1 },
	{ .candidates = one, .candidate_count = 0 },
};

static void play_limits(struct game *game, struct search_problem *problem,
			size_t bound)
{
	for (int64_t size = 0; size <= 512; size++) {
		problem->limit_bytes = (uint64_t)size * GIB + GIB / 2;
		game->problem = problem;
		play(game);
		check_is_right(game, size);
		assert_true(game->count <= bound);
	}
}

static void play_problems(struct game *game, size_t bound)
{
	static const int64_t starts[] = { 0, 1, 3, 8, 100, 512, 100000 };
	static const double growths[] = { 0, 4 };

	for (size_t i = 0; i < COUNT(oracle_problems); i++) {
		for (size_t j = 0; j < COUNT(starts) * COUNT(growths); j++) {
			struct search_problem problem = oracle_problems[i];

			problem.start = starts[j / COUNT(growths)];
			problem.max_growth = growths[j % COUNT(growths)];
			play_limits(game, &problem, bound);
		}
	}
}

/* A strategy of the table without a row here fails: state its bounds. */
static void every_strategy_finds_every_limit(void **state)
{
	static const struct {
		const char *name;
		size_t bound, measured_bound;
	} rows[] = {
		{ "guided", 18, 11 },
		{ "bisect", 18, 18 },
	};

	(void)state;
	for (size_t i = 0; search_strategies[i]; i++) {
		struct game game = { .strategy = search_strategies[i] };

		assert_true(i < COUNT(rows));
		assert_string_equal(rows[i].name, game.strategy->name);
		game.command = (struct command){ .per_sample = (double)GIB };
		play_problems(&game, rows[i].measured_bound);
		game.command.is_unmeasured = true;
		play_problems(&game, rows[i].bound);
	}
}

/* As the launcher asks without knowing the model. */
static const struct search_problem usual = {
	.multiple_of = 1,
	.max_micro = 4096,
	.exact_up_to = 64,
	.tolerance = 0.02,
	.start = 8,
	.max_growth = 4,
};

/* The limit at which exactly `largest` fits, of which `share` is fixed. */
static void set_limit(struct game *game, struct search_problem *problem,
		      int64_t largest, double share)
{
	struct command *command = &game->command;
	double power = command->power > 0 ? command->power : 1;
	double moving = command->per_sample * pow((double)largest + 0.5, power);

	command->fixed = moving * share / (1 - share);
	problem->limit_bytes = (uint64_t)(command->fixed + moving);
	game->problem = problem;
}

/* Whether four times the start stands out of the noise of the peaks. */
static bool is_telling(const struct game *game)
{
	double rise =
		game->command.per_sample * 3 * (double)game->problem->start;

	return rise > (double)MEMORY_LINE_NOISE_BYTES &&
	       rise > MEMORY_LINE_NOISE_SHARE *
			       (double)game->problem->limit_bytes;
}

/*
 * Where the peaks tell a line, seven questions are enough. Where they stay
 * within the noise each question may only double: ten from 8 to 4096.
 */
static void straight_peaks_need_few_questions(void **state)
{
	static const double shares[] = { 0,   0.1, 0.2, 0.3,  0.4,
					 0.5, 0.6, 0.7, 0.85, 0.95 };
	struct search_problem problem = usual;
	size_t worst[2] = { 0, 0 };

	(void)state;
	for (uint64_t bytes = 64 * KIB; bytes < 4 * GIB;
	     bytes += bytes / 10 * 7) {
		for (int64_t size = 1; size < 6000; size += 1 + size / 9) {
			for (size_t i = 0; i < COUNT(shares); i++) {
				struct game game = {
					.strategy = search_strategies[0],
					.command.per_sample = (double)bytes,
				};
				size_t *most;

				set_limit(&game, &problem, size, shares[i]);
				most = &worst[is_telling(&game)];
				play(&game);
				check_is_right(&game, size);
				if (game.count > *most)
					*most = game.count;
			}
		}
	}
	assert_in_range(worst[1], 1, 7);
	assert_in_range(worst[0], 1, 12);
}

/* The splits of effective batches up to 512, from the user's own 8. */
static void exact_splits_need_few_questions(void **state)
{
	static const struct {
		int64_t answer;
		size_t bound;
	} rows[] = { { 4, 4 }, { 8, 2 }, { 32, 4 }, { 128, 5 }, { 512, 6 } };
	static const double shares[] = { 0, 0.1, 0.3, 0.5, 0.7, 0.8 };
	struct search_problem problem = { .candidates = powers,
					  .candidate_count = COUNT(powers),
					  .start = 8,
					  .max_growth = 4 };

	(void)state;
	for (int64_t size = 0; size <= 512; size++) {
		for (size_t i = 0; i < COUNT(shares); i++) {
			struct game game = {
				.strategy = search_strategies[0],
				.command.per_sample = (double)GIB,
			};
			size_t row = 0;

			set_limit(&game, &problem, size, shares[i]);
			play(&game);
			check_is_right(&game, size);
			while (game.answer.micro_batch > rows[row].answer)
				row++;
			assert_true(game.count <= rows[row].bound);
		}
	}
}

static const struct crooked {
	const char *name;
	double power, noise;
	double least; /* of the true size */
	size_t bound;
} crooked_rows[] = {
	{ "noise as assumed", 1, 0.01, 0.85, 16 },
	{ "noise above that", 1, 0.03, 0.7, 18 },
	{ "no order at all", 1, 0.9, 0, 20 },
	{ "quadratic", 2, 0, 0.97, 16 },
	{ "root", 0.5, 0, 0.97, 16 },
};

static void play_crooked(const struct search_strategy *strategy,
			 const struct crooked *row, uint64_t seed)
{
	struct search_problem problem = usual;
	int64_t size = (int64_t)(seed * seed % 997) + 1;
	struct game game = {
		.strategy = strategy,
		.command = { .per_sample = (double)GIB,
			     .power = row->power,
			     .noise = row->noise,
			     .random = seed * UINT64_C(0x9e3779b97f4a7c15) },
	};

	set_limit(&game, &problem, size, (double)(seed % 10) / 10);
	play(&game);
	if ((double)game.answer.micro_batch < floor(row->least * (double)size))
		fail_msg("%s by %s: far below %d", row->name, strategy->name,
			 (int)size);
	if (game.count > row->bound)
		fail_msg("%s by %s: %zu questions", row->name, strategy->name,
			 game.count);
}

/* Peaks that lie on no line: slower, still right about what was run. */
static void crooked_peaks_still_end(void **state)
{
	(void)state;
	for (size_t i = 0; search_strategies[i]; i++)
		for (size_t j = 0; j < COUNT(crooked_rows); j++)
			for (uint64_t seed = 0; seed < 2000; seed++)
				play_crooked(search_strategies[i],
					     &crooked_rows[j], seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_strategy_finds_every_limit),
		cmocka_unit_test(straight_peaks_need_few_questions),
		cmocka_unit_test(exact_splits_need_few_questions),
		cmocka_unit_test(crooked_peaks_still_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
