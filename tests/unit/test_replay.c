/* Tunings replayed against curves of memory: how many probes they take. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
/*
 * Each curve says what a training needs at a micro-batch. The plan asks, the
 * curve answers as a probe would, and what is counted are the probes until the
 * plan is done. Three tunings per curve: one that knows nothing, one whose
 * probes show what is held between two steps, and one that has an estimate as
 * well. Some curves are of real programs, others are made up; all are drawn
 * with a fixed seed: see draw_curve() and draw_recorded().
 */
#include "launcher/tuning/plan/plan.h"
#include "tests/unit/curve.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define CURVES 1500
#define SEED UINT64_C(20261124)
#define PROBES_MAX 40
#define RECORDS_MAX 32

enum knowledge { KNOWS_NOTHING, KNOWS_REST, KNOWS_ESTIMATE, KNOWLEDGE_COUNT };

static const char *const knowledge_names[] = { "nothing known", "bytes at rest",
					       "an estimate" };
/* What this version reaches, and a little more. */
static const double mean_max[] = { 3.7, 2.95, 2.4 };
/* Where the rise is steeper than the search takes it to be: see
 * MEMORY_LINE_BACKWARD. */
static const double mean_max_steep[] = { 3.7, 3.05, 2.5 };
/* Real runs of one size differ by up to 6%. */
static const double mean_max_recorded[] = { 3.95, 3.4, 3 };

static struct plan plan_of(const struct curve *curve, enum knowledge knowledge)
{
	bool keeps = curve->effective_batch > 0;
	struct plan plan = {
		.mode = keeps ? PLAN_KEEP : PLAN_GROW,
		.strategy = search_strategies[0],
		.asked = { .effective_batch = curve->effective_batch,
			   .world_size = 1 },
		.has_accumulation = keeps,
		.problem = { .multiple_of = 1,
			     .max_micro = 4096,
			     .exact_up_to = 64,
			     .tolerance = TOLERANCE,
			     .start = curve->start,
			     .limit_bytes = curve->limit,
			     .max_growth = curve->is_host ? 4 : 0 },
	};

	if (knowledge != KNOWS_ESTIMATE)
		return plan;
	plan.problem.estimated_fixed_bytes =
		(uint64_t)(curve->fixed * curve->estimate_error_fixed);
	plan.problem.estimated_bytes_per_sample =
		(uint64_t)(curve->per_sample * curve->estimate_error_slope);
	return plan;
}

struct tuning {
	const struct curve *curve;
	enum knowledge knowledge;
	struct plan plan;
	struct trial trials[PROBES_MAX];
	size_t count;
};

static struct trial run_probe(const struct tuning *tuning,
			      const struct plan_step *step)
{
	const struct curve *curve = tuning->curve;
	double noise = 1 + curve->noise * draw(-1, 1);
	struct trial trial = {
		.micro_batch = step->micro_batch,
		.grad_accum = step->probe_accum,
		.verdict = VERDICT_FITS,
		.peak_bytes = peak_of(curve, step->micro_batch, noise),
		.steps = 3,
		.steps_source = STEPS_HOOK,
	};

	if (trial.peak_bytes > curve->limit) {
		trial.verdict = VERDICT_OVER_BUDGET;
		trial.peak_bytes = curve->limit;
		trial.peak_is_lower_bound = true;
		trial.steps = 0;
		return trial;
	}
	if (tuning->knowledge != KNOWS_NOTHING) {
		trial.rest_bytes = rest_of(curve, step->micro_batch);
		trial.forward_bytes = forward_of(curve, step->micro_batch);
		if (step->probe_accum > 1)
			trial.pass_bytes = pass_of(curve, step->micro_batch);
	}
	if (step->is_confirmation ||
	    plan_wants_confirmed(&tuning->plan, tuning->trials, tuning->count,
				 &trial)) {
		trial.steps = 8;
		trial.confirmed_steps = 8;
	}
	return trial;
}

struct played {
	size_t probes;
	int64_t micro; /* 0: nothing fits */
	int64_t low, high;
	bool is_tested;
};

static struct played play(const struct curve *curve, enum knowledge knowledge)
{
	struct tuning tuning = { .curve = curve,
				 .knowledge = knowledge,
				 .plan = plan_of(curve, knowledge) };
	struct played played = { .probes = 0 };
	struct plan_step step;

