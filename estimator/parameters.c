/* Where a model's parameters are: sums over its matrices. */
/* SPDX-License-Identifier: MIT */
#include "estimator/parameters.h"

#include "estimator/shapes.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* No model has as many; less than what sums stop at. */
#define PARAMETERS_MOST INT64_C(1000000000000000)

static int64_t matrix_size(const struct linear *linear)
{
	return count_mul(linear->in, linear->out);
}

/* One layer of the stack: matrices, biases, norms. */
static int64_t stack_layer_parameters(const struct layer_stack *stack)
{
	int64_t sum = count_add(stack->vectors, stack->unshaped);

	for (size_t i = 0; i < stack->linear_count; i++) {
		const struct linear *linear = &stack->linears[i];
		int64_t one = matrix_size(linear);

		if (linear->has_bias)
			one = count_add(one, linear->out);
		sum = count_add(sum, count_mul(one, linear->copies));
	}
	return sum;
}

static int64_t all_layers(const struct model_shape *shape)
{
	int64_t sum = 0;

	for (size_t i = 0; i < shape->stack_count; i++) {
		const struct layer_stack *stack = &shape->stacks[i];

		sum = count_add(sum, count_mul(stack_layer_parameters(stack),
					       stack->layers));
	}
	return sum;
}

/* The sum is one that a model can have, and no more than it is said to have. */
static int check_total(const struct model_facts *facts, int64_t counted,
		       struct error *err)
{
	if (counted > PARAMETERS_MOST)
		return error_set(err, -ERANGE,
				 "a model of layers %lld, hidden %lld, ffn "
				 "%lld, vocab %lld, experts %lld would have "
				 "more than 10^15 parameters: one of them is "
				 "wrong",
				 (long long)facts->layers,
				 (long long)facts->hidden,
				 (long long)facts->ffn, (long long)facts->vocab,
				 (long long)facts->experts);
	return 0;
}

static int check_given(const struct model_facts *facts, int64_t in_layers,
		       struct error *err)
{
	if (!facts->parameters || facts->parameters >= in_layers)
		return 0;
	return error_set(err, -EINVAL,
			 "parameters %lld is less than the %lld that the "
			 "layers alone have by layers %lld, hidden %lld and "
			 "the others: one of them is wrong",
			 (long long)facts->parameters, (long long)in_layers,
			 (long long)facts->layers, (long long)facts->hidden);
}

/* A family that is not known: only its vocabulary can be told apart. */
static void shape_unknown(const struct model_facts *facts,
			  struct model_shape *shape)
{
	int64_t table = count_mul(facts->vocab, facts->hidden);
	int64_t head = facts->is_tied ? 0 : table;

	if (count_add(table, head) >= facts->parameters)
		table = head = 0;
	shape->embedding = table;
	shape->head = head;
	shape->other = facts->parameters - table - head;
	assert(shape->other >= 0);
}

int model_shape(const struct model_facts *facts, struct model_shape *shape,
		struct error *err)
{
	struct model_facts full = *facts;
	int64_t in_layers;
	int result;

	memset(shape, 0, sizeof(*shape));
	model_facts_complete(&full);
	result = model_facts_check(&full, err);
	if (result < 0)
		return result;
	if (full.family == MODEL_UNKNOWN)
		shape_unknown(&full, shape);
	else
		shape_family(&full, shape);
	shape->other = count_add(shape->other, full.tower);
	in_layers = all_layers(shape);
	shape->total = count_add(
		in_layers, count_add(shape->embedding,
				     count_add(shape->head, shape->other)));
	result = check_total(&full, shape->total, err);
	if (result == 0 && shape->conv.is_too_small)
		result = error_set(err, -EINVAL,
				   "image %lld is too small for this network: "
				   "nothing is left of it before the end",
				   (long long)full.image);
	if (result == 0)
		result = check_given(&full, in_layers, err);
	if (full.parameters)
		shape->total = full.parameters;
	assert(result < 0 || shape->total >= 1);
	return result;
}

int model_parameters(const struct model_facts *facts, int64_t *parameters,
		     struct error *err)
{
	struct model_shape shape;
	int result = model_shape(facts, &shape, err);

	if (result == 0)
		*parameters = shape.total;
	return result;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Every sum here is part of a total that was checked. */
static void add_linears(const struct layer_stack *stack,
			struct model_parts *parts)
{
	for (size_t i = 0; i < stack->linear_count; i++) {
		const struct linear *linear = &stack->linears[i];
		int64_t one = matrix_size(linear);
		int64_t all = one * linear->copies * stack->layers;

		assert(linear->active <= linear->copies);
		parts->linear += all;
		parts->experts += linear->is_expert ? all : 0;
		parts->active += one * linear->active * stack->layers;
		parts->matrix = larger(parts->matrix, one);
	}
	parts->linear += stack->unshaped * stack->layers;
	parts->active += stack->unshaped * stack->layers;
}

void model_parts(const struct model_shape *shape, struct model_parts *parts)
{
	memset(parts, 0, sizeof(*parts));
	if (!shape->stack_count) {
		parts->layers = parts->linear = parts->active = shape->other;
		return;
	}
	for (size_t i = 0; i < shape->stack_count; i++) {
		const struct layer_stack *stack = &shape->stacks[i];

		if (!stack->layers)
			continue;
		parts->layer =
			larger(parts->layer, stack_layer_parameters(stack));
		add_linears(stack, parts);
	}
	parts->layers = all_layers(shape);
	assert(parts->experts <= parts->linear &&
	       parts->active <= parts->linear);
}

/* rank x in for the first matrix of an adapter, rank x out for the second. */
static int64_t adapters(const struct model_shape *shape, unsigned targets,
			int64_t rank_in, int64_t rank_out)
{
	int64_t sum = 0;

	if (!targets)
		targets = TARGET_Q | TARGET_V;
	for (size_t i = 0; i < shape->stack_count; i++) {
		const struct layer_stack *stack = &shape->stacks[i];

		for (size_t j = 0; j < stack->linear_count; j++) {
			const struct linear *linear = &stack->linears[j];
			int64_t one =
				count_add(count_mul(rank_in, linear->in),
					  count_mul(rank_out, linear->out));

			if (linear->targets & targets)
				sum = count_add(
					sum,
					count_mul(
						count_mul(one, linear->copies),
						stack->layers));
		}
	}
	return sum;
}

int64_t lora_parameters(const struct model_shape *shape, int64_t rank,
			unsigned targets)
{
	return adapters(shape, targets, rank, rank);
}

int64_t lora_outputs(const struct model_shape *shape, unsigned targets)
{
	return adapters(shape, targets, 0, 1);
}
