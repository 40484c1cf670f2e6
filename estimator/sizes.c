/* Widths, tokens and counts that the terms are computed from. Pure. */
/* SPDX-License-Identifier: MIT */
#include "estimator/estimator_internal.h"

#include <assert.h>
#include <errno.h>

static int64_t at_least_one(int64_t count)
{
	return count_most(count, 1);
}

/* Compressed attention expands keys and values for all heads. */
static void widths_compressed(const struct model_facts *model,
			      struct widths *widths)
{
	int64_t head = count_add(model->nope_dim, model->rope_dim);

	widths->query = count_mul(model->heads, head);
	widths->key = widths->query;
	widths->value = count_mul(model->heads, model->value_dim);
	widths->output = widths->value;
	widths->compressed = count_add(model->kv_rank, model->rope_dim);
}

/*
 * Eager attention always copies the heads of keys and values until there are
 * as many as of queries (repeat_kv); others only where they are told to.
 */
static void widths_fill(struct sizes *sizes)
{
	const struct model_facts *model = &sizes->model;
	struct widths *widths = &sizes->widths;
	bool repeats = sizes->work->repeats_kv ||
		       sizes->work->attention == ATTENTION_EAGER;

	widths->hidden = model->hidden;
	widths->heads = model->heads;
	widths->cached_key = count_mul(model->kv_heads, model->head_dim);
	widths->cached_value = widths->cached_key;
	if (model->kv_rank) {
		widths_compressed(model, widths);
		return;
	}
	widths->query = count_mul(model->heads, model->head_dim);
	widths->key = repeats ? widths->query : widths->cached_key;
	widths->value = widths->key;
	widths->output = widths->query;
}

/* A patch is a token; the class is one more. */
static int64_t image_tokens(const struct model_facts *model)
{
	int64_t side = model->image / at_least_one(model->patch);

	assert(side >= 0);
	return count_add(count_mul(side, side), 1);
}

static void tokens_fill(struct sizes *sizes)
{
	const struct workload *work = sizes->work;
	const struct model_facts *model = &sizes->model;
	int64_t sequence = work->sequence;
	int64_t decoder =
		work->decoder_sequence ? work->decoder_sequence : sequence;
	int64_t counted;

	if (model->family == MODEL_VIT)
		sequence = decoder = image_tokens(model);
	/* Sound is as long as there are positions for it. */
	if (model->family == MODEL_WHISPER)
		sequence = model->positions;
	if (model->family == MODEL_COUNTED || model->family == MODEL_CONV)
		sequence = 1;
	if (!model_family_has_decoder(model->family))
		decoder = sequence;
	counted = work->completion ? work->completion : decoder;
	/* Both answers of a pair go through the model at once (trl@f2cd577:
	 * trl/trainer/dpo_trainer.py). */
	sizes->sequences =
		count_mul(work->micro_batch, work->task == TASK_DPO ? 2 : 1);
	/* logits_to_keep is one more than the completion: the token before it
	 * predicts its first. */
	if (work->task == TASK_GRPO && work->completion)
		counted = count_least(counted + 1, decoder);
	if (work->peft == PEFT_PROMPT) {
		sequence = count_add(sequence, work->rank);
		decoder = count_add(decoder, work->rank);
	}
	sizes->keys[0] = sequence;
	sizes->keys[1] = decoder;
	for (int i = 0; i < STACKS_MAX; i++)
		sizes->tokens[i] =
			count_share(count_mul(sizes->sequences, sizes->keys[i]),
				    sizes->context);
	sizes->loss_tokens = count_share(count_mul(sizes->sequences, counted),
					 sizes->context);
}

static void parallel_fill(struct sizes *sizes)
{
	const struct workload *work = sizes->work;

	sizes->accum = at_least_one(work->grad_accum);
	sizes->data = at_least_one(work->data_parallel);
	sizes->tensor = at_least_one(work->tensor_parallel);
	sizes->pipeline = at_least_one(work->pipeline_parallel);
	sizes->context = at_least_one(work->context_parallel);
	sizes->expert = at_least_one(work->expert_parallel);
	assert(sizes->data >= 1 && sizes->tensor >= 1 && sizes->pipeline >= 1);
}

/*
 * The first stage of a pipeline has the embedding, the last one the head: the
 * larger of them counts. A tied head is a copy of the embedding there.
 */
