/* States, loss, shards, caches of an estimate, against values computed by hand.
 */
/* SPDX-License-Identifier: MIT */
/* USES estimator configs */
#include "tests/unit/estimate_case.h"

#include <math.h>

/* Weights, gradients, states, master copy, casts, temporary; of P. */
static void states_follow_the_regime(void **state)
{
	static const struct {
		enum regime regime;
		const char *optimizer;
		double bytes[6];
	} rows[] = {
		{ REGIME_FP32, "adamw", { 4, 4, 8, 0, 0, 4 } },
		{ REGIME_AMP, "adamw", { 4, 4, 8, 0, 2, 4 } },
		{ REGIME_BF16, "adamw", { 2, 2, 4, 0, 0, 2 } },
		{ REGIME_MASTER, "adamw", { 2, 2, 8, 4, 0, 4 } },
		{ REGIME_BF16, "adamw_8bit", { 2, 2, 2.03125, 0, 0, 0 } },
		{ REGIME_FP32, "adamw_4bit", { 4, 4, 1.0625, 0, 0, 0 } },
		{ REGIME_FP32, "sgd", { 4, 4, 0, 0, 0, 4 } },
		{ REGIME_BF16, "lion", { 2, 2, 2, 0, 0, 2 } },
		{ REGIME_FP32, "AMSGrad", { 4, 4, 12, 0, 0, 4 } },
	};
	const int64_t looked_up = INT64_C(32000) * 4096;
	struct workload work = plain(state, "llama-2-7b", 1);

	for (size_t i = 0; i < COUNT(rows); i++) {
		const double *bytes = rows[i].bytes;
		struct estimate estimate;
		const int64_t *step, *forward;

		work.regime = rows[i].regime;
		work.optimizer = optimizer_find(rows[i].optimizer);
		assert_non_null(work.optimizer);
		estimate = estimated(&work);
		step = estimate.parts[PEAK_STEP];
		forward = estimate.parts[PEAK_FORWARD];
		assert_int_equal(estimate.parameters, LLAMA_7B);
		assert_int_equal(step[PART_WEIGHTS],
				 (int64_t)(bytes[0] * LLAMA_7B));
		assert_int_equal(step[PART_GRADIENTS],
				 (int64_t)(bytes[1] * LLAMA_7B));
		assert_int_equal(step[PART_OPTIMIZER],
				 (int64_t)ceil(bytes[2] * LLAMA_7B));
		assert_int_equal(step[PART_MASTER],
				 (int64_t)(bytes[3] * LLAMA_7B));
		assert_int_equal(forward[PART_CASTS],
				 (int64_t)bytes[4] * (LLAMA_7B - looked_up));
		assert_int_equal(step[PART_STEP],
				 (int64_t)(bytes[5] * LLAMA_7B));
		assert_int_equal(forward[PART_GRADIENTS], 0);
		assert_int_equal(step[PART_ACTIVATIONS], 0);
	}
}

static void gradients_are_there_when_they_are_kept(void **state)
{
	struct workload work = plain(state, "llama-2-7b", 1);

	work.grad_accum = 2;
	assert_int_equal(part(&work, PEAK_FORWARD, PART_GRADIENTS),
			 2 * LLAMA_7B);
	work.grad_accum = 1;
	work.keeps_gradients = true;
	assert_int_equal(part(&work, PEAK_FORWARD, PART_GRADIENTS),
			 2 * LLAMA_7B);
	work.keeps_gradients = false;
	work.optimizer = optimizer_find("lomo");
	/* One layer of 202 million. */
	assert_int_equal(part(&work, PEAK_STEP, PART_GRADIENTS),
			 2 * INT64_C(202383360));
	assert_null(optimizer_find("adamx"));
	assert_null(optimizer_find(""));
}

