/* What is asked at once: played in rounds against an oracle of memory. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/tuning/plan/plan_ahead.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)
#define LANES 4
#define STEP 8

struct oracle {
	const char *name;
	enum plan_mode mode;
	int64_t effective, start;
	uint64_t fixed_mib, sample_mib, limit_mib;
	bool is_a_step;     /* samples are taken by STEP */
	double max_growth;  /* 0: none */
	int64_t growth_pct; /* of the peak while it is confirmed */
};

static const struct oracle oracles[] = {
	{ "powers", PLAN_KEEP, 128, 8, 400, 20, 1100, false, 0, 0 },
	{ "all of it", PLAN_KEEP, 128, 8, 400, 1, 1100, false, 0, 0 },
	{ "many splits", PLAN_KEEP, 720, 4, 100, 7, 3000, false, 0, 0 },
	{ "by leaps", PLAN_KEEP, 720, 4, 100, 7, 3000, false, 4, 0 },
	{ "a prime", PLAN_KEEP, 127, 1, 400, 20, 1100, false, 4, 0 },
	{ "only one", PLAN_KEEP, 128, 8, 400, 650, 1100, false, 4, 0 },
	{ "nothing", PLAN_KEEP, 128, 8, 1200, 650, 1100, false, 0, 0 },
	{ "growing", PLAN_KEEP, 128, 8, 400, 20, 1045, false, 0, 3 },
	{ "steps", PLAN_KEEP, 96, 2, 300, 20, 1500, true, 0, 0 },
	{ "largest", PLAN_LARGEST, 128, 8, 400, 9, 1100, false, 0, 0 },
	{ "grow", PLAN_GROW, 128, 8, 400, 9, 1100, false, 4, 0 },
	{ "grow far", PLAN_GROW, 16, 1, 40, 1, 1100, false, 0, 0 },
	{ "grow, steps", PLAN_GROW, 16, 1, 40, 9, 1500, true, 4, 0 },
	{ "too large", PLAN_GROW, 64, 64, 400, 50, 1100, false, 4, 0 },
};
#define ORACLES (sizeof(oracles) / sizeof(*oracles))

static struct plan plan_for(const struct oracle *oracle)
{
	struct plan plan = {
		.mode = oracle->mode,
		.strategy = search_strategies[0],
		.asked.effective_batch = oracle->effective,
		.asked.world_size = 1,
		.has_accumulation = true,
		.proves_misfit = !(oracle->max_growth > 0),
		.own_micro = oracle->start,
		.problem = { .multiple_of = 1,
			     .max_micro = 4096,
			     .exact_up_to = 64,
			     .tolerance = 0.02,
			     .start = oracle->start,
			     .limit_bytes = oracle->limit_mib * MIB,
			     .max_growth = oracle->max_growth },
	};

	return plan;
}

/* What is known, and what is asked at once. */
struct round {
	const struct oracle *oracle;
	struct plan plan;
	struct trial trials[SEARCH_TRIALS_MAX + 1];
	size_t count;
	struct plan_step steps[LANES];
	size_t found;
};

/* One probe, on the command's own GPU or on another one. */
static struct trial ask(const struct round *round, const struct plan_step *step,
			bool is_elsewhere)
{
	const struct oracle *oracle = round->oracle;
	uint64_t limit = round->plan.problem.limit_bytes;
	int64_t samples = step->micro_batch;
	struct trial trial = {
		.micro_batch = step->micro_batch,
		.grad_accum = step->probe_accum,
		.verdict = VERDICT_FITS,
		.steps = 3,
		.steps_source = STEPS_HOOK,
		.is_elsewhere = is_elsewhere,
	};

	if (oracle->is_a_step)
		samples = (samples + STEP - 1) / STEP * STEP;
	trial.peak_bytes =
		(oracle->fixed_mib + oracle->sample_mib * (uint64_t)samples) *
		MIB;
	if (trial.peak_bytes <= limit && !is_elsewhere &&
	    (step->is_confirmation ||
	     plan_wants_confirmed(&round->plan, round->trials, round->count,
				  &trial))) {
		trial.confirmed_steps = 20;
		trial.peak_bytes +=
			trial.peak_bytes / 100 * (uint64_t)oracle->growth_pct;
	}
	if (trial.peak_bytes > limit) {
		trial.verdict = VERDICT_OVER_BUDGET;
		trial.peak_bytes = limit + MIB;
		trial.peak_is_lower_bound = true;
	}
	return trial;
}

static bool asks(const struct round *round, size_t count, int64_t micro)
{
	for (size_t i = 0; i < count; i++)
		if (round->steps[i].micro_batch == micro)
			return true;
	return false;
}

