/* The changes that save memory: how each is made to a run. */
/* SPDX-License-Identifier: MIT */
#include "estimator/options_rules.h"

/* Shorter samples teach little. */
#define SEQUENCE_LEAST 256
/* One node. */
#define GPUS_MOST 8
/* Optimizers with less need no other one. */
#define STATE_BYTES_LARGE 4.0

static bool trains(const struct workload *run)
{
	return run->task != TASK_INFERENCE;
}

static bool trains_all(const struct workload *run)
{
	return trains(run) && run->peft == PEFT_NONE;
}

static bool free_gradients(struct workload *run)
{
	bool changes = trains(run) && run->keeps_gradients;

	run->keeps_gradients = false;
	return changes;
}

static bool flash(struct workload *run)
{
	bool changes = run->attention == ATTENTION_EAGER;

	run->attention = ATTENTION_FLASH;
	return changes;
}

static bool fused_step(struct workload *run)
{
	bool changes = trains(run) && !run->fused_step;

	run->fused_step = true;
	return changes;
}

static bool fused_loss(struct workload *run)
{
	bool changes = trains(run) && run->model->vocab &&
		       run->loss != LOSS_FUSED && run->loss != LOSS_NONE;

	run->loss = LOSS_FUSED;
	return changes;
}

static bool engine_sleep(struct workload *run)
{
	bool changes = run->engine_share > 0 && !run->engine_sleeps;

	run->engine_sleeps = true;
	return changes;
}

/* The largest part of the batch that fits, and divides it; else one sample. */
static bool accumulate(struct workload *run)
{
	int64_t batch = run->micro_batch;
	int64_t accum = run->grad_accum ? run->grad_accum : 1;
	int64_t most;

	if (!trains(run) || batch <= 1 ||
	    __builtin_mul_overflow(accum, batch, &accum))
		return false;
	most = run->gpu_bytes ? estimate_largest(run, run->gpu_bytes, false,
						 batch - 1, NULL)
			      : batch / 2;
	run->micro_batch = most > 1 ? most : 1;
	while (batch % run->micro_batch != 0)
		run->micro_batch--;
	run->grad_accum = accum / run->micro_batch;
	return true;
}

static bool checkpoint(struct workload *run)
{
	bool changes = trains(run) && run->checkpointing == CHECKPOINT_NONE;

	run->checkpointing = CHECKPOINT_FULL;
	return changes;
}

static bool offload_checkpoints(struct workload *run)
{
	bool changes = trains(run) && run->checkpointing == CHECKPOINT_FULL;

	run->checkpointing = CHECKPOINT_OFFLOADED;
	return changes;
}

static bool options_rules_small_optimizer(struct workload *run)
{
	const struct optimizer *small = optimizer_find("adamw_8bit");

	if (!trains(run) || !small ||
	    (run->optimizer && run->optimizer->state_bytes < STATE_BYTES_LARGE))
		return false;
	run->optimizer = small;
	return true;
}

/* The weights of all models beside the trained one that are wider. */
static bool quantize_residents(struct workload *run, enum weights weights)
{
	bool changes = false;

	for (size_t i = 0; i < run->resident_count; i++) {
		if (run->residents[i].weights != WEIGHTS_AS_COMPUTED)
			continue;
		run->residents[i].weights = weights;
		changes = true;
	}
	return changes;
}

static bool evaluator_int8(struct workload *run)
{
	return quantize_residents(run, WEIGHTS_INT8);
}

static bool evaluator_nf4(struct workload *run)
{
	return quantize_residents(run, WEIGHTS_NF4);
}

static bool evaluator_smaller(struct workload *run)
{
	for (size_t i = 0; i < run->resident_count; i++)
		run->residents[i].parameters /= 2;
	return run->resident_count > 0;
}

static bool small_cache(struct workload *run)
{
	bool changes = run->kv_bits == 0 || run->kv_bits > 8;

	run->kv_bits = 8;
	return changes;
}

/* On as many GPUs as there are, or the fewest more that are enough; who has one
 * GPU is not told to share. */