/* Bytes of a logit, and where they shrink. */
static void the_loss_follows_its_path(void **state)
{
	static const struct {
		enum regime regime;
		enum loss loss;
		enum task task;
		double bytes;
	} rows[] = {
		{ REGIME_BF16, LOSS_DEFAULT, TASK_TRAIN, 14 },
		{ REGIME_AMP, LOSS_DEFAULT, TASK_TRAIN, 16 },
		{ REGIME_FP32, LOSS_DEFAULT, TASK_TRAIN, 16 },
		{ REGIME_BF16, LOSS_UPCAST, TASK_TRAIN, 16 },
		{ REGIME_BF16, LOSS_CHUNKED, TASK_TRAIN, 3.5 },
		{ REGIME_AMP, LOSS_IN_PLACE, TASK_TRAIN, 4 },
		{ REGIME_BF16, LOSS_IN_PLACE, TASK_TRAIN, 2 },
		{ REGIME_BF16, LOSS_DEFAULT, TASK_GRPO, 8 },
		{ REGIME_AMP, LOSS_DEFAULT, TASK_GRPO, 12 },
		{ REGIME_BF16, LOSS_DEFAULT, TASK_DPO, 28 },
	};
	struct workload work = plain(state, "llama-3.2-3b", 1024);

	work.checkpointing = CHECKPOINT_FULL;
	for (size_t i = 0; i < COUNT(rows); i++) {
		work.regime = rows[i].regime;
		work.loss = rows[i].loss;
		work.task = rows[i].task;
		assert_int_equal(part(&work, PEAK_FORWARD, PART_LOSS),
				 (int64_t)(rows[i].bytes * 128256 * 1024));
	}
	/* One token more than the completion: the one before it. */
	work.task = TASK_GRPO;
	work.completion = 255;
	assert_int_equal(part(&work, PEAK_FORWARD, PART_LOSS),
			 INT64_C(8) * 128256 * 256);
}

/* NF4 of what is linear; norms, embedding and head are 16-bit or fp32. */
static void frozen_weights_are_stored_small(void **state)
{
	const int64_t linear =
		INT64_C(32) * (4 * 4096 * 4096 + 3 * 4096 * 11008);
	static const struct {
		enum weights weights;
		double bytes;
	} rows[] = {
		{ WEIGHTS_NF4, 0.5625 },
		{ WEIGHTS_NF4_DOUBLE, 0.515869140625 },
		{ WEIGHTS_GPTQ4, 0.51953125 },
		{ WEIGHTS_INT8, 1.0009765625 },
	};
	struct workload work = plain(state, "llama-2-7b", 1);

	work.peft = PEFT_LORA;
	work.rank = 8;
	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t small = (int64_t)ceil(rows[i].bytes * (double)linear);

		work.weights = rows[i].weights;
		work.residual_fp32 = false;
		assert_int_equal(part(&work, PEAK_STEP, PART_WEIGHTS),
				 small + 2 * (LLAMA_7B - linear));
		work.residual_fp32 = true;
		assert_int_equal(part(&work, PEAK_STEP, PART_WEIGHTS),
				 small + 4 * (LLAMA_7B - linear));
	}
	/* r (h + h) for q and v; fp32 with gradients and two states. */
	assert_int_equal(estimated(&work).trainable, 32 * 2 * 8 * 2 * 4096);
	assert_int_equal(part(&work, PEAK_STEP, PART_ADAPTERS),
			 INT64_C(16) * 32 * 2 * 8 * 2 * 4096);
}

/* ZeRO, 1910.02054 Fig. 1, with a master copy: 4P + 12P/d, 2P + 14P/d, 16P/d;
 * Megatron's distributed optimizer: 6P + 12P/d. */
static void gpus_share_states(void **state)
{
	static const struct {
		enum sharding sharding;
		double all, shared;
	} rows[] = {
		{ SHARD_NONE, 16, 0 },     { SHARD_DDP, 16, 0 },
		{ SHARD_ZERO1, 4, 12 },    { SHARD_ZERO2, 2, 14 },
		{ SHARD_ZERO3, 0, 16 },    { SHARD_FSDP, 0, 16 },
		{ SHARD_MEGATRON, 6, 12 },
	};
	struct workload work = plain(state, "llama-2-7b", 1);

	work.regime = REGIME_MASTER;
	work.data_parallel = 64;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct estimate estimate;
		const int64_t *parts;
		int64_t sum;

		work.sharding = rows[i].sharding;
		estimate = estimated(&work);
		parts = estimate.parts[PEAK_STEP];
		sum = parts[PART_WEIGHTS] + parts[PART_GRADIENTS] +
		      parts[PART_OPTIMIZER] + parts[PART_MASTER];
		assert_int_equal(sum,
				 (int64_t)((rows[i].all + rows[i].shared / 64) *
					   LLAMA_7B));
	}
	work.sharding = SHARD_DDP;
	assert_int_equal(part(&work, PEAK_STEP, PART_BUCKETS), 2 * LLAMA_7B);
	work.gradients_as_views = true;
	assert_int_equal(part(&work, PEAK_STEP, PART_BUCKETS), 0);
	/* 4.5 of two buckets of 5e8 elements. */
	work.sharding = SHARD_ZERO2;
	assert_int_equal(part(&work, PEAK_STEP, PART_BUCKETS),
			 INT64_C(9000000000));
	/* Two units and a gradient: 3 of the largest. */
	work.sharding = SHARD_FSDP;
	assert_true(part(&work, PEAK_BACKWARD, PART_LAYER) >=
		    6 * INT64_C(202383360));
}

