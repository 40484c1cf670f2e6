/* A model of which only the number of parameters is known. Pure. */
/* SPDX-License-Identifier: MIT */
#include "estimator/estimator_internal.h"

#include <math.h>

/*
 * What decoders of that size look like: gated layers of 12 h^2 parameters and
 * one layer for 128 of width (Llama-2-7B: 32 x 4096 = 128 x 32; 70B: 102), so
 * P = 12 h^3 / 128. The vocabulary is that of Llama 3: the loss follows from
 * it, and smaller ones need less.
 */
#define WIDTH_PER_LAYER 128.0
#define PARAMETERS_PER_SQUARE 12.0
#define HEAD_WIDTH 128
#define VOCABULARY 128256

static int64_t guessed(int64_t known, double guess)
{
	return known ? known : count_most((int64_t)lround(guess), 1);
}

static double shape_guess_width_of(const struct model_facts *facts)
{
	double parameters = (double)facts->parameters;
	double square = facts->layers ? parameters / (double)facts->layers /
						PARAMETERS_PER_SQUARE
				      : 0;

	if (facts->layers)
		return sqrt(square);
	return pow(parameters * WIDTH_PER_LAYER / PARAMETERS_PER_SQUARE,
		   1.0 / 3);
}

static double shape_guess_layers_of(const struct model_facts *facts)
{
	double hidden = (double)facts->hidden;

	return (double)facts->parameters / PARAMETERS_PER_SQUARE / hidden /
	       hidden;
}

static void linear_guess(struct layer_stack *stack, unsigned target, int64_t in,
			 int64_t out)
{
	stack->linears[stack->linear_count++] =
		(struct linear){ .targets = target,
				 .in = in,
				 .out = out,
				 .copies = 1,
				 .active = 1 };
}

void shape_guess(struct model_facts *facts, struct model_shape *shape)
{
	struct layer_stack *stack = &shape->stacks[0];
	int64_t query, kv;

	facts->hidden = guessed(facts->hidden, shape_guess_width_of(facts));
	facts->layers = guessed(facts->layers, shape_guess_layers_of(facts));
	facts->heads =
		guessed(facts->heads, (double)facts->hidden / HEAD_WIDTH);
	facts->kv_heads = guessed(facts->kv_heads, (double)facts->heads);
	facts->head_dim = guessed(facts->head_dim,
				  (double)facts->hidden / (double)facts->heads);
	facts->ffn = guessed(facts->ffn, (double)facts->hidden * 8 / 3);
	facts->vocab = guessed(facts->vocab, VOCABULARY);
	facts->is_gated = true;
	query = count_mul(facts->heads, facts->head_dim);
	kv = count_mul(facts->kv_heads, facts->head_dim);
	shape->stack_count = 1;
	stack->layers = facts->layers;
	stack->vectors = 2 * facts->hidden;
	linear_guess(stack, TARGET_Q, facts->hidden, query);
	linear_guess(stack, TARGET_K, facts->hidden, kv);
	linear_guess(stack, TARGET_V, facts->hidden, kv);
	linear_guess(stack, TARGET_O, query, facts->hidden);
	linear_guess(stack, TARGET_GATE, facts->hidden, facts->ffn);
	linear_guess(stack, TARGET_UP, facts->hidden, facts->ffn);
	linear_guess(stack, TARGET_DOWN, facts->ffn, facts->hidden);
}