static bool shard(struct workload *run)
{
	int64_t gpus = run->data_parallel;
	struct estimate estimate;

	if (!trains(run) || run->data_parallel <= 1 ||
	    run->sharding > SHARD_ZERO2)
		return false;
	run->sharding = SHARD_FSDP;
	for (; gpus <= GPUS_MOST; gpus *= 2) {
		run->data_parallel = gpus;
		if (estimate_memory(run, &estimate, NULL) < 0)
			return false;
		if (estimate.high[TIER_PROCESS] <= run->gpu_bytes)
			break;
	}
	return true;
}

/* GPUs that each held all of the model hold a part of each layer. */
static bool share_layers(struct workload *run)
{
	if (trains(run) || run->data_parallel <= 1 || run->tensor_parallel > 1)
		return false;
	run->tensor_parallel = run->data_parallel;
	run->data_parallel = 1;
	run->sharding = SHARD_NONE;
	return true;
}

static bool offload_optimizer(struct workload *run)
{
	bool changes = trains_all(run) && run->offload == OFFLOAD_NONE;

	run->offload = OFFLOAD_OPTIMIZER;
	return changes;
}

static bool offload_all(struct workload *run)
{
	bool changes = trains_all(run) && run->offload != OFFLOAD_ALL;

	run->offload = OFFLOAD_ALL;
	return changes;
}

static bool lower_precision(struct workload *run)
{
	bool changes = run->regime != REGIME_BF16 && run->regime != REGIME_FP8;

	run->regime = REGIME_BF16;
	return changes;
}

static bool int8(struct workload *run)
{
	bool changes = trains(run) && !trains_all(run) &&
		       run->weights == WEIGHTS_AS_COMPUTED;

	run->weights = WEIGHTS_INT8;
	return changes;
}

/* Weights that are not trained need no fp32 copy. */
static bool options_rules_lora(struct workload *run)
{
	bool changes = trains_all(run);

	run->peft = PEFT_LORA;
	run->rank = LORA_RANK;
	if (run->regime != REGIME_FP8)
		run->regime = REGIME_BF16;
	return changes;
}

static bool quantize(struct workload *run)
{
	bool changes = trains(run) && run->weights < WEIGHTS_NF4;

	if (trains_all(run))
		(void)options_rules_lora(run);
	run->residual_fp32 = true;
	run->weights = WEIGHTS_NF4_DOUBLE;
	return changes;
}

/* Weights that are only read. */
static bool weights_fp8(struct workload *run)
{
	bool changes = !trains(run) && run->regime != REGIME_FP8 &&
		       run->weights == WEIGHTS_AS_COMPUTED;

	run->regime = REGIME_BF16;
	run->weights = WEIGHTS_FP8;
	return changes;
}

static bool weights_4_bit(struct workload *run)
{
	bool changes = !trains(run) && run->weights < WEIGHTS_NF4;

	run->regime = REGIME_BF16;
	run->weights = WEIGHTS_GPTQ4;
	return changes;
}

/* The least that vLLM takes by itself. */
#define PREFILL_CHUNK 2048

static bool chunk_prefill(struct workload *run)
{
	bool changes = !trains(run) && (run->prefill_chunk == 0 ||
					run->prefill_chunk > PREFILL_CHUNK);

	run->prefill_chunk = PREFILL_CHUNK;
	return changes;
}

static bool shorter_completion(struct workload *run)
{
	int64_t saved = run->completion / 2;

	if (run->completion < SEQUENCE_LEAST || saved >= run->sequence)
		return false;
	run->completion -= saved;
	run->sequence -= saved;
	return true;
}

static bool shorter_sequence(struct workload *run)
{
	if (run->model->image || run->sequence / 2 < SEQUENCE_LEAST)
		return false;
	run->sequence /= 2;
	if (run->completion > run->sequence)
		run->completion = run->sequence;
	return true;
}

/*
 * Costs: recomputing is one more forward pass of three passes' work; the
 * others as their makers measure them, in words where no number holds for all.
 */
