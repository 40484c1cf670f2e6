/* What would save memory in a run: which changes, ranked, and together. */
/* SPDX-License-Identifier: MIT */
/* USES estimator */
#include "estimator/options.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define GIB (INT64_C(1) << 30)

static const struct model_facts llama = {
	.family = MODEL_LLAMA,
	.layers = 32,
	.hidden = 4096,
	.heads = 32,
	.kv_heads = 8,
	.head_dim = 128,
	.ffn = 14336,
	.vocab = 128256,
	.layer_norms = 2,
	.is_gated = true,
};

static struct workload plain(void)
{
	return (struct workload){ .model = &llama,
				  .micro_batch = 8,
				  .sequence = 2048,
				  .regime = REGIME_AMP };
}

static const struct memory_option *find(const struct memory_option *options,
					int count, enum memory_option_kind kind)
{
	for (int i = 0; i < count; i++)
		if (options[i].kind == kind)
			return &options[i];
	return NULL;
}

static void each_kind_has_words_of_its_own(void **state)
{
	(void)state;
	for (int i = 0; i < MEMORY_OPTION_KINDS; i++) {
		const char *name =
			memory_option_name((enum memory_option_kind)i);

		assert_true(strlen(name) > 0);
		assert_true(strlen(memory_option_words(
				    (enum memory_option_kind)i)) > 0);
		assert_true(strlen(memory_option_cost(
				    (enum memory_option_kind)i)) > 0);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(
				name,
				memory_option_name((enum memory_option_kind)j));
	}
}

struct row {
	const char *name;
	void (*change)(struct workload *run);
	enum memory_option_kind kind;
	bool is_offered;
};

static void nothing(struct workload *run)
{
	(void)run;
}

static void eager(struct workload *run)
{
	run->attention = ATTENTION_EAGER;
}

static void checkpointed(struct workload *run)
{
	run->checkpointing = CHECKPOINT_FULL;
}

static void adapted(struct workload *run)
{
	run->peft = PEFT_LORA;
	run->rank = 8;
	run->regime = REGIME_BF16;
}

static void both(struct workload *run)
{
	adapted(run);
	checkpointed(run);
}

static void generating(struct workload *run)
{
	run->task = TASK_INFERENCE;
	run->regime = REGIME_BF16;
}

static void serving(struct workload *run)
{
	generating(run);
	run->data_parallel = 2;
	run->sharding = SHARD_DDP;
}

static void replicated(struct workload *run)
{
	run->micro_batch = 1;
	run->data_parallel = 2;
	run->sharding = SHARD_DDP;
}

static void judged(struct workload *run)
{
	adapted(run);
	run->resident_count = 1;
	run->residents[0] =
		(struct resident){ .parameters = INT64_C(14000000000),
				   .regime = REGIME_BF16 };
}

static void small_optimizer(struct workload *run)
{
	run->optimizer = optimizer_find("adamw_8bit");
}

static void single(struct workload *run)
{
	run->micro_batch = 1;
}

static void keeping(struct workload *run)
{
	run->keeps_gradients = true;
}

static void completing(struct workload *run)
{
	adapted(run);
	run->task = TASK_GRPO;
	run->completion = 1024;
}

static void sharded(struct workload *run)
{
	run->sharding = SHARD_FSDP;
	run->data_parallel = 8;
}

static const struct row rows[] = {
	{ "checkpointing of a plain run", nothing, MEMORY_CHECKPOINTING, true },
	{ "not of one that has it", checkpointed, MEMORY_CHECKPOINTING, false },
	{ "but then on the host", both, MEMORY_CHECKPOINTS_OFFLOAD, true },
	{ "flash instead of eager", eager, MEMORY_FLASH, true },
	{ "not where it is", nothing, MEMORY_FLASH, false },
	{ "8-bit states", nothing, MEMORY_OPTIMIZER, true },
	{ "not of 8-bit states", small_optimizer, MEMORY_OPTIMIZER, false },
	{ "bf16 instead of amp", single, MEMORY_PRECISION, true },
	{ "not of bf16", adapted, MEMORY_PRECISION, false },
	{ "LoRA of a full training", single, MEMORY_LORA, true },
	{ "not of LoRA", adapted, MEMORY_LORA, false },
	{ "QLoRA of LoRA", adapted, MEMORY_QUANTIZE, true },
	{ "4-bit weights to generate", generating, MEMORY_WEIGHTS_4_BIT, true },
	{ "8-bit ones", generating, MEMORY_WEIGHTS_FP8, true },
	{ "no adapters to generate", generating, MEMORY_QUANTIZE, false },
	{ "nor frozen weights", generating, MEMORY_INT8, false },
	{ "chunks of a prompt", generating, MEMORY_PREFILL_CHUNK, true },
	{ "not in training", nothing, MEMORY_PREFILL_CHUNK, false },
	{ "no sharing on one GPU", generating, MEMORY_TENSOR_PARALLEL, false },
	{ "but on several", serving, MEMORY_TENSOR_PARALLEL, true },
	{ "an 8-bit cache", generating, MEMORY_KV_CACHE, true },
	{ "no checkpoints to generate", generating, MEMORY_CHECKPOINTING,
	  false },
	{ "no cache in training", nothing, MEMORY_KV_CACHE, false },
	{ "accumulation of a batch", nothing, MEMORY_ACCUMULATION, true },
	{ "not of one sample", single, MEMORY_ACCUMULATION, false },
	{ "an evaluator in 8 bit", judged, MEMORY_EVALUATOR_INT8, true },
	{ "in 4 bit", judged, MEMORY_EVALUATOR_NF4, true },
	{ "a smaller one", judged, MEMORY_EVALUATOR_SMALLER, true },
	{ "not where there is none", nothing, MEMORY_EVALUATOR_INT8, false },
	{ "gradients freed", keeping, MEMORY_FREE_GRADIENTS, true },
	{ "a shorter completion", completing, MEMORY_COMPLETION, true },
	{ "a shorter sequence", nothing, MEMORY_SEQUENCE, true },
	{ "no sharding of one GPU", single, MEMORY_SHARDING, false },
	{ "but of several", replicated, MEMORY_SHARDING, true },
	{ "not of what is", sharded, MEMORY_SHARDING, false },
	{ "states on the host", single, MEMORY_OFFLOAD_OPTIMIZER, true },
	{ "a fused loss", nothing, MEMORY_FUSED_LOSS, true },
};

