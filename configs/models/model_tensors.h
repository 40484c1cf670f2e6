/* Which tensors of a checkpoint are parameters, and how many. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_MODELS_MODEL_TENSORS_H
#define AUTOFIT_CONFIGS_MODELS_MODEL_TENSORS_H

#include "configs/models/model_safetensors.h"

#include <stddef.h>
#include <stdint.h>

struct dtype {
	const char *name;  /* of safetensors: "BF16" */
	const char *torch; /* "bfloat16" */
	int64_t bits;
	enum { DTYPE_FLOAT, DTYPE_PACKED, DTYPE_INDEX } kind;
};

struct tensor {
	const char *name;
	const struct dtype *dtype;
	int64_t elements, bytes;
	size_t rank;
};

/* NULL: not known. */
const struct dtype *dtype_find(const char *name);

/* Adds one tensor to what was counted. -ERANGE: more than 63 bits. */
int tensor_count(struct stored_weights *weights, const struct tensor *tensor);

#endif