	for (;;) {
		step = plan_next(&tuning.plan, tuning.trials, tuning.count);
		if (step.action != PLAN_PROBE)
			break;
		assert_true(tuning.count < PROBES_MAX);
		tuning.trials[tuning.count] = run_probe(&tuning, &step);
		tuning.count++;
	}
	played.probes = tuning.count;
	if (step.action == PLAN_DONE)
		played.micro = step.micro_batch;
	for (size_t i = 0; i < tuning.count; i++) {
		const struct trial *trial = &tuning.trials[i];

		if (trial->micro_batch == played.micro && trial_fits(trial) &&
		    trial_is_confirmed(trial) &&
		    trial->grad_accum == step.final_accum)
			played.is_tested = true;
	}
	right_answers(curve, &played.low, &played.high);
	return played;
}

/*
 * No strategy can do with fewer probes than this on these curves: one where
 * the largest candidate fits or nothing does, else one at the answer and, as
 * often as nothing told the size before, one to learn it from.
 */
static double bound_of(const struct curve *curve, enum knowledge knowledge,
		       const struct played *played)
{
	bool is_last = played->micro && !next_size(curve, played->micro);

	if (!played->micro || is_last || knowledge == KNOWS_ESTIMATE)
		return 1;
	return played->micro == curve->start ? 1 : 2;
}

struct tally {
	size_t probes[CURVES];
	double bound;
	size_t short_answers, untested, wrong;
};

static int compare_sizes(const void *a, const void *b)
{
	size_t left = *(const size_t *)a;
	size_t right = *(const size_t *)b;

	return (left > right) - (left < right);
}

static void count_one(struct tally *tally, const struct curve *curve, size_t i,
		      enum knowledge knowledge)
{
	struct played played = play(curve, knowledge);

	tally->probes[i] = played.probes;
	tally->bound += bound_of(curve, knowledge, &played);
	tally->untested += played.micro && !played.is_tested;
	tally->wrong += played.micro > played.high;
	tally->short_answers += played.micro < played.low;
}

static void play_all(const struct curve *curves, const double *most)
{
	for (int knows = 0; knows < KNOWLEDGE_COUNT; knows++) {
		struct tally tally = { .bound = 0 };
		double mean = 0;

		for (size_t i = 0; i < CURVES; i++) {
			count_one(&tally, &curves[i], i, (enum knowledge)knows);
			mean += (double)tally.probes[i] / CURVES;
		}
		qsort(tally.probes, CURVES, sizeof(*tally.probes),
		      compare_sizes);
		print_message("%-14s mean %.2f, p95 %zu, most %zu probes; "
			      "bound %.2f; short %zu, wrong %zu\n",
			      knowledge_names[knows], mean,
			      tally.probes[CURVES * 95 / 100],
			      tally.probes[CURVES - 1], tally.bound / CURVES,
			      tally.short_answers, tally.wrong);
		assert_int_equal(tally.untested, 0);
		assert_int_equal(tally.wrong, 0);
		assert_true(tally.short_answers <= CURVES / 100);
		assert_true(mean <= most[knows]);
	}
}

static void play_made_up(double backward_low, double backward_high,
			 const double *most)
{
	static struct curve curves[CURVES];

	random_state = SEED;
	for (size_t i = 0; i < CURVES; i++)
		curves[i] = draw_curve(backward_low, backward_high);
	play_all(curves, most);
}

static void tunings_take_few_probes(void **state)
{
	(void)state;
	play_made_up(1, 3, mean_max);
}

static void steep_tunings_take_few_probes(void **state)
{
	(void)state;
	play_made_up(3, 7, mean_max_steep);
}

static void recorded_tunings_take_few_probes(void **state)
{
	static struct curve_record records[RECORDS_MAX];
	static struct curve curves[CURVES];
	size_t count = read_records(records, RECORDS_MAX);

	(void)state;
	random_state = SEED;
	for (size_t i = 0; i < CURVES; i++)
		curves[i] = draw_recorded(&records[i % count]);
	play_all(curves, mean_max_recorded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tunings_take_few_probes),
		cmocka_unit_test(steep_tunings_take_few_probes),
		cmocka_unit_test(recorded_tunings_take_few_probes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
