/* What the shapes of several families are made of. Pure. */
/* SPDX-License-Identifier: MIT */
#include "estimator/shapes_build.h"

struct layer_stack *shape_stack(struct model_shape *shape, int64_t layers)
{
	struct layer_stack *stack = &shape->stacks[shape->stack_count++];

	stack->layers = layers;
	return stack;
}

struct linear *stack_linear(struct layer_stack *stack, unsigned targets,
			    int64_t in, int64_t out)
{
	struct linear *linear = &stack->linears[stack->linear_count++];

	*linear = (struct linear){
		.targets = targets,
		.in = in,
		.out = out,
		.copies = 1,
		.active = 1,
	};
	return linear;
}

void stack_copies(struct layer_stack *stack, size_t first, int64_t copies,
		  int64_t active)
{
	for (size_t i = first; i < stack->linear_count; i++) {
		stack->linears[i].copies = copies;
		stack->linears[i].active = active;
	}
}

void stack_biases(struct layer_stack *stack)
{
	for (size_t i = 0; i < stack->linear_count; i++)
		stack->linears[i].has_bias = true;
}

void stack_attention(struct layer_stack *stack, const struct model_facts *facts)
{
	int64_t q = count_mul(facts->heads, facts->head_dim);
	int64_t kv = count_mul(facts->kv_heads, facts->head_dim);

	stack_linear(stack, TARGET_Q, facts->hidden, q)->has_bias =
		facts->has_qkv_bias;
	stack_linear(stack, TARGET_K, facts->hidden, kv)->has_bias =
		facts->has_qkv_bias;
	stack_linear(stack, TARGET_V, facts->hidden, kv)->has_bias =
		facts->has_qkv_bias;
	stack_linear(stack, TARGET_O, q, facts->hidden)->has_bias =
		facts->has_out_bias;
	if (facts->has_wide_norms)
		stack->vectors = count_add(stack->vectors, count_add(q, kv));
	else if (facts->has_qk_norm)
		stack->vectors += 2 * facts->head_dim;
	if (facts->has_sinks)
		stack->vectors += facts->heads;
}

void stack_fused_attention(struct layer_stack *stack,
			   const struct model_facts *facts)
{
	int64_t q = count_mul(facts->heads, facts->head_dim);
	int64_t kv = count_mul(facts->kv_heads, facts->head_dim);

	stack_linear(stack, TARGET_Q | TARGET_K | TARGET_V, facts->hidden,
		     count_add(q, count_mul(kv, 2)));
	stack_linear(stack, TARGET_O, q, facts->hidden);
}

void stack_mlp(struct layer_stack *stack, int64_t hidden, int64_t ffn,
	       bool is_gated)
{
	if (is_gated)
		stack_linear(stack, TARGET_GATE, hidden, ffn);
	stack_linear(stack, TARGET_UP, hidden, ffn);
	stack_linear(stack, TARGET_DOWN, ffn, hidden);
}

int64_t table_size(int64_t rows, int64_t width)
{
	return count_mul(rows, width);
}

int64_t shape_head(const struct model_facts *facts)
{
	return facts->is_tied ? 0 : table_size(facts->vocab, facts->hidden);
}

void shape_biased_layers(const struct model_facts *facts,
			 struct model_shape *shape, int64_t norms,
			 bool is_fused)
{
	struct layer_stack *stack = shape_stack(shape, facts->layers);

	stack->vectors = 2 * norms * facts->hidden;
	if (is_fused)
		stack_fused_attention(stack, facts);
	else
		stack_attention(stack, facts);
	stack_mlp(stack, facts->hidden, facts->ffn, facts->is_gated);
	stack_biases(stack);
}