static int64_t outside_on_gpu(const struct sizes *sizes, int64_t outside)
{
	const struct model_shape *shape = &sizes->shape;

	if (sizes->pipeline == 1)
		return outside;
	return count_add(count_most(shape->embedding, shape->head),
			 shape->other);
}

static void counts_fill(struct sizes *sizes)
{
	const struct model_parts *parts = &sizes->parts;
	int64_t stages = sizes->pipeline;
	int64_t experts =
		count_share(count_share(parts->experts, stages), sizes->expert);
	int64_t dense =
		count_share(count_above(parts->layers, parts->experts), stages);
	int64_t outside = count_above(sizes->shape.total, parts->layers);
	int64_t linear =
		count_share(count_above(parts->linear, parts->experts), stages);

	if (sizes->work->lightning_quantizer)
		linear = count_add(linear, sizes->shape.head);
	sizes->parameters = sizes->shape.total;
	sizes->on_gpu = count_add(count_add(dense, experts),
				  outside_on_gpu(sizes, outside));
	sizes->on_gpu = count_share(sizes->on_gpu, sizes->tensor);
	sizes->linear_on_gpu =
		count_share(count_add(linear, experts), sizes->tensor);
	sizes->experts_on_gpu = count_share(experts, sizes->tensor);
	sizes->layer_on_gpu = count_share(parts->layer, sizes->tensor);
	sizes->outside = count_share(
		count_most(sizes->shape.embedding, sizes->shape.head),
		sizes->tensor);
	assert(parts->experts <= parts->layers);
	assert(sizes->experts_on_gpu <= sizes->linear_on_gpu);
}

/* Adapters lie on the GPUs as the layers do. */
static void trainable_fill(struct sizes *sizes)
{
	const struct workload *work = sizes->work;
	int64_t layers = count_mul(work->trained_layers, sizes->parts.layer);

	if (!has_training(work))
		return;
	sizes->trains_all = work->peft == PEFT_NONE;
	sizes->trains_adapters =
		!sizes->trains_all && work->peft != PEFT_FREEZE;
	if (sizes->trains_all) {
		sizes->trained = sizes->parameters;
		sizes->trainable = sizes->on_gpu;
	} else if (sizes->trains_adapters) {
		sizes->trained = peft_parameters(sizes);
		sizes->trainable =
			count_share(count_share(sizes->trained, sizes->tensor),
				    sizes->pipeline);
	} else {
		sizes->trained = count_least(layers, sizes->parameters);
		sizes->trainable = count_least(
			count_share(layers, sizes->tensor), sizes->on_gpu);
	}
	assert(!sizes->trains_all || !sizes->trains_adapters);
	assert(sizes->trained >= 0 && sizes->trainable >= 0);
}

int sizes_fill(struct sizes *sizes, const struct workload *work,
	       struct error *err)
{
	int result;

	*sizes = (struct sizes){ .work = work, .model = *work->model };
	model_facts_complete(&sizes->model);
	/* LitGPT's models have a head of their own, whatever the model's is
	 * (litgpt: scripts/convert_hf_checkpoint.py). */
	if (work->lightning_quantizer)
		sizes->model.is_tied = false;
	result = model_shape(&sizes->model, &sizes->shape, err);
	if (result < 0)
		return result;
	if (!sizes->shape.stack_count) {
		sizes->is_guessed = true;
		shape_guess(&sizes->model, &sizes->shape);
	}
	/* What a scan keeps depends on its kernel. */
	if (sizes->model.family == MODEL_MAMBA ||
	    (sizes->model.family == MODEL_COUNTED &&
	     work->checkpointing != CHECKPOINT_NONE))
		sizes->is_guessed = true;
	model_parts(&sizes->shape, &sizes->parts);
	sizes->parts.layers =
		count_least(sizes->parts.layers, sizes->shape.total);
	sizes->element = work->regime == REGIME_FP32 ? 4 : 2;
	assert(sizes->shape.stack_count <= STACKS_MAX);
	parallel_fill(sizes);
	widths_fill(sizes);
	tokens_fill(sizes);
	counts_fill(sizes);
	trainable_fill(sizes);
	if (sizes->tokens[0] == COUNT_OVERFLOW ||
	    sizes->tokens[1] == COUNT_OVERFLOW)
		return error_set(err, -ERANGE,
				 "micro_batch %lld x sequence %lld: more "
				 "tokens than 63 bits count",
				 (long long)work->micro_batch,
				 (long long)work->sequence);
	return 0;
}

bool has_training(const struct workload *work)
{
	return work->task != TASK_INFERENCE;
}
