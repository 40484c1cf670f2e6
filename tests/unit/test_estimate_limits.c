/* Sums of estimates, what they refuse, and the largest batch. */
/* SPDX-License-Identifier: MIT */
/* USES estimator configs */
#include "tests/unit/estimate_case.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sums, maximum and order of what an estimate says, for all models. */
static void every_model_adds_up(void **state)
{
	const struct model_table *models = *state;

	for (size_t i = 0; i < models->count; i++) {
		struct workload work = { .model = &models->items[i].facts,
					 .micro_batch = 3,
					 .sequence = 128 };
		struct estimate estimate = estimated(&work);
		int64_t line = estimate.fixed_bytes + 3 * estimate.sample_bytes;
		int64_t forward = estimate.allocated[PEAK_FORWARD];

		assert_true(estimate.sample_bytes > 0);
		assert_true(llabs(line - forward) < 3);
		assert_true(estimate.peak[TIER_ALLOCATED] >= forward);
		for (int tier = 0; tier < TIERS; tier++) {
			assert_true(estimate.low[tier] <= estimate.peak[tier]);
			assert_true(estimate.peak[tier] <= estimate.high[tier]);
		}
		assert_true(estimate.peak[TIER_RESERVED] >
			    estimate.peak[TIER_ALLOCATED]);
		assert_true(estimate.peak[TIER_PROCESS] >
			    estimate.peak[TIER_RESERVED]);
	}
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return *seed >> 33;
}

static int64_t random_count(uint64_t *seed)
{
	static const int64_t counts[] = { 0,  0,   1,    1,      2,
					  8,  128, 4096, 100000, 1000000000,
					  -1, 0,   1,    3 };

	return counts[next_random(seed) % COUNT(counts)];
}

static int random_choice(uint64_t *seed, int choices)
{
	return (int)(next_random(seed) % (uint64_t)choices);
}

static struct workload random_workload(const struct model_table *models,
				       uint64_t *seed)
{
	size_t index = next_random(seed) % models->count;

	return (struct workload){
		.model = &models->items[index].facts,
		.task = (enum task)random_choice(seed, TASKS),
		.micro_batch = random_count(seed),
		.sequence = random_count(seed),
		.completion = random_count(seed) % 2,
		.grad_accum = random_count(seed),
		.regime = (enum regime)random_choice(seed, REGIMES),
		.weights = (enum weights)random_choice(seed, WEIGHTS_KINDS),
		.optimizer = &optimizer_rows[random_choice(seed, 20)],
		.peft = (enum peft)random_choice(seed, PEFT_KINDS),
		.rank = random_count(seed),
		.trained_layers = random_count(seed),
		.attention = (enum attention)random_choice(seed, 2),
		.checkpointing = (enum checkpointing)random_choice(seed, 4),
		.residual_fp32 = random_choice(seed, 2) == 1,
		.loss = (enum loss)random_choice(seed, LOSS_KINDS),
		.sharding = (enum sharding)random_choice(seed, SHARDINGS),
		.data_parallel = random_count(seed),
		.tensor_parallel = random_count(seed),
		.pipeline_parallel = random_count(seed),
		.context_parallel = random_count(seed),
		.offload = (enum offload)random_choice(seed, 3),
		.generated = random_count(seed),
		.has_reference = random_choice(seed, 2) == 1,
	};
}

static void check_sound(const struct estimate *estimate)
{
	for (int i = 0; i < PEAK_PHASES; i++)
		for (int j = 0; j < PARTS; j++)
			assert_true(estimate->parts[i][j] >= 0);
	for (int i = 0; i < TIERS; i++) {
		assert_true(estimate->peak[i] > 0);
		assert_true(estimate->low[i] <= estimate->peak[i]);
		assert_true(estimate->peak[i] <= estimate->high[i]);
	}
	assert_true(estimate->fixed_bytes >= 0);
	assert_true(estimate->sample_bytes >= 0);
}

