/* What the shapes of several families are made of. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_ESTIMATOR_SHAPES_BUILD_H
#define AUTOFIT_ESTIMATOR_SHAPES_BUILD_H

#include "estimator/nets/count.h"
#include "estimator/parameters.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Elements of a table. */
int64_t table_size(int64_t rows, int64_t width);
/* Those of the matrix to the vocabulary; 0 where it is the embedding. */
int64_t shape_head(const struct model_facts *facts);

/* The next stack of so many layers, empty. */
struct layer_stack *shape_stack(struct model_shape *shape, int64_t layers);
/* Layers with biases everywhere; a LayerNorm has a weight and a bias. */
void shape_biased_layers(const struct model_facts *facts,
			 struct model_shape *shape, int64_t norms,
			 bool is_fused);

/* One matrix, there once and always in use. */
struct linear *stack_linear(struct layer_stack *stack, unsigned targets,
			    int64_t in, int64_t out);
/* All linear layers of the stack from the first: so many of them, so many in
 * use for one token. */
void stack_copies(struct layer_stack *stack, size_t first, int64_t copies,
		  int64_t active);
void stack_biases(struct layer_stack *stack);
void stack_attention(struct layer_stack *stack,
		     const struct model_facts *facts);
void stack_mlp(struct layer_stack *stack, int64_t hidden, int64_t ffn,
	       bool is_gated);
/* One matrix for queries, keys and values. */
void stack_fused_attention(struct layer_stack *stack,
			   const struct model_facts *facts);

#endif
