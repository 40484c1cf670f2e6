/* Inside the estimator: what one layer keeps of a token. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_ESTIMATOR_LAYER_H
#define AUTOFIT_ESTIMATOR_LAYER_H

#include "estimator/estimator_internal.h"

/* The activations of one layer of a stack, in bytes for each token. */
struct layer_bytes {
	int64_t replicated; /* on every GPU of a tensor parallel group */
	int64_t divided;    /* among them */
	int64_t scores;     /* of divided: s x s of eager attention */
	int64_t mlp;        /* of divided */
};

/* What a layer keeps whose weights are trained, or frozen. */
enum layer_mode { LAYER_TRAINED, LAYER_FROZEN };

/* The fp32 copy that an RMSNorm keeps of its input: transformers. */
#define NORM_FP32_BYTES 4

void layer_fill(const struct sizes *sizes, size_t stack, enum layer_mode mode,
		struct layer_bytes *bytes);
/* The decoder's second attention, of all tokens. */
int64_t cross_bytes(const struct sizes *sizes, enum layer_mode mode);
bool has_rms_norms(enum model_family family);
bool caps_scores(const struct model_facts *model);
bool is_decoder(const struct sizes *sizes, size_t stack);
/* Bytes that its adapters keep of each token in one layer. */
int64_t peft_layer_bytes(const struct sizes *sizes,
			 const struct layer_stack *stack);

#endif
