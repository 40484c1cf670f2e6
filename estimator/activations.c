/* Activations of all layers that are kept for the backward pass. Pure. */
/* SPDX-License-Identifier: MIT */
#include "estimator/layer.h"

#include "estimator/shapes.h"

#include <assert.h>

/* Tensor parallel GPUs all have what is not divided, unless sequence parallel
 * divides that too (2205.05198 §4.2.2). */
static int64_t per_gpu(const struct sizes *sizes, int64_t replicated,
		       int64_t divided)
{
	bool divides_all = sizes->work->sequence_parallel;

	return count_add(
		count_share(replicated, divides_all ? sizes->tensor : 1),
		count_share(divided, sizes->tensor));
}

/* torch.compile computes cheap operations again (min-cut): about 15% less. */
#define COMPILED 0.85

static int64_t compiled(const struct sizes *sizes, int64_t bytes)
{
	return sizes->work->is_compiled ? count_scaled(bytes, COMPILED) : bytes;
}

static int64_t layer_total(const struct sizes *sizes, size_t stack,
			   enum layer_mode mode)
{
	struct layer_bytes bytes;
	int64_t sum;

	assert(stack < sizes->shape.stack_count);
	layer_fill(sizes, stack, mode, &bytes);
	sum = count_mul(per_gpu(sizes, bytes.replicated, bytes.divided),
			sizes->tokens[stack]);
	if (is_decoder(sizes, stack))
		sum = count_add(sum, cross_bytes(sizes, mode));
	return compiled(sizes, sum);
}

/*
 * The most while a layer goes backward, more than what it keeps: gradients of
 * two tensors of the MLP and of the residual, or in eager attention copies of
 * the scores. Kept are 6 bytes of a score; with the fp32 gradients of softmax
 * and their narrow copies there are 18 in all where k-bit preparation made the
 * rest fp32, and 14.5 measured else (T4, fitcheck@83aea542:data/measurements).
 */
#define SCORES_AT_WORK_FP32 3.0
#define SCORES_AT_WORK (14.5 / 6)

static int64_t working_bytes(const struct sizes *sizes, size_t stack,
			     enum layer_mode mode)
{
	struct layer_bytes bytes;
	double factor = sizes->work->residual_fp32 ? SCORES_AT_WORK_FP32
						   : SCORES_AT_WORK;
	int64_t width = mlp_at_work(&sizes->shape.stacks[stack]);
	int64_t mlp, scores;

	layer_fill(sizes, stack, mode, &bytes);
	mlp = count_mul(count_add(count_mul(width, 2), sizes->widths.hidden),
			sizes->element);
	scores = count_above(count_scaled(bytes.scores, factor), bytes.scores);
	/* The MLP went backward before attention, what it kept is free. */
	scores = count_above(scores, bytes.mlp);
	return count_mul(count_share(count_most(mlp, scores), sizes->tensor),
			 sizes->tokens[stack]);
}

/* 1F1B: 2205.05198 §4.2.3. */
int64_t micro_batches_held(const struct sizes *sizes)
{
	assert(sizes->pipeline >= 1 && sizes->accum >= 1);
	return count_least(sizes->pipeline, sizes->accum);
}

static int64_t layers_held(const struct sizes *sizes, int64_t layers)
{
	assert(layers >= 0);
	return count_share(count_mul(layers, micro_batches_held(sizes)),
			   sizes->pipeline);
}

/* Layers below the first one that is trained keep nothing. */
static int64_t layers_kept(const struct sizes *sizes, int64_t layers)
{
	if (sizes->work->peft == PEFT_FREEZE)
		layers = count_least(layers, sizes->work->trained_layers);
	return layers_held(sizes, layers);
}

/* Blocks of very different sizes: a guess, and its interval says so. */
#define COUNTED_CHECKPOINTED 0.3
/* Selective checkpointing of operations, as in torchtitan: nearly half. */
#define SELECTIVE 0.45

/* fp32 after k-bit preparation. */
static int64_t residual_element(const struct sizes *sizes)
{
	return sizes->work->residual_fp32 ? 4 : sizes->element;
}

static int64_t block_input(const struct sizes *sizes, size_t stack)
{
	bool is_divided = sizes->work->sequence_parallel;
	int64_t input =
		count_mul(sizes->widths.hidden, residual_element(sizes));

	return count_mul(count_share(input, is_divided ? sizes->tensor : 1),
			 sizes->tokens[stack]);
}

/*
 * As they were counted in the classes themselves: all that autograd saves of a
 * sample of the usual size (torch.autograd.graph.saved_tensors_hooks on models
 * without memory).
 */
static void counted_fill(const struct sizes *sizes,
			 struct activations *activations)
{
	int64_t kept =
		count_mul(count_mul(sizes->model.activations, sizes->sequences),
			  sizes->element);

	if (sizes->work->checkpointing != CHECKPOINT_NONE)
		kept = count_scaled(kept, COUNTED_CHECKPOINTED);
	*activations = (struct activations){ .kept = kept };
}

/* Of all images, what is so many elements of one. */
static int64_t of_images(const struct sizes *sizes, int64_t elements,
			 int64_t bytes)
{
	return count_mul(count_add(count_mul(elements, sizes->element), bytes),
			 sizes->sequences);
}

/* Checkpoints are taken between blocks, one of which is computed again. */
static void conv_fill(const struct sizes *sizes,
		      struct activations *activations)
{
	const struct conv_totals *conv = &sizes->shape.conv;
	enum checkpointing checkpointing = sizes->work->checkpointing;
	bool has_gradients = sizes->accum > 1 || sizes->work->keeps_gradients;
	int64_t gradient = regime_bytes(sizes->work->regime)->gradients;

