/* The plan of a tuning, played against an oracle of memory. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/tuning/plan/plan.h"

#include "launcher/tuning/plan/plan_view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)

struct world {
	uint64_t fixed_mib, mib_per_sample, limit_mib;
	int64_t growth_percent; /* of the peak while it is confirmed */
	/* Trains as many samples a second as its size up to this, above it a
	 * fifth fewer than there; 0: steps are not timed. */
	int64_t knee;
};

/* Its steps are those that a log counts. */
#define STEPS_OF_LOG (-1)

/* Answers one question of the plan as a session would. */
static struct trial run(const struct plan *plan, const struct world *world,
			const struct plan_step *step,
			const struct trial *before, size_t count)
{
	uint64_t mib = world->fixed_mib +
		       world->mib_per_sample * (uint64_t)step->micro_batch;
	struct trial trial = {
		.micro_batch = step->micro_batch,
		.grad_accum = step->probe_accum,
		.peak_bytes = mib * MIB,
		.steps = 3,
		.steps_source = world->knee < 0 ? STEPS_LOG : STEPS_HOOK,
	};

	if (world->knee > 0)
		trial.step_seconds = (double)step->micro_batch *
				     (double)step->probe_accum /
				     (step->micro_batch > world->knee
					      ? 0.8 * (double)world->knee
					      : (double)step->micro_batch);
	trial.verdict =
		mib <= world->limit_mib ? VERDICT_FITS : VERDICT_OVER_BUDGET;
	if (trial.verdict == VERDICT_OVER_BUDGET) {
		trial.peak_bytes = (world->limit_mib + 1) * MIB;
		trial.peak_is_lower_bound = true;
		return trial;
	}
	if (!step->is_confirmation &&
	    !plan_wants_confirmed(plan, before, count, &trial))
		return trial;
	trial.confirmed_steps = 20;
	trial.peak_bytes +=
		trial.peak_bytes / 100 * (uint64_t)world->growth_percent;
	if (trial.peak_bytes > world->limit_mib * MIB)
		trial.verdict = VERDICT_OVER_BUDGET;
	return trial;
}

struct played {
	struct plan_step last;
	size_t probes;
	bool confirmed; /* the recommended size, with its accumulation */
};

/* Sizes that are no multiple fail before any step, and not by memory. */
static struct played play_multiples(const struct plan *plan,
				    const struct world *world, int64_t multiple)
{
	struct trial trials[SEARCH_TRIALS_MAX];
	struct played played = { .probes = 0 };

	for (;;) {
		struct trial *trial = &trials[played.probes];

		played.last = plan_next(plan, trials, played.probes);
		if (played.last.action != PLAN_PROBE)
			break;
		assert_true(played.probes < 40);
		*trial = run(plan, world, &played.last, trials, played.probes);
		played.probes++;
		if (trial->micro_batch % multiple == 0)
			continue;
		trial->verdict = VERDICT_TOO_BIG;
		trial->steps = 0;
	}
	for (size_t i = 0; i < played.probes; i++)
		if (trials[i].micro_batch == played.last.micro_batch &&
		    trial_fits(&trials[i]) && trial_is_confirmed(&trials[i]) &&
		    trials[i].grad_accum == played.last.final_accum)
			played.confirmed = true;
	return played;
}

static struct played play(const struct plan *plan, const struct world *world)
{
	return play_multiples(plan, world, 1);
}

static struct plan plan_of(enum plan_mode mode, int64_t effective,
			   int64_t ranks, bool has_accumulation, int64_t start)
{
	struct plan plan = {
		.mode = mode,
		.strategy = search_strategies[0],
		.asked.effective_batch = effective,
		.asked.world_size = ranks,
		.has_accumulation = has_accumulation,
		.problem = { .multiple_of = 1,
			     .max_micro = 4096,
			     .exact_up_to = 64,
			     .tolerance = 0.02,
			     .start = start,
			     .max_growth = 4 },
	};

	return plan;
}

