/* Where a model's parameters are: its layers, matrix by matrix. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_ESTIMATOR_PARAMETERS_H
#define AUTOFIT_ESTIMATOR_PARAMETERS_H

#include "estimator/estimator.h"
#include "estimator/nets/conv.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers of parameters, never of bytes. */

/* Linear layers of one shape in one layer of the model. */
struct linear {
	/*
	 * TARGET_*. Several: one matrix does them all (c_attn of GPT-2). None:
	 * no adapter is put there (the router of experts).
	 */
	unsigned targets;
	int64_t in, out; /* the matrix has in x out */
	int64_t copies;  /* 1; experts; attentions of a decoder */
	int64_t active;  /* of copies, those that one token goes through */
	bool has_bias;   /* out more of them, for each copy */
	bool is_expert;  /* shared by expert parallelism */
};

#define LINEARS_MAX 12

/* Layers that are alike. */
struct layer_stack {
	int64_t layers;
	int64_t vectors; /* of one layer, in no linear one: norms */
	/* Of one layer, in matrices whose shapes are not known. */
	int64_t unshaped;
	struct linear linears[LINEARS_MAX];
	size_t linear_count;
};

/* Encoder and decoder; layers without experts, and those with them. */
#define STACKS_MAX 2

struct model_shape {
	struct layer_stack stacks[STACKS_MAX];
	size_t stack_count; /* 0: the family is not known */
	int64_t embedding;  /* tables of tokens, positions, types; patches */
	int64_t head;       /* with pooler; 0: none, or it is the embedding */
	int64_t other;      /* the last norm, T5's tables of distances */
	int64_t total;      /* what model_parameters() says */
	struct conv_totals conv; /* MODEL_CONV */
};

/*
 * Exact for every family but MODEL_UNKNOWN, which has no stacks: there
 * embedding and head follow from vocab and hidden where these are known, and
 * the rest is in other. facts->parameters wins as total; the parts stay what
 * they are by the other numbers, so they need not add up to it. -EINVAL,
 * -ERANGE: err names the field.
 */
int model_shape(const struct model_facts *facts, struct model_shape *shape,
		struct error *err);

struct model_parts {
	int64_t layers;  /* all of all layers */
	int64_t layer;   /* the largest layer: the unit of FSDP and ZeRO-3 */
	int64_t linear;  /* matrices in all layers: NF4, int8 quantise them */
	int64_t experts; /* those of experts in linear */
	int64_t active;  /* of linear, what one token goes through */
	int64_t matrix;  /* the largest one: dequantised at once */
};

/* MODEL_UNKNOWN: everything that is in other, as if it were linear; layer 0,
 * matrix 0. */
void model_parts(const struct model_shape *shape, struct model_parts *parts);

/*
 * LoRA: rank x (in + out) for each matrix that has one of the targets, experts
 * each; targets 0: q and v. A matrix for several targets counts once. Phi-3,
 * which is MODEL_LLAMA here, has q, k and v in one matrix, and gate and up: its
 * adapters are counted as if these were apart.
 */
int64_t lora_parameters(const struct model_shape *shape, int64_t rank,
			unsigned targets);
/* The outputs of these matrices, in all layers: DoRA's magnitudes, IA3. */
int64_t lora_outputs(const struct model_shape *shape, unsigned targets);

#endif
