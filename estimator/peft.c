/* Weights and activations that parameter-efficient training adds. Pure. */
/* SPDX-License-Identifier: MIT */
#include "estimator/layer.h"

#include "estimator/shapes.h"

#define TARGETS_DEFAULT (TARGET_Q | TARGET_V)
/* IA3 of PEFT on Llama: k, v, and the input of down. */
#define TARGETS_IA3 (TARGET_K | TARGET_V)

static unsigned targets_of(const struct workload *work)
{
	return work->targets ? work->targets : TARGETS_DEFAULT;
}

static int64_t peft_layers_of(const struct sizes *sizes)
{
	int64_t layers = 0;

	for (size_t i = 0; i < sizes->shape.stack_count; i++)
		layers = count_add(layers, sizes->shape.stacks[i].layers);
	return layers;
}

/* Two bottlenecks for each layer, each down, up and their biases
 * (Houlsby et al. 1902.00751). */
static int64_t bottleneck_parameters(const struct sizes *sizes)
{
	int64_t hidden = sizes->widths.hidden;
	int64_t rank = sizes->work->rank;
	int64_t one =
		count_add(count_mul(2 * hidden, rank), count_add(hidden, rank));

	return count_mul(2 * one, peft_layers_of(sizes));
}

static int64_t scale_parameters(const struct sizes *sizes)
{
	int64_t sum = lora_outputs(&sizes->shape, TARGETS_IA3);

	for (size_t i = 0; i < sizes->shape.stack_count; i++) {
		const struct layer_stack *stack = &sizes->shape.stacks[i];

		sum = count_add(sum,
				count_mul(mlp_width(stack), stack->layers));
	}
	return sum;
}

int64_t peft_parameters(const struct sizes *sizes)
{
	const struct workload *work = sizes->work;
	unsigned targets = targets_of(work);

	switch (work->peft) {
	case PEFT_LORA:
		return lora_parameters(&sizes->shape, work->rank, targets);
	case PEFT_DORA:
		return count_add(
			lora_parameters(&sizes->shape, work->rank, targets),
			lora_outputs(&sizes->shape, targets));
	case PEFT_PROMPT:
		return count_mul(work->rank, sizes->widths.hidden);
	case PEFT_IA3:
		return scale_parameters(sizes);
	case PEFT_ADAPTERS:
		return bottleneck_parameters(sizes);
	case PEFT_NONE:
	case PEFT_FREEZE:
	case PEFT_KINDS:
		break;
	}
	return 0;
}

/*
 * Adapters that are as wide as the model share the input of q, k and v, and of
 * gate and up. Those in fp32 have a copy each, and so have those that autocast
 * or dropout gives one; but one matrix for q, k and v has one adapter.
 */
static bool has_private_input(const struct workload *work, unsigned target)
{
	if (work->fused_qkv && (target & (TARGET_Q | TARGET_K | TARGET_V)))
		return false;
	if (work->regime == REGIME_AMP || work->has_dropout)
		return true;
	/* An fp32 model's inputs need no cast. */
	return !work->adapters_16_bit && work->regime != REGIME_FP32;
}

static int64_t adapter_element(const struct sizes *sizes)
{
	if (sizes->work->regime == REGIME_AMP)
		return 2;
	return sizes->work->adapters_16_bit ? sizes->element : 4;
}

/* q, k and v read one tensor, gate and up another. */
static unsigned sharers(unsigned target)
{
	static const unsigned groups[] = { TARGET_Q | TARGET_K | TARGET_V,
					   TARGET_GATE | TARGET_UP };

	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		if (groups[i] & target)
			return groups[i];
	return target;
}

/*
 * Of one matrix: the input of A, a mask where dropout is, the output of A
 * which is B's input. DoRA multiplies what the matrix and what the adapter give
 * by its magnitudes, and keeps both (peft: tuners/lora/dora.py).
 */
static int64_t matrix_bytes(const struct sizes *sizes,
			    const struct linear *linear, bool has_input)
{
	const struct workload *work = sizes->work;
	int64_t element = adapter_element(sizes);
	int64_t sum = count_mul(work->rank, element);

	if (has_input)
		sum = count_add(sum, count_mul(linear->in, element));
	if (has_input && work->has_dropout)
		sum = count_add(sum, linear->in);
	if (work->peft == PEFT_DORA)
		sum = count_add(
			sum, count_mul(linear->out, element + sizes->element));
	return count_mul(sum, linear->active);
}

static int64_t lora_layer(const struct sizes *sizes,
			  const struct layer_stack *stack)
{
	unsigned targets = targets_of(sizes->work);
	unsigned seen = 0;
	int64_t sum = 0;

	for (size_t i = 0; i < stack->linear_count; i++) {
		const struct linear *linear = &stack->linears[i];
		bool has_input =
			has_private_input(sizes->work, linear->targets) ||
			!(linear->targets & seen);

		if (!(linear->targets & targets))
			continue;
		seen |= sharers(linear->targets);
		sum = count_add(sum, matrix_bytes(sizes, linear, has_input));
	}
	return sum;
}

/* What is scaled: k and v as they are, the input of down as wide as the
 * scales. */
static int64_t scaled_layer(const struct sizes *sizes,
			    const struct layer_stack *stack)
{
	const struct widths *widths = &sizes->widths;
	int64_t keys = count_add(widths->cached_key, widths->cached_value);

	return count_add(count_mul(keys, sizes->element),
			 count_mul(mlp_width(stack), adapter_element(sizes)));
}

int64_t peft_layer_bytes(const struct sizes *sizes,
			 const struct layer_stack *stack)
{
	switch (sizes->work->peft) {
	case PEFT_LORA:
	case PEFT_DORA:
		return lora_layer(sizes, stack);
	case PEFT_IA3:
		return scaled_layer(sizes, stack);
	case PEFT_ADAPTERS:
		return count_mul(count_add(2 * sizes->widths.hidden,
					   count_mul(sizes->work->rank, 2)),
				 sizes->element);
	case PEFT_NONE:
	case PEFT_PROMPT:
	case PEFT_FREEZE:
	case PEFT_KINDS:
		break;
	}
	return 0;
}