/* Whatever is put together: an estimate that is sound, or a reason. */
static void any_workload_is_sound_or_refused(void **state)
{
	uint64_t seed = 1;
	size_t estimated_count = 0;

	for (int i = 0; i < 200000; i++) {
		struct workload work = random_workload(*state, &seed);
		struct error err = ERROR_INIT;
		struct estimate estimate;
		int result = estimate_memory(&work, &estimate, &err);

		if (result < 0) {
			assert_true(result == -EINVAL || result == -ERANGE);
			assert_true(err.message[0] != '\0');
			continue;
		}
		estimated_count++;
		check_sound(&estimate);
	}
	assert_true(estimated_count > 1000);
}

/* Of 7 billion parameters and nothing else. */
static void a_number_of_parameters_is_enough(void **state)
{
	struct model_facts facts = { .parameters = LLAMA_7B };
	struct workload work = { .model = &facts,
				 .micro_batch = 1,
				 .sequence = 2048,
				 .regime = REGIME_BF16 };
	struct workload known = plain(state, "llama-2-7b", 2048);
	double ratio = (double)estimated(&work).peak[0] /
		       (double)estimated(&known).peak[0];

	assert_int_equal(estimated(&work).parameters, LLAMA_7B);
	assert_true(ratio > 0.9 && ratio < 1.2);
	assert_true(estimated(&work).high[0] > estimated(&known).peak[0]);
}

struct bad_row {
	const char *field; /* stands in the message */
	struct workload work;
};

static void check_bad(const struct bad_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct estimate estimate;
		struct error err = ERROR_INIT;
		int result = estimate_memory(&rows[i].work, &estimate, &err);

		assert_true(result == -EINVAL || result == -ERANGE);
		assert_int_equal(result, err.code);
		if (!strstr(err.message, rows[i].field))
			fail_msg("%s: %s", rows[i].field, err.message);
	}
}

#define WORK .model = llama, .micro_batch = 1, .sequence = 8

static void sizes_that_cannot_be_are_named(void **state)
{
	const struct model_facts *llama = model(state, "llama-2-7b");
	const struct model_facts nothing = { 0 };
	const struct model_facts negative = { .family = MODEL_LLAMA,
					      .layers = -1 };
	const struct bad_row rows[] = {
		{ "model", { .micro_batch = 1, .sequence = 8 } },
		{ "parameters",
		  { .model = &nothing, .micro_batch = 1, .sequence = 8 } },
		{ "layers",
		  { .model = &negative, .micro_batch = 1, .sequence = 8 } },
		{ "micro_batch", { .model = llama, .sequence = 8 } },
		{ "micro_batch",
		  { .model = llama, .micro_batch = -1, .sequence = 8 } },
		{ "micro_batch",
		  { .model = llama, .micro_batch = INT64_MAX, .sequence = 8 } },
		{ "sequence", { .model = llama, .micro_batch = 1 } },
		{ "sequence",
		  { .model = llama, .micro_batch = 1, .sequence = -8 } },
		{ "micro_batch 1000000000 x sequence 1000000000",
		  { .model = llama,
		    .micro_batch = 1000000000,
		    .sequence = 1000000000 } },
		{ "completion", { WORK, .completion = 9 } },
		{ "decoder_sequence", { WORK, .decoder_sequence = 4 } },
		{ "grad_accum", { WORK, .grad_accum = -1 } },
	};

	check_bad(rows, COUNT(rows));
	for (size_t i = 0; i < 3; i++)
		assert_true(estimate_largest(&rows[i].work, MIB, false, 8,
					     NULL) < 0);
}

