/* Activations of one layer and token, kept for the backward pass. Pure. */
/* SPDX-License-Identifier: MIT */
#include "estimator/layer.h"

#include "estimator/shapes.h"

#include <assert.h>

/*
 * Autograd keeps the inputs of what has a weight, or another operand, that a
 * gradient goes to; outputs of softmax; masks of dropout. The terms below were
 * derived from transformers' modeling_llama.py and torch's derivatives.yaml;
 * with GELU, LayerNorm and dropout they are Table 2 of Korthikanti et al.
 * (2205.05198). Sizes are for one token and one layer.
 */

#define LOGSUMEXP_BYTES 4
#define MASK_BYTES 1
bool has_rms_norms(enum model_family family)
{
	static const bool rms[MODEL_FAMILIES] = {
		[MODEL_UNKNOWN] = true,  [MODEL_LLAMA] = true,
		[MODEL_T5] = true,       [MODEL_MOE] = true,
		[MODEL_DEEPSEEK] = true, [MODEL_MAMBA] = true,
	};

	return rms[family];
}

/* Gemma 2 has four norms and puts its scores and logits through tanh, whose
 * result is kept; later ones norm q and k instead. */
bool caps_scores(const struct model_facts *model)
{
	return model->layer_norms == 4 && !model->has_qk_norm;
}

/* Attention and MLP read the same residual stream. */
static bool is_parallel(const struct model_facts *model)
{
	enum model_family family = model->family;

	return family == MODEL_PHI || family == MODEL_NEOX ||
	       family == MODEL_GPTJ ||
	       (family == MODEL_FALCON && model->layer_norms == 1);
}

/* Scores are made fp32 before softmax and narrow again after it. */
static bool upcasts_scores(const struct sizes *sizes)
{
	enum model_family family = sizes->model.family;

	return sizes->work->regime == REGIME_AMP ||
	       (family != MODEL_GPT2 && family != MODEL_BERT);
}

bool is_decoder(const struct sizes *sizes, size_t stack)
{
	return model_family_has_decoder(sizes->model.family) && stack == 1;
}

/* Bytes of the input of a linear layer; fp8 keeps it in one byte. */
static int64_t input_bytes(const struct sizes *sizes, int64_t width)
{
	if (sizes->work->regime == REGIME_FP8)
		return width;
	return count_mul(width, sizes->element);
}

/* Of its linear layers. */
static bool keeps_inputs(const struct sizes *sizes, enum layer_mode mode)
{
	return mode == LAYER_TRAINED || sizes->work->keeps_frozen_inputs;
}

static int64_t norm_bytes(const struct sizes *sizes, size_t stack,
			  enum layer_mode mode)
{
	enum model_family family = sizes->model.family;
	int64_t hidden = sizes->widths.hidden;
	int64_t norms = count_most(sizes->model.layer_norms, 2);
	int64_t one = count_mul(hidden, sizes->element);

	if (is_decoder(sizes, stack))
		norms = 3;
	if (is_parallel(&sizes->model))
		norms = 1;
	/* What is scaled is kept as what is normed. */
	if (sizes->model.has_layer_scale)
		norms += 2;
	if (has_rms_norms(family))
		one = count_add(count_mul(hidden, NORM_FP32_BYTES),
				mode == LAYER_TRAINED ? one : 0);
	assert(norms >= 1);
	return count_mul(one, norms);
}

/* Inputs of q, k and v, and of gate and up: one tensor each. */
static int64_t shared_inputs(const struct sizes *sizes, size_t stack)
{
	int64_t inputs = is_decoder(sizes, stack) ? 3 : 2;

	if (is_parallel(&sizes->model) && sizes->model.family != MODEL_NEOX)
		inputs = 1;
	return count_mul(input_bytes(sizes, sizes->widths.hidden), inputs);
}

static int64_t residual_masks(const struct sizes *sizes)
{
	if (sizes->work->dropout <= 0)
		return 0;
	return count_mul(2 * sizes->widths.hidden, MASK_BYTES);
}

/*
 * softmax in fp32 and its narrow copy, or one of them; with dropout a mask and
 * what is left, while the narrow copy goes.
 */
static int64_t score_bytes(const struct sizes *sizes)
{
	bool upcasts = upcasts_scores(sizes) && sizes->element < 4;
	int64_t softmax = upcasts ? 4 : sizes->element;

	if (caps_scores(&sizes->model))
		softmax += sizes->element;
	if (sizes->work->dropout > 0)
		return softmax + MASK_BYTES + sizes->element;
	return softmax + (upcasts ? sizes->element : 0);
}

static int64_t scores_bytes(const struct sizes *sizes, int64_t keys)
{
	if (sizes->work->attention != ATTENTION_EAGER)
		return 0;
	return count_mul(count_mul(sizes->widths.heads, keys),
			 score_bytes(sizes));
}

/* Adapters on the projection keep its input themselves. */
static bool keeps_output(const struct sizes *sizes, enum layer_mode mode)
{
	return sizes->work->attention != ATTENTION_EAGER ||
	       mode == LAYER_TRAINED;
}