const struct option_rule option_rules[MEMORY_OPTION_KINDS] = {
	[MEMORY_FREE_GRADIENTS] = { "free_gradients",
				    "free gradients between steps "
				    "(zero_grad with set_to_none)",
				    "none", free_gradients },
	[MEMORY_FLASH] = { "attention", "flash attention or SDPA",
			   "none: it is faster", flash },
	[MEMORY_FUSED_STEP] = { "fused_step", "fused optimizer step",
				"none: it is faster", fused_step },
	[MEMORY_FUSED_LOSS] = { "loss",
				"loss fused with the head (Liger, cut cross "
				"entropy)",
				"about none", fused_loss },
	[MEMORY_ENGINE_SLEEP] = { "engine_sleep",
				  "let the generation engine sleep while "
				  "training",
				  "seconds per step to wake it", engine_sleep },
	[MEMORY_ACCUMULATION] = { "accumulation",
				  "smaller batch with more accumulation",
				  "the same work, slower where the GPU is not "
				  "full",
				  accumulate },
	[MEMORY_CHECKPOINTING] = { "checkpointing", "activation checkpointing",
				   "20 to 35% slower", checkpoint },
	[MEMORY_CHECKPOINTS_OFFLOAD] = { "checkpoints_offload",
					 "checkpoints in host memory",
					 "0 to 10% slower",
					 offload_checkpoints },
	[MEMORY_PREFILL_CHUNK] = { "prefill_chunk",
				   "prompts in chunks of 2048 tokens (vLLM)",
				   "about none", chunk_prefill },
	[MEMORY_WEIGHTS_FP8] = { "weights_fp8", "weights in 8 bit (fp8)",
				 "faster where the GPU multiplies fp8",
				 weights_fp8 },
	[MEMORY_WEIGHTS_4_BIT] = { "weights_4_bit",
				   "weights in 4 bit (AWQ, GPTQ)",
				   "answers are a little less exact",
				   weights_4_bit },
	[MEMORY_TENSOR_PARALLEL] = { "tensor_parallel",
				     "each layer shared by the GPUs (tensor "
				     "parallel)",
				     "traffic between them each layer",
				     share_layers },
	[MEMORY_OPTIMIZER] = { "optimizer", "8-bit AdamW", "about none",
			       options_rules_small_optimizer },
	[MEMORY_EVALUATOR_INT8] = { "evaluator_int8", "other models in 8 bit",
				    "they answer up to 2x slower",
				    evaluator_int8 },
	[MEMORY_KV_CACHE] = { "kv_cache", "8-bit KV cache", "about none",
			      small_cache },
	[MEMORY_SHARDING] = { "sharding", "sharding over GPUs (FSDP, ZeRO-3)",
			      "more GPUs; traffic between them each step",
			      shard },
	[MEMORY_OFFLOAD_OPTIMIZER] = { "offload_optimizer",
				       "optimizer states in host memory",
				       "steps 1.5 to 3x slower; least with "
				       "accumulation",
				       offload_optimizer },
	[MEMORY_PRECISION] = { "precision", "everything in bf16",
			       "faster; small updates round away",
			       lower_precision },
	[MEMORY_INT8] = { "int8", "frozen weights in 8 bit", "20 to 50% slower",
			  int8 },
	[MEMORY_EVALUATOR_NF4] = { "evaluator_nf4", "other models in 4 bit",
				   "they answer less exactly", evaluator_nf4 },
	[MEMORY_LORA] = { "lora", "LoRA instead of all weights",
			  "faster; adapters only are trained",
			  options_rules_lora },
	[MEMORY_QUANTIZE] = { "quantize", "frozen weights in 4 bit (QLoRA)",
			      "20 to 40% slower; adapters only are trained",
			      quantize },
	[MEMORY_EVALUATOR_SMALLER] = { "evaluator_smaller",
				       "other models of half the size",
				       "they judge less well",
				       evaluator_smaller },
	[MEMORY_COMPLETION] = { "completion", "completions half as long",
				"faster; long ones are cut",
				shorter_completion },
	[MEMORY_SEQUENCE] = { "sequence", "sequences half as long",
			      "faster; long samples are cut",
			      shorter_sequence },
	[MEMORY_OFFLOAD_ALL] = { "offload_all",
				 "weights and states in host memory",
				 "several times slower", offload_all },
};