static void a_cache_holds_keys_and_values(void **state)
{
	struct workload work = plain(state, "llama-2-70b", 2048);
	int64_t bytes = INT64_C(2) * 80 * 1024 * 2048 * 8 * 2;

	work.task = TASK_INFERENCE;
	work.micro_batch = 8;
	assert_int_equal(bytes, INT64_C(5368709120));
	assert_int_equal(part(&work, PEAK_GENERATION, PART_KV_CACHE), bytes);
	work.kv_bits = 8;
	assert_int_equal(part(&work, PEAK_GENERATION, PART_KV_CACHE),
			 bytes / 2);
	work = plain(state, "llama-2-7b", 2048);
	work.task = TASK_INFERENCE;
	work.generated = 8;
	assert_int_equal(part(&work, PEAK_GENERATION, PART_KV_CACHE),
			 INT64_C(8589934592));
	/* 512 + 64 elements of a token and layer. */
	work = plain(state, "deepseek-v2-lite", 4096);
	work.task = TASK_INFERENCE;
	assert_int_equal(part(&work, PEAK_GENERATION, PART_KV_CACHE),
			 INT64_C(576) * 27 * 4096 * 2);
	assert_int_equal(estimated(&work).phase, PEAK_GENERATION);
	/* Sliding: no more than the window. */
	work = plain(state, "mistral-7b", 8192);
	work.task = TASK_INFERENCE;
	assert_int_equal(part(&work, PEAK_GENERATION, PART_KV_CACHE),
			 INT64_C(2) * 32 * 1024 * 4096 * 2);
}

static void other_models_stay_beside(void **state)
{
	struct workload work = plain(state, "qwen2.5-7b", 512);
	const int64_t evaluator = INT64_C(14770033664);

	work.resident_count = 1;
	work.residents[0] = (struct resident){ .parameters = evaluator,
					       .regime = REGIME_BF16,
					       .kv_bytes = 1000,
					       .is_other_process = true,
					       .follows_step = true };
	assert_int_equal(part(&work, PEAK_FORWARD, PART_RESIDENTS),
			 2 * evaluator);
	assert_int_equal(part(&work, PEAK_GENERATION, PART_RESIDENTS),
			 2 * evaluator + 1000);
	assert_int_equal(part(&work, PEAK_FORWARD, PART_CONTEXT), 1000 * MIB);
	work.residents[0].weights = WEIGHTS_INT8;
	assert_true(part(&work, PEAK_FORWARD, PART_RESIDENTS) <
		    evaluator * 11 / 10);
	/* A reference is a second copy, but not of a model with adapters. */
	work.resident_count = 0;
	work.task = TASK_DPO;
	work.has_reference = true;
	assert_int_equal(part(&work, PEAK_FORWARD, PART_RESIDENTS),
			 2 * INT64_C(7615616512));
	work.peft = PEFT_LORA;
	work.rank = 8;
	assert_int_equal(part(&work, PEAK_FORWARD, PART_RESIDENTS), 0);
	/* An engine has its share, and gives it back when it sleeps. */
	work.task = TASK_GRPO;
	work.engine_share = 0.3;
	work.gpu_bytes = 1000000;
	assert_int_equal(part(&work, PEAK_FORWARD, PART_RESIDENTS), 300000);
	work.engine_sleeps = true;
	assert_int_equal(part(&work, PEAK_FORWARD, PART_RESIDENTS), 0);
	assert_int_equal(part(&work, PEAK_GENERATION, PART_RESIDENTS), 300000);
}

/* Only to generate are weights kept in 8 bit; embedding, head and norms stay
 * 16-bit, and a block of 128 x 128 has a scale. */
static void weights_to_generate_are_fp8(void **state)
{
	struct workload work = plain(state, "llama-3.1-8b", 1024);
	const int64_t others = INT64_C(2) * 128256 * 4096 + INT64_C(65) * 4096;
	const int64_t linear = INT64_C(8030261248) - others;

	work.regime = REGIME_FP8;
	assert_int_equal(part(&work, PEAK_FORWARD, PART_WEIGHTS),
			 2 * INT64_C(8030261248));
	work.task = TASK_INFERENCE;
	assert_int_equal(part(&work, PEAK_GENERATION, PART_WEIGHTS),
			 2 * others + linear + linear / 4096);
	work.regime = REGIME_BF16;
	work.weights = WEIGHTS_FP8;
	assert_int_equal(part(&work, PEAK_GENERATION, PART_WEIGHTS),
			 2 * others + linear + linear / 4096);
}

