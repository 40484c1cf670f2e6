/* What layers keep, against values computed by hand. */
/* SPDX-License-Identifier: MIT */
/* USES estimator configs */
#include "tests/unit/estimate_case.h"

#include <math.h>

/* Kept of one token in one layer; without what is there once: the last norm,
 * the head's input, the mask. */
static int64_t kept_of_layer(const struct workload *work, int64_t end)
{
	int64_t tokens = work->sequence * work->micro_batch;
	int64_t kept = part(work, PEAK_FORWARD, PART_ACTIVATIONS);

	if (!work->model)
		return -1;
	/* The mask, one for all layers; of decoders in 16 bits here. */
	if (work->attention == ATTENTION_EAGER)
		kept -= 2 * tokens * work->sequence;
	return (kept - end * work->model->hidden * tokens) / tokens /
	       work->model->layers;
}

struct layer_row {
	const char *name;
	int64_t bytes;
	double widths; /* of hidden, as it is published: to a tenth */
};

static void check_layers(void **state, const struct layer_row *rows,
			 size_t count, const struct workload *like)
{
	bool is_full = like->peft == PEFT_NONE;

	for (size_t i = 0; i < count; i++) {
		struct workload work = *like;
		int64_t bytes;

		work.model = model(state, rows[i].name);
		bytes = kept_of_layer(&work, is_full ? 8 : 4);
		assert_int_equal(bytes, rows[i].bytes);
		assert_true(fabs((double)bytes / (double)work.model->hidden -
				 rows[i].widths) < 0.06);
	}
}

/* 16h + 4q + 4kv + 4a + 8f; frozen 8h + 4q + 4kv + 4a + 6f. */
static void a_gated_layer_keeps_its_table(void **state)
{
	static const struct layer_row full[] = {
		{ "llama-2-7b", 186496, 45.5 },
		{ "llama-3.1-8b", 200832, 49.0 },
		{ "qwen2.5-7b", 225392, 62.9 },
	};
	static const struct layer_row frozen[] = {
		{ "llama-2-7b", 131712, 32.2 },
		{ "llama-3.1-8b", 139392, 34.0 },
		{ "qwen2.5-7b", 158832, 44.3 },
	};
	struct workload work = plain(state, "llama-2-7b", 2048);

	check_layers(state, full, COUNT(full), &work);
	work.peft = PEFT_PROMPT;
	work.rank = 2048;
	/* Tokens of the prompt are tokens: here as many again. */
	for (size_t i = 0; i < COUNT(frozen); i++) {
		work.model = model(state, frozen[i].name);
		assert_int_equal(kept_of_layer(&work, 8), 2 * frozen[i].bytes);
	}
}

/* Adapters add their inputs: 4 bytes for each target, or 2 for each tensor. */
static void adapters_keep_their_inputs(void **state)
{
	static const struct layer_row attention[] = {
		{ "llama-2-7b", 131712 + 8 * 4096 + 8, 40.2 },
		{ "llama-3.1-8b", 139392 + 8 * 4096 + 8, 42.0 },
		{ "qwen2.5-7b", 158832 + 8 * 3584 + 8, 52.3 },
	};
	static const struct layer_row all[] = {
		{ "llama-2-7b", 131712 + 24 * 4096 + 4 * 11008 + 28, 66.9 },
		{ "llama-3.1-8b", 139392 + 24 * 4096 + 4 * 14336 + 28, 72.0 },
		{ "qwen2.5-7b", 158832 + 24 * 3584 + 4 * 18944 + 28, 89.5 },
	};
	static const struct layer_row narrow[] = {
		{ "llama-2-7b", 131712 + 2 * 4096 + 4, 34.2 },
		{ "llama-3.1-8b", 139392 + 2 * 4096 + 4, 36.0 },
		{ "qwen2.5-7b", 158832 + 2 * 3584 + 4, 46.3 },
	};
	static const struct layer_row all_narrow[] = {
		{ "llama-2-7b", 131712 + 6 * 4096 + 2 * 11008 + 14, 43.5 },
		{ "llama-3.1-8b", 139392 + 6 * 4096 + 2 * 14336 + 14, 47.0 },
		{ "qwen2.5-7b", 158832 + 6 * 3584 + 2 * 18944 + 14, 60.9 },
	};
	struct workload work = plain(state, "llama-2-7b", 2048);

	work.peft = PEFT_LORA;
	work.rank = 1;
	check_layers(state, attention, COUNT(attention), &work);
	work.targets = TARGETS_ALL;
	check_layers(state, all, COUNT(all), &work);
	work.adapters_16_bit = true;
	check_layers(state, all_narrow, COUNT(all_narrow), &work);
	work.targets = TARGET_Q | TARGET_V;
	check_layers(state, narrow, COUNT(narrow), &work);
}

