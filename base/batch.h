/* The batch of one optimizer step, and how it is split. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_BASE_BATCH_H
#define AUTOFIT_BASE_BATCH_H

#include <stdint.h>

/*
 * micro_batch x grad_accum x world_size == effective_batch, in samples. What is
 * not known is 0; who fills one in says which those may be.
 */
struct batch {
	int64_t micro_batch; /* of one rank and one forward and backward pass */
	int64_t grad_accum;  /* passes of a rank before the optimizer steps */
	int64_t world_size;  /* ranks that split the batch */
	int64_t effective_batch;
};

#endif