static struct plan with_limit(struct plan plan, const struct world *world)
{
	plan.problem.limit_bytes = world->limit_mib * MIB;
	return plan;
}

static void a_program_that_takes_multiples_of_its_size(void **state)
{
	struct {
		enum plan_mode mode;
		int64_t own, multiple;
		uint64_t limit_mib;
		int64_t micro;
		size_t probes_max;
	} rows[] = {
		{ PLAN_KEEP, 6, 6, 360, 24, 5 },
		{ PLAN_KEEP, 6, 3, 360, 24, 5 },
		{ PLAN_KEEP, 6, 6, 330, 12, 6 },
		{ PLAN_KEEP, 6, 6, 450, 48, 6 },
		{ PLAN_GROW, 6, 6, 360, 30, 7 },
		{ PLAN_KEEP, 6, 1, 360, 24, 6 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct world world = { .fixed_mib = 300,
				       .mib_per_sample = 2,
				       .limit_mib = rows[i].limit_mib };
		struct plan plan = with_limit(
			plan_of(rows[i].mode, 96, 1, true, rows[i].own),
			&world);
		struct played played;

		plan.own_micro = rows[i].own;
		plan.problem.max_growth = 16;
		played = play_multiples(&plan, &world, rows[i].multiple);
		if (played.last.action != PLAN_DONE || !played.confirmed ||
		    played.last.micro_batch != rows[i].micro ||
		    played.probes > rows[i].probes_max)
			fail_msg("row %zu: micro %lld after %zu probes", i,
				 (long long)played.last.micro_batch,
				 played.probes);
	}
}

/* What a data loader gives of a size that is larger than its data set. */
static struct trial with_data(struct trial trial, int64_t rows, int64_t each)
{
	trial.loader_rows = trial.micro_batch < rows ? trial.micro_batch : rows;
	trial.input_rows = each * trial.loader_rows;
	if (trial.micro_batch > rows)
		trial.verdict = VERDICT_TOO_BIG;
	return trial;
}

/* The hook may have seen how many the loader has. */
static void a_data_set_is_tried_whole(void **state)
{
	static const struct {
		enum plan_mode mode;
		int64_t effective, rows, each, micro;
		size_t probes_max;
		bool is_told;
	} rows[] = {
		{ PLAN_GROW, 8, 100, 1, 100, 3, true },
		{ PLAN_LARGEST, 0, 100, 1, 100, 3, true },
		{ PLAN_GROW, 8, 4000, 1, 512, 4, true },
		{ PLAN_KEEP, 256, 100, 2, 64, 3, true },
		{ PLAN_GROW, 8, 100, 1, 100, 4, false },
		{ PLAN_LARGEST, 0, 100, 1, 100, 4, false },
		{ PLAN_GROW, 8, 4000, 1, 512, 4, false },
		{ PLAN_KEEP, 256, 100, 1, 64, 4, false },
		{ PLAN_GROW, 8, 100, 2, 100, 4, false },
		{ PLAN_KEEP, 256, 100, 2, 64, 4, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct world world = { 300, 1, 812, 0, 0 };
		struct plan plan =
			with_limit(plan_of(rows[i].mode, rows[i].effective, 1,
					   rows[i].mode == PLAN_KEEP, 8),
				   &world);
		struct trial trials[SEARCH_TRIALS_MAX];
		struct plan_step step;
		size_t count = 0;

		plan.own_micro = 8;
		plan.problem.max_growth = 16;
		while ((step = plan_next(&plan, trials, count)).action ==
		       PLAN_PROBE) {
			assert_true(count < SEARCH_TRIALS_MAX);
			trials[count] = with_data(
				run(&plan, &world, &step, trials, count),
				rows[i].rows, rows[i].each);
			if (rows[i].is_told)
				trials[count].data_rows = rows[i].rows;
			count++;
		}
		if (step.action != PLAN_DONE ||
		    step.micro_batch != rows[i].micro ||
		    count > rows[i].probes_max)
			fail_msg("row %zu: micro %lld after %zu probes", i,
				 (long long)step.micro_batch, count);
	}
}

static void the_effective_batch_is_kept_exactly(void **state)
{
	static const struct {
		const char *name;
		struct world world;
		int64_t effective, ranks, start, micro, accum;
		size_t probes_max;
	} rows[] = {
		/* name, what it takes, effective, ranks, start: micro, accum */
		{ "powers", { 400, 20, 1100, 0, 0 }, 128, 1, 8, 32, 4, 4 },
		{ "all of it", { 400, 1, 1100, 0, 0 }, 128, 1, 8, 128, 1, 5 },
		{ "two ranks", { 400, 20, 1100, 0, 0 }, 128, 2, 8, 32, 2, 4 },
		{ "three ranks", { 400, 20, 1100, 0, 0 }, 96, 3, 8, 32, 1, 4 },
		{ "a prime", { 400, 20, 1100, 0, 0 }, 127, 1, 1, 1, 127, 3 },
		{ "prime, fits", { 100, 4, 500, 0, 0 }, 97, 1, 1, 97, 1, 5 },
		{ "half of it", { 100, 20, 500, 0, 0 }, 34, 1, 2, 17, 2, 4 },
		{ "only one", { 400, 650, 1100, 0, 0 }, 128, 1, 8, 1, 128, 5 },
		{ "growing", { 400, 20, 1045, 3, 0 }, 128, 1, 8, 16, 8, 5 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct plan plan =
			with_limit(plan_of(PLAN_KEEP, rows[i].effective,
					   rows[i].ranks, true, rows[i].start),
				   &rows[i].world);
		struct played played = play(&plan, &rows[i].world);

		if (played.last.action != PLAN_DONE ||
		    played.last.micro_batch != rows[i].micro ||
		    played.last.final_accum != rows[i].accum ||
		    !played.confirmed || played.probes > rows[i].probes_max)
			fail_msg("%s: micro %ld accum %ld, %zu probes, "
				 "confirmed %d",
				 rows[i].name, (long)played.last.micro_batch,
				 (long)played.last.final_accum, played.probes,
				 played.confirmed);
	}
}

/* Short probes fit and longer ones do not: only confirmed fits are believed,
 * and no size above one that failed late is offered. */
static void what_fails_late_is_not_believed(void **state)
{
	/* Three steps take 400 + 4 a sample, the tenth takes four times that
	 * much a sample. */
	const struct world short_probes = { 400, 4, 1000, 0, 0 };
	struct plan plan =
		with_limit(plan_of(PLAN_GROW, 8, 1, true, 8), &short_probes);
	struct trial trials[SEARCH_TRIALS_MAX] = { { 0 } };
	struct plan_step step;
	size_t count = 0;

	(void)state;
	for (step = plan_next(&plan, trials, 0); step.action == PLAN_PROBE;
	     step = plan_next(&plan, trials, count)) {
		struct trial *trial = &trials[count];

		assert_true(count < 30);
		*trial = run(&plan, &short_probes, &step, trials, count);
		count++;
		if (!trial_fits(trial) || !trial_is_confirmed(trial))
			continue;
		trial->peak_bytes =
			(400 + 16 * (uint64_t)trial->micro_batch) * MIB;
		trial->steps = 20;
		if (trial->peak_bytes <= 1000 * MIB)
			continue;
		trial->verdict = VERDICT_OOM_HOST;
		trial->confirmed_steps = 0;
		trial->steps = 9;
		trial->peak_is_lower_bound = true;
	}
	assert_int_equal(step.action, PLAN_DONE);
	assert_int_equal(step.micro_batch, 37);
	assert_true(plan_doubts_short_fits(trials, count));
}

/*
 * A size fits, and does not when it runs again. As far below the limit as its
 * peaks differ the next is asked; once that is confirmed, what is nearer to the
 * limit is not asked for a percent or two more. The peaks are those of a
 * transformer with loader workers on a CPU.
 */
static void where_a_fit_is_taken_back_it_ends(void **state)
{
	static const struct {
		int64_t micro;
		uint64_t mib;
		int64_t steps, confirmed;
	} ran[] = {
		{ 16, 253, 10, 10 }, { 80, 510, 8, 8 },  { 111, 661, 1, 0 },
		{ 107, 599, 4, 0 },  { 109, 641, 7, 0 }, { 107, 643, 2, 0 },
		{ 100, 600, 8, 8 },
	};
	const struct world world = { 190, 4, 636, 0, 0 };
	struct plan plan =
		with_limit(plan_of(PLAN_GROW, 16, 1, false, 16), &world);
	struct trial trials[sizeof(ran) / sizeof(*ran)] = { { 0 } };
	size_t count = sizeof(ran) / sizeof(*ran);
	struct plan_step step;
	struct trial running;

	(void)state;
	for (size_t i = 0; i < count; i++)
		trials[i] = (struct trial){
			.micro_batch = ran[i].micro,
			.grad_accum = 1,
			.verdict = ran[i].mib > 636 ? VERDICT_OVER_BUDGET
						    : VERDICT_FITS,
			.peak_bytes = ran[i].mib * MIB,
			.peak_is_lower_bound = ran[i].mib > 636,
			.steps = ran[i].steps,
			.steps_source = STEPS_HOOK,
			.confirmed_steps = ran[i].confirmed,
		};
	step = plan_next(&plan, trials, count - 1);
	assert_int_equal(step.action, PLAN_PROBE);
	assert_int_equal(step.micro_batch, 100);
	running = trials[count - 1];
	running.confirmed_steps = 0;
	assert_true(plan_wants_confirmed(&plan, trials, count - 1, &running));
	step = plan_next(&plan, trials, count);
	assert_int_equal(step.action, PLAN_DONE);
	assert_int_equal(step.micro_batch, 100);
}

/*
 * A size may be the answer, and the next one is not expected to be too large by
 * more than noise. It is confirmed at once where a longer probe of the next one
 * is likely to find it too large.
 */
static void where_lengths_differ_the_next_size_is_larger(void **state)
{
	const struct world world = { 0, 0, 1130, 0, 0 };
	struct plan plan =
		with_limit(plan_of(PLAN_KEEP, 240, 1, true, 8), &world);
	struct trial first = {
		.micro_batch = 8,
		.grad_accum = 2,
		.verdict = VERDICT_FITS,
		.peak_bytes = 462 * MIB,
		.steps = 4,
		.steps_source = STEPS_HOOK,
	};
	struct trial running = first;

	(void)state;
	running.micro_batch = 48;
	running.grad_accum = 5;
	running.peak_bytes = 926 * MIB;
	assert_false(plan_wants_confirmed(&plan, &first, 1, &running));
	first.sizes_differ = true;
	assert_true(plan_wants_confirmed(&plan, &first, 1, &running));
	running.peak_bytes = 800 * MIB;
	assert_false(plan_wants_confirmed(&plan, &first, 1, &running));
}

static void without_accumulation_there_is_one_size(void **state)
{
	const struct world small = { 400, 20, 450, 0, 0 };
	const struct world large = { 400, 20, 1100, 0, 0 };
	struct plan plan =
		with_limit(plan_of(PLAN_KEEP, 8, 1, false, 8), &small);
	struct played played = play(&plan, &small);

	(void)state;
	assert_int_equal(played.last.action, PLAN_NOTHING_FITS);
	assert_int_equal(played.last.largest_micro, 2);
	plan = with_limit(plan, &large);
	played = play(&plan, &large);
	assert_int_equal(played.last.action, PLAN_DONE);
	assert_int_equal(played.last.micro_batch, 8);
	assert_int_equal(played.last.final_accum, 1);
	assert_int_equal(played.probes, 1);
}

/* Divisors, multiples, no accumulation: what a framework asks of a split. */
static void rules_are_kept(void **state)
{
	static const struct {
		const char *name;
		enum plan_mode mode;
		int64_t accum_multiple_of, micro_divides, multiple_of;
		int64_t effective_multiple_of;
		int64_t micro, accum;
	} rows[] = {
		{ "none", PLAN_KEEP, 1, 0, 1, 1, 32, 4 },
		{ "accumulation in eights", PLAN_KEEP, 8, 0, 1, 1, 16, 8 },
		{ "a divisor of 24", PLAN_KEEP, 1, 24, 1, 1, 8, 16 },
		{ "multiples of 16", PLAN_KEEP, 1, 0, 16, 1, 32, 4 },
		{ "grow: a divisor of 24", PLAN_GROW, 1, 24, 1, 1, 24, 6 },
		{ "grow: accumulation in fours", PLAN_GROW, 4, 0, 16, 1, 32,
		  4 },
		{ "tune: a divisor of 24", PLAN_LARGEST, 1, 24, 1, 1, 8, 16 },
		{ "a batch in eights", PLAN_KEEP, 1, 0, 1, 8, 32, 4 },
		{ "grow: a batch in 32s", PLAN_GROW, 1, 0, 24, 32, 24, 8 },
		{ "tune: a batch in eights", PLAN_LARGEST, 1, 0, 1, 8, 32, 4 },
	};
	const struct world world = { 400, 20, 1100, 0, 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct plan plan = with_limit(
			plan_of(rows[i].mode, 128, 1, true, 8), &world);
		struct played played;

		plan.constraints.accum_multiple_of = rows[i].accum_multiple_of;
		plan.constraints.effective_multiple_of =
			rows[i].effective_multiple_of;
		plan.constraints.micro_divides = rows[i].micro_divides;
		plan.problem.multiple_of = rows[i].multiple_of;
		played = play(&plan, &world);
		if (played.last.action != PLAN_DONE ||
		    played.last.micro_batch != rows[i].micro ||
		    played.last.final_accum != rows[i].accum)
			fail_msg("%s: action %d, %lld x %lld", rows[i].name,
				 (int)played.last.action,
				 (long long)played.last.micro_batch,
				 (long long)played.last.final_accum);
	}
}

/* A script derives it from a number of its own, which stays. */
static void derived_accumulation_is_kept(void **state)
{
	static const struct {
		enum plan_mode mode;
		int64_t effective, nominal;
		bool rounds;
		int64_t micro, accum;
	} rows[] = {
		{ PLAN_KEEP, 96, 96, true, 32, 3 },
		{ PLAN_KEEP, 99, 100, true, 33, 3 },
		{ PLAN_KEEP, 100, 100, false, 25, 4 },
		/* 36 samples in 2 passes; 24 in 3, and 18 would be in 5. */
		{ PLAN_KEEP, 72, 90, false, 24, 3 },
		{ PLAN_GROW, 64, 64, true, 35, 2 },
		/* 33 to 35 once would be less than the 50 of 25 twice. */
		{ PLAN_GROW, 50, 50, false, 25, 2 },
	};
	const struct world world = { 400, 20, 1100, 0, 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct plan plan = with_limit(
			plan_of(rows[i].mode, rows[i].effective, 1, true, 8),
			&world);
		struct played played;

		plan.constraints.nominal.batch = rows[i].nominal;
		plan.constraints.nominal.rounds = rows[i].rounds;
		assert_int_equal(plan_least_accum(&plan, 4),
				 plan_final_accum(&plan, 4));
		played = play(&plan, &world);
		if (played.last.action != PLAN_DONE ||
		    played.last.micro_batch != rows[i].micro ||
		    played.last.final_accum != rows[i].accum)
			fail_msg("row %zu: action %d, %lld x %lld", i,
				 (int)played.last.action,
				 (long long)played.last.micro_batch,
				 (long long)played.last.final_accum);
	}
}

/* A framework that cuts batches to a multiple leaves smaller ones alone. */
static void sizes_below_a_multiple(void **state)
{
	static const struct {
		enum plan_mode mode;
		int64_t effective, free_below;
		enum plan_action action;
		int64_t micro, accum;
	} rows[] = {
		{ PLAN_KEEP, 128, 0, PLAN_NOTHING_FITS, 0, 0 },
		{ PLAN_KEEP, 128, 8, PLAN_DONE, 4, 32 },
		{ PLAN_KEEP, 12, 8, PLAN_DONE, 4, 3 },
		{ PLAN_GROW, 128, 8, PLAN_DONE, 5, 26 },
		{ PLAN_LARGEST, 128, 8, PLAN_DONE, 4, 32 },
	};
	const struct world world = { 400, 20, 510, 0, 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct plan plan = with_limit(
			plan_of(rows[i].mode, rows[i].effective, 1, true, 4),
			&world);
		struct played played;

		plan.problem.multiple_of = 8;
		plan.problem.free_below = rows[i].free_below;
		played = play(&plan, &world);
		assert_int_equal(played.last.action, rows[i].action);
		if (rows[i].action != PLAN_DONE)
			continue;
		assert_int_equal(played.last.micro_batch, rows[i].micro);
		assert_int_equal(played.last.final_accum, rows[i].accum);
	}
}

static void nothing_fits(void **state)
{
	const struct world world = { 400, 20, 410, 0, 0 };
	struct plan plan =
		with_limit(plan_of(PLAN_KEEP, 128, 1, true, 8), &world);
	struct played played = play(&plan, &world);

	(void)state;
	assert_int_equal(played.last.action, PLAN_NOTHING_FITS);
	assert_int_equal(played.last.largest_micro, 0);
	assert_true(played.probes <= 4);
}

static void grow_takes_the_largest(void **state)
{
	const struct world world = { 400, 20, 1290, 0, 0 };
	struct plan plan =
		with_limit(plan_of(PLAN_GROW, 128, 1, true, 8), &world);
	struct played played = play(&plan, &world);

	(void)state;
	assert_int_equal(played.last.action, PLAN_DONE);
	assert_int_equal(played.last.micro_batch, 44);
	assert_int_equal(played.last.final_accum, 3);
	assert_true(played.confirmed);
}

static void tune_finds_both(void **state)
{
	const struct world world = { 400, 20, 1290, 0, 0 };
	struct plan plan =
		with_limit(plan_of(PLAN_LARGEST, 128, 1, true, 8), &world);
	struct played played = play(&plan, &world);

	(void)state;
	assert_int_equal(played.last.action, PLAN_DONE);
	assert_int_equal(played.last.largest_micro, 44);
	assert_int_equal(played.last.micro_batch, 32);
	assert_int_equal(played.last.final_accum, 4);
	assert_true(played.confirmed);
	plan.asked.effective_batch = 0;
	played = play(&plan, &world);
	assert_int_equal(played.last.micro_batch, 44);
}

/* Probes take two micro-steps, the answer what it will really run with. */
/* A size that is predicted not to fit is run where that is asked for. */
static void a_predicted_misfit_is_proved(void **state)
{
	static const struct world world = { 100, 540, 9000, 0, 0 };
	struct plan plan =
		with_limit(plan_of(PLAN_LARGEST, 128, 1, true, 8), &world);
	struct played before = play(&plan, &world);
	struct played proved;

	(void)state;
	assert_int_equal(before.last.misfit_by, MISFIT_BY_PREDICTION);
	plan.proves_misfit = true;
	proved = play(&plan, &world);
	assert_int_equal(proved.last.action, PLAN_DONE);
	assert_int_equal(proved.last.misfit_by, MISFIT_BY_PROBE);
	assert_int_equal(proved.last.largest_micro, before.last.largest_micro);
	assert_int_equal(proved.last.smallest_misfit,
			 before.last.largest_micro + 1);
	assert_int_equal(proved.probes, before.probes + 1);
}

static void accumulation_of_probes_is_short(void **state)
{
	const struct world world = { 400, 20, 1100, 0, 0 };
	struct plan plan =
		with_limit(plan_of(PLAN_KEEP, 128, 1, true, 8), &world);
	struct plan_step step = plan_next(&plan, NULL, 0);

	(void)state;
	assert_int_equal(step.micro_batch, 8);
	assert_int_equal(step.final_accum, 16);
	assert_int_equal(step.probe_accum, 2);
	/* Eight are as quick as a second start, unless none could be the
	 * answer anyway. */
	assert_int_equal(plan_probe(&plan, 16).probe_accum, 8);
	assert_int_equal(plan_least_accum(&plan, 16), 2);
	assert_int_equal(plan_least_accum(&plan, 128), 1);
	plan.accum_matters = true;
	assert_int_equal(plan_next(&plan, NULL, 0).probe_accum, 16);
	assert_int_equal(plan_least_accum(&plan, 16), 8);
}

static void the_fastest_split_is_taken(void **state)
{
	static const struct {
		const char *name;
		struct world world;
		int64_t own, micro;
		size_t probes_max;
	} rows[] = {
		{ "the largest is", { 400, 20, 1100, 0, 32 }, 8, 32, 6 },
		{ "the own one is", { 400, 20, 1100, 0, 8 }, 8, 8, 6 },
		{ "one between is", { 400, 20, 1100, 0, 16 }, 8, 16, 6 },
		{ "the own one is too large",
		  { 400, 20, 1100, 0, 8 },
		  64,
		  32,
		  6 },
		{ "the own one is no split", { 400, 20, 1100, 0, 8 }, 3, 8, 6 },
		{ "nothing is timed", { 400, 20, 1100, 0, 0 }, 8, 32, 6 },
		/* Fewer probes than where others are timed as well. */
		{ "steps may be micro-steps",
		  { 400, 20, 1100, 0, STEPS_OF_LOG },
		  8,
		  32,
		  3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct plan plan = with_limit(
			plan_of(PLAN_KEEP, 128, 1, true, 8), &rows[i].world);
		struct played played;

		plan.takes_fastest = true;
		plan.own_micro = rows[i].own;
		played = play(&plan, &rows[i].world);
		if (played.last.action != PLAN_DONE || !played.confirmed ||
		    played.last.micro_batch != rows[i].micro ||
		    played.probes > rows[i].probes_max)
			fail_msg("%s: %lld, %zu probes", rows[i].name,
				 (long long)played.last.micro_batch,
				 played.probes);
	}
}

/* 963761198400 has 6720 divisors. */
static void of_very_many_splits_the_smallest_are_looked_at(void **state)
{
	struct plan plan =
		plan_of(PLAN_KEEP, INT64_C(963761198400), 1, true, 8);
	struct plan_view *view = malloc(sizeof(*view));

	(void)state;
	assert_non_null(view);
	memset(view, 0xff, sizeof(*view));
	plan.problem.max_micro = INT64_C(1000000000000);
	plan_view_look(view, &plan, NULL, 0);
	assert_int_equal(view->split_count, PLAN_SPLITS_MAX);
	for (size_t i = 1; i < view->split_count; i++)
		assert_true(view->splits[i] > view->splits[i - 1]);
	free(view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_that_takes_multiples_of_its_size),
		cmocka_unit_test(
			of_very_many_splits_the_smallest_are_looked_at),
		cmocka_unit_test(the_fastest_split_is_taken),
		cmocka_unit_test(a_data_set_is_tried_whole),
		cmocka_unit_test(the_effective_batch_is_kept_exactly),
		cmocka_unit_test(what_fails_late_is_not_believed),
		cmocka_unit_test(where_a_fit_is_taken_back_it_ends),
		cmocka_unit_test(where_lengths_differ_the_next_size_is_larger),
		cmocka_unit_test(without_accumulation_there_is_one_size),
		cmocka_unit_test(rules_are_kept),
		cmocka_unit_test(derived_accumulation_is_kept),
		cmocka_unit_test(sizes_below_a_multiple),
		cmocka_unit_test(nothing_fits),
		cmocka_unit_test(grow_takes_the_largest),
		cmocka_unit_test(tune_finds_both),
		cmocka_unit_test(a_predicted_misfit_is_proved),
		cmocka_unit_test(accumulation_of_probes_is_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