static void methods_that_cannot_be_are_named(void **state)
{
	const struct model_facts *llama = model(state, "llama-2-7b");
	const struct bad_row rows[] = {
		{ "regime", { WORK, .regime = REGIMES } },
		{ "weights", { WORK, .weights = WEIGHTS_NF4 } },
		{ "rank", { WORK, .peft = PEFT_LORA } },
		{ "rank", { WORK, .peft = PEFT_LORA, .rank = -4 } },
		{ "targets",
		  { WORK, .peft = PEFT_LORA, .rank = 4, .targets = 128 } },
		{ "trained_layers", { WORK, .peft = PEFT_FREEZE } },
		{ "trained_layers",
		  { WORK, .peft = PEFT_FREEZE, .trained_layers = 33 } },
		{ "dropout", { WORK, .dropout = 1 } },
		{ "dropout", { WORK, .dropout = (double)NAN } },
		{ "fragmentation", { WORK, .fragmentation = 0.5 } },
		{ "engine_share", { WORK, .engine_share = -0.1 } },
		{ "gpu_bytes", { WORK, .engine_share = 0.3 } },
		{ "tensor_parallel", { WORK, .tensor_parallel = 64 } },
		{ "pipeline_parallel", { WORK, .pipeline_parallel = 33 } },
		{ "expert_parallel", { WORK, .expert_parallel = 2 } },
		{ "data_parallel", { WORK, .data_parallel = -2 } },
		{ "kv_bits", { WORK, .kv_bits = 64 } },
		{ "context_bytes", { WORK, .context_bytes = -1 } },
		{ "compute_major", { WORK, .compute_major = -7 } },
		{ "resident_count", { WORK, .resident_count = 5 } },
		{ "residents[0]", { WORK, .resident_count = 1 } },
		{ "has_value_model", { WORK, .has_value_model = true } },
	};

	check_bad(rows, COUNT(rows));
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_true(estimate_largest(&rows[i].work, MIB, false, 8,
					     NULL) < 0);
}

#undef WORK

/* The answer is the one that trying all sizes gives. */
static void the_largest_is_the_last_that_fits(void **state)
{
	static const int64_t usable[] = { 1, 16, 17, 20, 24, 40, 80, 141 };
	static const char *const names[] = { "gpt2", "qwen2.5-1.5b",
					     "tinyllama", "vit-b/16" };
	const int64_t limit = 200;

	for (size_t i = 0; i < COUNT(names); i++)
		for (size_t j = 0; j < COUNT(usable); j++) {
			struct workload work = plain(state, names[i], 256);
			int64_t bytes = usable[j] * 1024 * MIB, last = 0;

			while (last < limit) {
				work.micro_batch = last + 1;
				if (estimated(&work).high[TIER_PROCESS] > bytes)
					break;
				last++;
			}
			assert_int_equal(estimate_largest(&work, bytes, false,
							  limit, NULL),
					 last);
			assert_true(estimate_largest(&work, bytes, true, limit,
						     NULL) >= last);
		}
}

static void no_limit_is_too_large(void **state)
{
	struct workload work = plain(state, "gpt2", 1024);
	int64_t most =
		estimate_largest(&work, INT64_MAX, true, INT64_MAX, NULL);

	assert_true(most > 1000000 && most <= 1000000000);
	assert_int_equal(estimate_largest(&work, 0, true, 8, NULL), 0);
	assert_int_equal(estimate_largest(&work, -1, true, 8, NULL), -EINVAL);
	assert_int_equal(estimate_largest(&work, MIB, true, 0, NULL), -EINVAL);
}

static void everything_has_a_name(void **state)
{
	(void)state;
	for (int i = 0; i < PARTS; i++) {
		assert_non_null(part_name((enum part)i));
		assert_true(part_tier((enum part)i) < TIERS);
	}
	for (int i = 0; i < PEAK_PHASES; i++)
		assert_non_null(peak_phase_name((enum peak_phase)i));
	for (int i = 0; i < TIERS; i++)
		assert_non_null(tier_name((enum tier)i));
	for (const struct optimizer *row = optimizer_rows; row->name; row++) {
		assert_ptr_equal(optimizer_find(row->name), row);
		assert_non_null(row->source);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_model_adds_up),
		cmocka_unit_test(any_workload_is_sound_or_refused),
		cmocka_unit_test(a_number_of_parameters_is_enough),
		cmocka_unit_test(sizes_that_cannot_be_are_named),
		cmocka_unit_test(methods_that_cannot_be_are_named),
		cmocka_unit_test(the_largest_is_the_last_that_fits),
		cmocka_unit_test(no_limit_is_too_large),
		cmocka_unit_test(everything_has_a_name),
	};

	return cmocka_run_group_tests(tests, models_open, models_close);
}