static void a_cache_is_shared_by_its_heads(void **state)
{
	static const struct {
		const char *name;
		int64_t gpus, sharers;
	} rows[] = {
		{ "llama-3.1-8b", 4, 4 },  /* 8 heads of keys */
		{ "llama-3.1-8b", 16, 8 }, /* two GPUs have the same */
		{ "gemma-2b", 4, 1 },      /* one head */
		{ "deepseek-v3", 8, 1 },   /* compressed: none */
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct workload work = plain(state, rows[i].name, 1024);
		int64_t whole;

		work.task = TASK_INFERENCE;
		whole = part(&work, PEAK_GENERATION, PART_KV_CACHE);
		work.tensor_parallel = rows[i].gpus;
		assert_int_equal(part(&work, PEAK_GENERATION, PART_KV_CACHE),
				 whole / rows[i].sharers);
	}
}

static void prompts_go_through_in_chunks(void **state)
{
	struct workload work = plain(state, "llama-3.1-8b", 16384);
	const int64_t token = INT64_C(2) * (3 * 14336 + 4 * 4096);

	work.task = TASK_INFERENCE;
	assert_int_equal(part(&work, PEAK_GENERATION, PART_LAYER),
			 16384 * token);
	work.prefill_chunk = 2048;
	assert_int_equal(part(&work, PEAK_GENERATION, PART_LAYER),
			 2048 * token);
	/* A paged cache gives out whole blocks. */
	work.sequence = 1000;
	work.kv_block = 256;
	assert_int_equal(part(&work, PEAK_GENERATION, PART_KV_CACHE),
			 1024 * 32 * 2 * 1024 * 2);
}

/* Frozen units of FSDP hold the inputs of their blocks and the gradients of
 * these to the end of the backward pass. */
static void frozen_units_hold_their_inputs(void **state)
{
	struct workload work = plain(state, "llama-3.1-8b", 1024);
	const int64_t inputs = INT64_C(32) * 1024 * 4096 * 2;

	work.sharding = SHARD_FSDP;
	work.data_parallel = 2;
	work.checkpointing = CHECKPOINT_FULL;
	assert_int_equal(part(&work, PEAK_BACKWARD, PART_ACTIVATIONS), 0);
	work.peft = PEFT_LORA;
	work.rank = 8;
	assert_int_equal(part(&work, PEAK_BACKWARD, PART_ACTIVATIONS),
			 2 * inputs);
	work.sharding = SHARD_DDP;
	assert_int_equal(part(&work, PEAK_BACKWARD, PART_ACTIVATIONS), 0);
}

/* Nobody said how wide the residual stream is: both answers lie inside. */
static void what_is_assumed_is_spanned(void **state)
{
	struct workload work = plain(state, "llama-3.1-8b", 1024);
	struct estimate wide, narrow, open;

	work.weights = WEIGHTS_NF4;
	work.peft = PEFT_LORA;
	work.rank = 8;
	work.checkpointing = CHECKPOINT_FULL;
	narrow = estimated(&work);
	work.residual_fp32 = true;
	wide = estimated(&work);
	work.residual_is_assumed = true;
	open = estimated(&work);
	assert_int_equal(open.peak[TIER_ALLOCATED], wide.peak[TIER_ALLOCATED]);
	for (int tier = 0; tier < TIERS; tier++) {
		assert_int_equal(open.low[tier], narrow.low[tier]);
		assert_int_equal(open.high[tier], wide.high[tier]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_to_generate_are_fp8),
		cmocka_unit_test(a_cache_is_shared_by_its_heads),
		cmocka_unit_test(prompts_go_through_in_chunks),
		cmocka_unit_test(frozen_units_hold_their_inputs),
		cmocka_unit_test(what_is_assumed_is_spanned),
		cmocka_unit_test(states_follow_the_regime),
		cmocka_unit_test(gradients_are_there_when_they_are_kept),
		cmocka_unit_test(the_loss_follows_its_path),
		cmocka_unit_test(frozen_weights_are_stored_small),
		cmocka_unit_test(gpus_share_states),
		cmocka_unit_test(a_cache_holds_keys_and_values),
		cmocka_unit_test(other_models_stay_beside),
	};

	return cmocka_run_group_tests(tests, models_open, models_close);
}