/* Its steps are legal: none twice, none that has an answer. */
static void check_round(const struct round *round)
{
	const struct oracle *oracle = round->oracle;
	bool is_kept = oracle->mode == PLAN_KEEP && !(oracle->max_growth > 0);

	for (size_t i = 0; i < round->found; i++) {
		const struct plan_step *step = &round->steps[i];
		int64_t micro = step->micro_batch;

		assert_int_equal(step->action, PLAN_PROBE);
		assert_true(micro >= 1 &&
			    micro <= round->plan.problem.max_micro);
		assert_true(step->probe_accum >= 1 &&
			    step->probe_accum <= step->final_accum);
		assert_true(round->found == 1 || !step->is_confirmation);
		if (asks(round, i, micro))
			fail_msg("%s: %lld twice", oracle->name,
				 (long long)micro);
		if (is_kept && micro * step->final_accum != oracle->effective)
			fail_msg("%s: %lld is no split", oracle->name,
				 (long long)micro);
		for (size_t k = 0; i && k < round->count; k++)
			if (round->trials[k].micro_batch == micro)
				fail_msg("%s: %lld has run", oracle->name,
					 (long long)micro);
	}
}

/* Whatever the first one shows, what is asked after it runs beside it. */
static void check_next(struct round *round)
{
	const struct plan *plan = &round->plan;
	const struct plan_step *first = &round->steps[0];
	uint64_t limit = plan->problem.limit_bytes;
	uint64_t peak = search_expected_peak(&plan->problem, round->trials,
					     round->count, first->micro_batch);
	struct trial outcomes[] = {
		{ .micro_batch = first->micro_batch,
		  .grad_accum = first->probe_accum,
		  .verdict = VERDICT_FITS,
		  .peak_bytes = peak && peak < limit ? peak : limit },
		{ .micro_batch = first->micro_batch,
		  .grad_accum = first->probe_accum,
		  .verdict = VERDICT_OOM_DEVICE,
		  .peak_is_lower_bound = true },
	};

	if (plan_wants_confirmed(plan, round->trials, round->count,
				 &outcomes[0]))
		outcomes[0].confirmed_steps = 20;
	for (size_t i = 0; i < 2; i++) {
		struct plan_step next;

		round->trials[round->count] = outcomes[i];
		next = plan_next(plan, round->trials, round->count + 1);
		if (next.action == PLAN_PROBE && !next.is_confirmation &&
		    !asks(round, round->found, next.micro_batch))
			fail_msg("%s: after %lld, which %s, %lld is missing",
				 round->oracle->name,
				 (long long)first->micro_batch,
				 i ? "does not fit" : "fits",
				 (long long)next.micro_batch);
	}
}

static int by_size(const void *a, const void *b)
{
	const struct plan_step *left = a;
	const struct plan_step *right = b;

	return (left->micro_batch > right->micro_batch) -
	       (left->micro_batch < right->micro_batch);
}

struct rounds {
	struct plan_step last;
	size_t rounds;
};

/* All of the round is answered; the smallest is noted first. */
static void answer(struct round *round)
{
	int64_t own = round->steps[0].micro_batch;
	struct trial trials[LANES];

	qsort(round->steps, round->found, sizeof(*round->steps), by_size);
	for (size_t i = 0; i < round->found; i++)
		trials[i] = ask(round, &round->steps[i],
				round->steps[i].micro_batch != own);
	for (size_t i = 0; i < round->found; i++)
		round->trials[round->count++] = trials[i];
}

/* To its end, with so many lanes; the first probe of a tuning is alone. */
static struct rounds play_rounds(const struct oracle *oracle, size_t lanes)
{
	struct round round = { .oracle = oracle, .plan = plan_for(oracle) };
	struct rounds played = { .rounds = 0 };

	for (;;) {
		round.found =
			plan_ahead(&round.plan, round.trials, round.count,
				   round.steps, played.rounds ? lanes : 1);
		played.last = round.steps[0];
		if (!round.found)
			return played;
		assert_true(round.found <= lanes);
		assert_true(++played.rounds < 40);
		check_round(&round);
		if (round.found > 1)
			check_next(&round);
		answer(&round);
	}
}

/* Without splits to keep to, above 64, the tolerance makes two sizes one, and
 * so do steps of memory. */
static bool is_as_good(const struct oracle *oracle, int64_t one, int64_t other)
{
	const struct plan plan = plan_for(oracle);
	int64_t apart = one > other ? one - other : other - one;

	if (oracle->mode == PLAN_KEEP || one <= plan.problem.exact_up_to)
		return !apart;
	return (double)apart <= plan.problem.tolerance * (double)one ||
	       (oracle->is_a_step && apart < STEP);
}