/* Korthikanti et al., 2205.05198, Table 2: GELU, f = 4h, dropout, 16-bit. The
 * output of a flash kernel has 4 bytes for each head besides. */
static void a_gelu_layer_is_that_of_the_paper(void **state)
{
	const int64_t h = 768, a = 12, s = 1024;
	struct workload work = plain(state, "gpt2", s);

	work.dropout = 0.1;
	work.attention = ATTENTION_EAGER;
	assert_int_equal(kept_of_layer(&work, 4), 34 * h + 5 * a * s);
	work.sharding = SHARD_MEGATRON;
	work.tensor_parallel = 4;
	assert_int_equal(kept_of_layer(&work, 4),
			 10 * h + 24 * h / 4 + 5 * a * s / 4);
	work.sequence_parallel = true;
	assert_int_equal(kept_of_layer(&work, 4), (34 * h + 5 * a * s) / 4);
	work.attention = ATTENTION_FLASH;
	assert_int_equal(kept_of_layer(&work, 4), (34 * h + 4 * a) / 4);
	work.sequence_parallel = false;
	assert_int_equal(kept_of_layer(&work, 4), 10 * h + 24 * h / 4 + a);
	work.checkpointing = CHECKPOINT_FULL;
	assert_int_equal(kept_of_layer(&work, 4), 2 * h);
}

/* Four stages with eight micro-batches: the first holds four of a quarter of
 * the layers, the last one and the loss. */
static void a_pipeline_holds_micro_batches(void **state)
{
	struct workload work = plain(state, "llama-3.1-8b", 2048);
	int64_t alone = part(&work, PEAK_FORWARD, PART_ACTIVATIONS);

	work.pipeline_parallel = 4;
	work.grad_accum = 8;
	assert_int_equal(part(&work, PEAK_FORWARD, PART_ACTIVATIONS), alone);
	assert_int_equal(part(&work, PEAK_FORWARD, PART_LOSS), 0);
	assert_true(part(&work, PEAK_FORWARD, PART_LAYER) > 0);
	work.checkpointing = CHECKPOINT_FULL;
	assert_int_equal(part(&work, PEAK_FORWARD, PART_LOSS),
			 INT64_C(14) * 128256 * 2048);
	work.checkpointing = CHECKPOINT_NONE;
	work.grad_accum = 1;
	assert_true(part(&work, PEAK_FORWARD, PART_ACTIVATIONS) < alone / 3);
}

static void other_layers_keep_theirs(void **state)
{
	struct workload work = plain(state, "llama-3.1-8b", 512);
	const int64_t h = 4096, q = 4096, kv = 1024, a = 32, f = 14336;

	work.repeats_kv = true;
	assert_int_equal(kept_of_layer(&work, 8),
			 16 * h + 8 * q + 4 * a + 8 * f);
	work.repeats_kv = false;
	/* The norms' copies are fp32 already. */
	work.regime = REGIME_FP32;
	assert_int_equal(kept_of_layer(&work, 12),
			 24 * h + 8 * q + 8 * kv + 4 * a + 16 * f);
	work.regime = REGIME_FP8;
	assert_int_equal(kept_of_layer(&work, 8),
			 14 * h + 4 * q + 4 * kv + 4 * a + 7 * f);
	work.regime = REGIME_BF16;
	work.attention = ATTENTION_EAGER;
	assert_int_equal(kept_of_layer(&work, 8),
			 16 * h + 8 * q + 6 * a * 512 + 8 * f);
	work.attention = ATTENTION_FLASH;
	work.checkpointing = CHECKPOINT_FULL;
	assert_int_equal(kept_of_layer(&work, 8), 2 * h);
	work.residual_fp32 = true;
	assert_int_equal(kept_of_layer(&work, 8), 4 * h);
	/* 2 of 8 experts, their tokens in order, and the router. */
	work = plain(state, "mixtral-8x7b", 512);
	assert_int_equal(kept_of_layer(&work, 8),
			 16 * h + 4 * q + 4 * kv + 4 * a + 16 * f + 32 + 8 * h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gated_layer_keeps_its_table),
		cmocka_unit_test(adapters_keep_their_inputs),
		cmocka_unit_test(a_gelu_layer_is_that_of_the_paper),
		cmocka_unit_test(a_pipeline_holds_micro_batches),
		cmocka_unit_test(other_layers_keep_theirs),
	};

	return cmocka_run_group_tests(tests, models_open, models_close);
}
