/* The matrices of each family of models. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_ESTIMATOR_SHAPES_H
#define AUTOFIT_ESTIMATOR_SHAPES_H

#include "estimator/nets/count.h"
#include "estimator/parameters.h"

/*
 * Fills an empty shape, but for total. The facts are complete and were checked;
 * their family is known.
 */
void shape_family(const struct model_facts *facts, struct model_shape *shape);

/* Width of the MLP that a token goes through: with all its experts. */
int64_t mlp_width(const struct layer_stack *stack);
/* Of the part of it that is at work at once, for each token of the layer. */
int64_t mlp_at_work(const struct layer_stack *stack);

#endif