static void rounds_come_to_the_same_answer(void **state)
{
	size_t alone = 0, together = 0;

	(void)state;
	for (size_t i = 0; i < ORACLES; i++) {
		struct rounds one = play_rounds(&oracles[i], 1);
		struct rounds many = play_rounds(&oracles[i], LANES);

		if (one.last.action != many.last.action ||
		    !is_as_good(&oracles[i], one.last.micro_batch,
				many.last.micro_batch))
			fail_msg("%s: %lld alone, %lld in rounds",
				 oracles[i].name,
				 (long long)one.last.micro_batch,
				 (long long)many.last.micro_batch);
		/* A larger answer may take more. */
		if (many.rounds > one.rounds &&
		    many.last.micro_batch <= one.last.micro_batch)
			fail_msg("%s: %zu alone, %zu rounds", oracles[i].name,
				 one.rounds, many.rounds);
		alone += one.rounds;
		together += many.rounds;
	}
	print_message("%zu probes alone, %zu rounds of %d\n", alone, together,
		      LANES);
	assert_true(together < alone);
}

#define FIT(micro, mib)                                                        \
	{                                                                      \
		.micro_batch = (micro), .verdict = VERDICT_FITS,               \
		.peak_bytes = (mib)*MIB, .steps = 3,                           \
		.steps_source = STEPS_HOOK                                     \
	}
#define MISFIT(micro)                                                          \
	{                                                                      \
		.micro_batch = (micro), .verdict = VERDICT_OOM_DEVICE,         \
		.peak_is_lower_bound = true                                    \
	}

/* What is asked at once, by what is known. */
static void a_round_is_what_may_follow(void **state)
{
	static const struct {
		const char *name;
		size_t oracle, max;
		struct trial known[2]; /* micro-batch 0 ends them */
		int64_t sizes[LANES];  /* 0 ends them */
	} rows[] = {
		{ "nothing known", 0, LANES, { FIT(0, 0) }, { 8, 16, 2, 64 } },
		{ "one lane", 0, 1, { FIT(0, 0) }, { 8 } },
		{ "two lanes", 0, 2, { FIT(0, 0) }, { 8, 16 } },
		{ "one fits", 0, LANES, { FIT(8, 560) }, { 16 } },
		{ "one does not", 0, LANES, { MISFIT(8) }, { 2, 4, 1 } },
		{ "a line", 0, LANES, { FIT(8, 560), FIT(16, 720) }, { 32 } },
		{ "between",
		  2,
		  LANES,
		  { FIT(4, 128), MISFIT(360) },
		  { 90, 180, 20, 144 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct plan plan = plan_for(&oracles[rows[i].oracle]);
		const struct trial *known = rows[i].known;
		struct plan_step steps[LANES];
		size_t count = (size_t)(known[0].micro_batch > 0) +
			       (known[1].micro_batch > 0);
		size_t found =
			plan_ahead(&plan, known, count, steps, rows[i].max);

		for (size_t k = 0; k < LANES; k++) {
			int64_t size = k < found ? steps[k].micro_batch : 0;

			if (size != rows[i].sizes[k])
				fail_msg("%s: in place %zu is %lld",
					 rows[i].name, k, (long long)size);
		}
	}
}

static const struct trial too_large = {
	.micro_batch = 64,
	.grad_accum = 2,
	.verdict = VERDICT_OOM_DEVICE,
	.peak_is_lower_bound = true,
};
static const struct trial fits = {
	.micro_batch = 32,
	.grad_accum = 4,
	.verdict = VERDICT_FITS,
	.peak_bytes = 1040 * MIB,
};

/* Where nothing is left to be probed there is nothing to do at once. */
static void the_end_asks_nothing(void **state)
{
	struct plan plan = plan_for(&oracles[0]);
	struct trial trials[] = { too_large, fits };
	struct plan_step steps[LANES];

	(void)state;
	trials[1].confirmed_steps = 20;
	assert_int_equal(plan_ahead(&plan, trials, 2, steps, LANES), 0);
	assert_int_equal(steps[0].action, PLAN_DONE);
	assert_int_equal(steps[0].micro_batch, 32);
}

/* What fitted elsewhere is confirmed, and nothing runs beside it. */
static void a_confirmation_is_alone(void **state)
{
	struct plan plan = plan_for(&oracles[0]);
	struct trial trials[] = { too_large, fits };
	struct plan_step steps[LANES];

	(void)state;
	trials[1].steps = 3;
	trials[1].steps_source = STEPS_EXIT;
	trials[1].is_elsewhere = true;
	assert_int_equal(plan_ahead(&plan, trials, 2, steps, LANES), 1);
	assert_int_equal(steps[0].micro_batch, 32);
	assert_true(steps[0].is_confirmation);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds_come_to_the_same_answer),
		cmocka_unit_test(a_round_is_what_may_follow),
		cmocka_unit_test(the_end_asks_nothing),
		cmocka_unit_test(a_confirmation_is_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
