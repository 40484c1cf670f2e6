/* Usual ways to train or run a model, to compare them. */
/* SPDX-License-Identifier: MIT */
#include "launcher/estimate/estimate_recipes.h"

static const struct {
	const char *name, *title;
	enum task task;
	enum peft peft;
	enum weights weights;
	enum regime regime;
} recipes[RECIPES] = {
	[RECIPE_FULL] = { "full", "full", TASK_TRAIN, PEFT_NONE,
			  WEIGHTS_AS_COMPUTED, REGIME_AMP },
	[RECIPE_LORA] = { "lora", "LoRA", TASK_TRAIN, PEFT_LORA,
			  WEIGHTS_AS_COMPUTED, REGIME_BF16 },
	[RECIPE_QLORA] = { "qlora", "QLoRA", TASK_TRAIN, PEFT_LORA,
			   WEIGHTS_NF4_DOUBLE, REGIME_BF16 },
	[RECIPE_GENERATION] = { "generation", "generation", TASK_INFERENCE,
				PEFT_NONE, WEIGHTS_AS_COMPUTED, REGIME_BF16 },
};

const char *recipe_title(enum recipe recipe)
{
	return recipes[recipe].title;
}

void recipe_apply(enum recipe recipe, const struct estimate_request *request,
		  struct workload *run)
{
	run->weights = recipes[recipe].weights;
	run->peft = recipes[recipe].peft;
	if (run->peft != PEFT_NONE && !run->rank)
		run->rank = LORA_RANK;
	if (recipe == RECIPE_GENERATION || run->task == TASK_INFERENCE)
		run->task = recipes[recipe].task;
	if (recipe == RECIPE_GENERATION && request->has_weights)
		run->weights = request->run.weights;
	run->regime = request->has_regime ? request->run.regime
					  : recipes[recipe].regime;
	/* Frozen weights are cast once, not in each pass. */
	if (recipe != RECIPE_FULL && run->regime != REGIME_FP32)
		run->regime = REGIME_BF16;
	if (recipe != RECIPE_GENERATION && !request->has_checkpointing)
		run->checkpointing = CHECKPOINT_FULL;
	if (recipe == RECIPE_GENERATION)
		run->checkpointing = CHECKPOINT_NONE;
	run->residual_fp32 = request->residual_bits
				     ? request->residual_bits == 32
				     : recipe == RECIPE_QLORA;
}

void recipe_spread(enum recipe recipe, int64_t count, struct workload *run)
{
	run->pipeline_parallel = run->context_parallel = 0;
	run->expert_parallel = 0;
	run->tensor_parallel = recipe == RECIPE_GENERATION ? count : 0;
	run->data_parallel = recipe == RECIPE_GENERATION ? 1 : count;
	run->sharding = count > 1 && recipe != RECIPE_GENERATION ? SHARD_FSDP
								 : SHARD_NONE;
}