	*activations = (struct activations){
		.kept = of_images(sizes, conv->kept, conv->kept_bytes),
	};
	if (checkpointing == CHECKPOINT_NONE) {
		activations->working = conv_working(
			&sizes->model, conv, sizes->sequences, sizes->element,
			has_gradients ? 0 : gradient);
		return;
	}
	if (checkpointing == CHECKPOINT_SELECTIVE) {
		activations->kept = count_scaled(activations->kept, SELECTIVE);
		return;
	}
	activations->kept = of_images(sizes, conv->inputs, 0);
	if (checkpointing == CHECKPOINT_OFFLOADED)
		activations->kept = 0;
	activations->working = activations->layer =
		of_images(sizes, conv->block, 0);
}

static int64_t stack_kept(const struct sizes *sizes, size_t stack,
			  enum layer_mode mode)
{
	int64_t layers = sizes->shape.stacks[stack].layers;
	int64_t all = count_mul(layer_total(sizes, stack, mode),
				layers_kept(sizes, layers));

	switch (sizes->work->checkpointing) {
	case CHECKPOINT_FULL:
		return count_mul(block_input(sizes, stack),
				 layers_held(sizes, layers));
	case CHECKPOINT_OFFLOADED:
		return count_mul(block_input(sizes, stack),
				 count_least(layers, 2));
	case CHECKPOINT_SELECTIVE:
		return count_scaled(all, SELECTIVE);
	case CHECKPOINT_NONE:
		break;
	}
	return all;
}

/* The last norm, and the input of the head: 4sb(1 + v/h)h in 2205.05198. An
 * encoder ends alike, its last norm is the input of every cross attention. */
static int64_t end_bytes(const struct sizes *sizes, enum layer_mode mode)
{
	bool is_rms = has_rms_norms(sizes->model.family);
	int64_t trained = mode == LAYER_TRAINED ? sizes->element : 0;
	int64_t width = is_rms ? NORM_FP32_BYTES + 2 * trained
			       : sizes->element + trained;
	int64_t tokens = sizes->tokens[1];

	if (is_decoder(sizes, 1))
		tokens = count_add(tokens, sizes->tokens[0]);
	return count_mul(count_mul(sizes->widths.hidden, width), tokens);
}

/*
 * Eager attention of a decoder adds a mask to its scores, one for all layers
 * and as wide as the residual stream (hf:masking_utils.py); T4 runs differ by
 * exactly that where the loss is the peak.
 */
static int64_t mask_bytes(const struct sizes *sizes)
{
	bool looks_everywhere = !model_family_has_words(sizes->model.family);
	int64_t pairs = count_mul(sizes->tokens[1], sizes->keys[1]);

	if (sizes->work->attention != ATTENTION_EAGER || looks_everywhere)
		return 0;
	return count_mul(pairs, residual_element(sizes));
}

static bool computes_again(const struct sizes *sizes)
{
	return sizes->work->checkpointing == CHECKPOINT_FULL ||
	       sizes->work->checkpointing == CHECKPOINT_OFFLOADED;
}

/*
 * FSDP reshards a frozen unit when all its inputs have their gradients, and the
 * hook for that (register_multi_grad_hook in _register_post_backward_reshard_
 * only_hook, pt:torch/distributed/fsdp/_runtime_utils.py) holds the inputs and
 * the gradients of every checkpointed block until the backward pass is over.
 */
static bool holds_inputs(const struct sizes *sizes)
{
	enum sharding sharding = sizes->work->sharding;

	return sizes->data > 1 && sizes->trains_adapters &&
	       computes_again(sizes) &&
	       (sharding == SHARD_FSDP || sharding == SHARD_FSDP_GRAD_OP);
}

static int64_t stack_held(const struct sizes *sizes, size_t stack)
{
	int64_t layers = sizes->shape.stacks[stack].layers;

	if (!holds_inputs(sizes))
		return 0;
	return count_mul(count_mul(block_input(sizes, stack), 2),
			 layers_held(sizes, layers));
}

void activations_fill(const struct sizes *sizes,
		      struct activations *activations)
{
	bool is_frozen = !sizes->trains_all && sizes->work->peft != PEFT_FREEZE;
	enum layer_mode mode = is_frozen ? LAYER_FROZEN : LAYER_TRAINED;

	if (sizes->model.family == MODEL_COUNTED) {
		counted_fill(sizes, activations);
		return;
	}
	if (sizes->model.family == MODEL_CONV) {
		conv_fill(sizes, activations);
		return;
	}
	*activations =
		(struct activations){ .kept = count_add(end_bytes(sizes, mode),
							mask_bytes(sizes)) };
	for (size_t i = 0; i < sizes->shape.stack_count; i++) {
		int64_t layer = layer_total(sizes, i, mode);
		int64_t working = working_bytes(sizes, i, mode);

		if (!sizes->shape.stacks[i].layers)
			continue;
		activations->kept = count_add(activations->kept,
					      stack_kept(sizes, i, mode));
		activations->layer = count_most(activations->layer,
						count_add(layer, working));
		activations->held =
			count_add(activations->held, stack_held(sizes, i));
		if (computes_again(sizes))
			working = count_add(working, layer);
		activations->working =
			count_most(activations->working, working);
	}
	assert(activations->kept >= 0 && activations->working >= 0);
}