/* Queries, and what comes out: of the tokens that ask. */
static int64_t query_bytes(const struct sizes *sizes, enum layer_mode mode)
{
	const struct widths *widths = &sizes->widths;
	int64_t sum = count_mul(widths->query, sizes->element);

	if (keeps_output(sizes, mode))
		sum = count_add(sum, count_mul(widths->output, sizes->element));
	if (sizes->work->attention != ATTENTION_EAGER)
		sum = count_add(sum, count_mul(widths->heads, LOGSUMEXP_BYTES));
	return sum;
}

/*
 * v is a view into the product of one matrix for q, k and v, which stays as a
 * whole, while positions are turned into q and k of their own.
 */
static int64_t key_bytes(const struct sizes *sizes)
{
	const struct widths *widths = &sizes->widths;
	enum model_family family = sizes->model.family;
	bool is_fused = sizes->work->fused_qkv || family == MODEL_NEOX ||
			family == MODEL_BLOOM || family == MODEL_FALCON;
	int64_t sum = count_add(count_add(widths->key, widths->value),
				widths->compressed);

	if (is_fused)
		sum = count_add(sum,
				count_add(widths->query, widths->cached_key));
	return count_mul(sum, sizes->element);
}

static bool mlp_is_gated(const struct layer_stack *stack)
{
	for (size_t i = 0; i < stack->linear_count; i++)
		if (stack->linears[i].targets & TARGET_GATE)
			return true;
	return false;
}

/* ReLU keeps its result, which the next matrix reads; others keep what they
 * were given. */
static bool has_relu(const struct sizes *sizes)
{
	enum model_family family = sizes->model.family;

	return family == MODEL_OPT ||
	       (family == MODEL_T5 && !sizes->model.is_gated);
}

/* gate, its activation, up; then the input of down. Plain: before and after
 * the activation. */
static int64_t mlp_bytes(const struct sizes *sizes,
			 const struct layer_stack *stack, enum layer_mode mode)
{
	int64_t width = mlp_width(stack);
	int64_t tensors = mlp_is_gated(stack) ? 3 : 1;
	int64_t sum = count_mul(width, tensors * sizes->element);

	if (keeps_inputs(sizes, mode) && !has_relu(sizes))
		sum = count_add(sum, input_bytes(sizes, width));
	return sum;
}

/* Probabilities of the router, and tokens in the order of their experts. */
static int64_t router_bytes(const struct sizes *sizes,
			    const struct layer_stack *stack)
{
	const struct model_facts *model = &sizes->model;

	for (size_t i = 0; i < stack->linear_count; i++)
		if (stack->linears[i].is_expert)
			return count_add(
				count_mul(model->experts, 4),
				count_mul(count_mul(model->experts_per_token,
						    model->hidden),
					  2 * sizes->element));
	return 0;
}

/*
 * An old MatMul4Bit holds its inputs in an attribute of its context, which
 * autograd does not empty when that node has gone backward: they stay for as
 * long as the graph does (bitsandbytes 0.41 and 0.42: autograd/_functions.py).
 * LitGPT's loop has the loss, and so the graph, of one pass until the next one
 * has made its own (litgpt: finetune/lora.py): while that goes forward the
 * inputs of all four linear layers are there once more.
 */
static int64_t inputs_before(const struct sizes *sizes, size_t stack)
{
	const struct layer_stack *layers = &sizes->shape.stacks[stack];
	int64_t output = input_bytes(sizes, sizes->widths.output);

	if (!sizes->work->keeps_frozen_inputs)
		return 0;
	return count_add(
		shared_inputs(sizes, stack),
		count_add(output, input_bytes(sizes, mlp_width(layers))));
}

void layer_fill(const struct sizes *sizes, size_t stack, enum layer_mode mode,
		struct layer_bytes *bytes)
{
	const struct layer_stack *layers = &sizes->shape.stacks[stack];

	bytes->replicated = count_add(norm_bytes(sizes, stack, mode),
				      residual_masks(sizes));
	if (keeps_inputs(sizes, mode))
		bytes->replicated = count_add(bytes->replicated,
					      shared_inputs(sizes, stack));
	bytes->replicated =
		count_add(bytes->replicated, inputs_before(sizes, stack));
	if (sizes->trains_adapters)
		bytes->replicated = count_add(bytes->replicated,
					      peft_layer_bytes(sizes, layers));
	bytes->scores = scores_bytes(sizes, sizes->keys[stack]);
	bytes->mlp = count_add(mlp_bytes(sizes, layers, mode),
			       router_bytes(sizes, layers));
	bytes->divided = count_add(query_bytes(sizes, mode), key_bytes(sizes));
	bytes->divided =
		count_add(bytes->divided, count_add(bytes->scores, bytes->mlp));
	assert(bytes->divided >= bytes->scores && bytes->divided >= bytes->mlp);
}

/* The cross attention of a decoder: its queries, and keys of the encoder. */
int64_t cross_bytes(const struct sizes *sizes, enum layer_mode mode)
{
	int64_t scores = scores_bytes(sizes, sizes->keys[0]);
	int64_t asking = count_mul(count_add(query_bytes(sizes, mode), scores),
				   sizes->tokens[1]);

	return count_share(count_add(asking, count_mul(key_bytes(sizes),
						       sizes->tokens[0])),
			   sizes->tensor);
}
