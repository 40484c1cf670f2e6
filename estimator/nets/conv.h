/* A network of convolutions: what follows from its steps. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_ESTIMATOR_NETS_CONV_H
#define AUTOFIT_ESTIMATOR_NETS_CONV_H

#include "base/model_facts.h"

#include <stdbool.h>
#include <stdint.h>

/* Of one image of the model's size; elements of the dtype that is computed in,
 * bytes only where a name says so. */
struct conv_totals {
	int64_t parameters;
	int64_t kept;       /* for the backward pass */
	int64_t kept_bytes; /* whatever the dtype: places that pooling took */
	int64_t inputs;     /* of kept, what the blocks were given */
	int64_t block;      /* what the block that keeps most keeps */
	int64_t working;    /* the most at one time where nothing is kept */
	bool is_too_small;  /* the image, for so many halvings */
};

/* The facts are of MODEL_CONV and complete. */
void conv_count(const struct model_facts *facts, struct conv_totals *totals);

/*
 * Bytes that the way back has at its worst more than all that is kept: what
 * its tensors at work take, and the gradients of later layers, which have most
 * of the parameters, while early, wide activations are still there. images are
 * in the pass; element is the width of the dtype, and gradient that of one
 * parameter's, 0 where the gradients are there anyway. totals are those of
 * conv_count().
 */
int64_t conv_working(const struct model_facts *facts,
		     const struct conv_totals *totals, int64_t images,
		     int64_t element, int64_t gradient);

#endif