static void what_changes_something_is_offered(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		static struct memory_option options[MEMORY_OPTION_KINDS];
		struct workload run = plain();
		struct error err = ERROR_INIT;
		int count;

		rows[i].change(&run);
		count = estimate_options(&run, 24 * GIB, options,
					 MEMORY_OPTION_KINDS, &err);
		if (count < 0)
			fail_msg("%s: %s", rows[i].name, err.message);
		if ((find(options, count, rows[i].kind) != NULL) !=
		    rows[i].is_offered)
			fail_msg("%s", rows[i].name);
	}
}

static void the_most_bytes_come_first(void **state)
{
	static struct memory_option all[MEMORY_OPTION_KINDS], some[3];
	struct workload run = plain();
	struct estimate before;
	int count;

	(void)state;
	assert_int_equal(estimate_memory(&run, &before, NULL), 0);
	count = estimate_options(&run, 24 * GIB, all, MEMORY_OPTION_KINDS,
				 NULL);
	assert_true(count > 3);
	for (int i = 0; i < count; i++) {
		assert_true(i == 0 ||
			    all[i - 1].saved_bytes >= all[i].saved_bytes);
		assert_true(all[i].saved_bytes + all[i].peak_bytes ==
			    before.peak[TIER_PROCESS]);
		assert_int_equal(all[i].fits, all[i].high_bytes <= 24 * GIB);
	}
	assert_int_equal(estimate_options(&run, 24 * GIB, some, 3, NULL), 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(some[i].kind, all[i].kind);
	assert_int_equal(estimate_options(&run, 24 * GIB, some, 0, NULL), 0);
}

static void accumulation_keeps_the_batch(void **state)
{
	static struct memory_option options[MEMORY_OPTION_KINDS];
	const struct memory_option *found;

	(void)state;
	for (int64_t batch = 2; batch <= 48; batch++) {
		struct workload run = plain();
		int count;

		run.micro_batch = batch;
		run.grad_accum = 3;
		run.peft = PEFT_LORA;
		run.rank = 8;
		run.regime = REGIME_BF16;
		count = estimate_options(&run, 80 * GIB, options,
					 MEMORY_OPTION_KINDS, NULL);
		found = find(options, count, MEMORY_ACCUMULATION);
		assert_non_null(found);
		assert_true(found->changed.micro_batch *
				    found->changed.grad_accum ==
			    3 * batch);
		assert_true(found->changed.micro_batch < batch);
	}
}

static void few_changes_are_joined(void **state)
{
	enum memory_option_kind kinds[MEMORY_OPTION_KINDS];
	struct memory_option option;
	struct workload run = plain();
	int count = estimate_combination(&run, 24 * GIB, kinds, &option, NULL);

	(void)state;
	assert_true(count > 1);
	assert_true(option.fits && option.high_bytes <= 24 * GIB);
	/* More GPUs are not needed where adapters do. */
	for (int i = 0; i < count; i++)
		assert_int_not_equal(kinds[i], MEMORY_SHARDING);
	/* Nothing is needed. */
	run.micro_batch = 1;
	assert_int_equal(
		estimate_combination(&run, 1024 * GIB, kinds, &option, NULL),
		0);
	assert_true(option.fits);
	/* Nothing is enough. */
	assert_int_equal(
		estimate_combination(&run, GIB / 4, kinds, &option, NULL), 0);
	assert_false(option.fits);
}

static void several_gpus_share_first(void **state)
{
	enum memory_option_kind kinds[MEMORY_OPTION_KINDS];
	struct memory_option option;
	struct workload run = plain();

	(void)state;
	run.micro_batch = 1;
	run.sharding = SHARD_DDP;
	run.data_parallel = 8;
	assert_true(estimate_combination(&run, 79 * GIB, kinds, &option,
					 NULL) >= 1);
	assert_int_equal(kinds[0], MEMORY_SHARDING);
	assert_int_equal(option.changed.data_parallel, 8);
}

static void a_wrong_run_is_an_error(void **state)
{
	enum memory_option_kind kinds[MEMORY_OPTION_KINDS];
	struct memory_option option;
	struct workload run = plain();
	struct error err = ERROR_INIT;

	(void)state;
	run.micro_batch = -1;
	assert_true(estimate_options(&run, GIB, &option, 1, &err) < 0);
	assert_non_null(strstr(err.message, "micro_batch"));
	assert_true(estimate_combination(&run, GIB, kinds, &option, &err) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_has_words_of_its_own),
		cmocka_unit_test(what_changes_something_is_offered),
		cmocka_unit_test(the_most_bytes_come_first),
		cmocka_unit_test(accumulation_keeps_the_batch),
		cmocka_unit_test(few_changes_are_joined),
		cmocka_unit_test(several_gpus_share_first),
		cmocka_unit_test(a_wrong_run_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
