/* Inside the estimator: what several terms are computed from. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_ESTIMATOR_ESTIMATOR_INTERNAL_H
#define AUTOFIT_ESTIMATOR_ESTIMATOR_INTERNAL_H

#include "estimator/estimator.h"
#include "estimator/nets/count.h"
#include "estimator/parameters.h"

/* Widths of the attention that all layers share, in elements of a token. */
struct widths {
	int64_t hidden, heads;
	int64_t query;        /* heads x head_dim */
	int64_t cached_key;   /* kv_heads x head_dim, in the weights */
	int64_t cached_value; /* MLA: of the expanded ones */
	int64_t key, value;   /* as attention keeps them: repeated or not */
	int64_t output;       /* of attention, before its projection */
	int64_t compressed;   /* MLA: of keys and values */
};

struct sizes {
	const struct workload *work;
	struct model_facts model; /* completed */
	struct model_shape shape;
	struct model_parts parts;
	struct widths widths;
	bool is_guessed; /* widths follow from the parameters alone */

	int64_t accum, data, tensor, pipeline, context, expert; /* >= 1 */
	int64_t element;            /* bytes of the dtype that is computed in */
	int64_t sequences;          /* of one forward pass */
	int64_t keys[STACKS_MAX];   /* tokens that one query looks at */
	int64_t tokens[STACKS_MAX]; /* of the pass, on one GPU */
	int64_t loss_tokens;

	int64_t parameters;     /* of the model */
	int64_t on_gpu;         /* those of the fullest GPU, before ZeRO */
	int64_t linear_on_gpu;  /* of on_gpu, matrices in layers */
	int64_t experts_on_gpu; /* of linear_on_gpu */
	int64_t layer_on_gpu;   /* the largest layer */
	int64_t outside;        /* the largest of embedding and head */
	int64_t trained;        /* of the model and its adapters */
	int64_t trainable;      /* of them, on_gpu */
	bool trains_all, trains_adapters;
};

/* -EINVAL, -ERANGE: err names the field of the workload: check.c. */
int workload_check(const struct workload *work, struct error *err);
/* The workload was checked. -EINVAL, -ERANGE: of the model's numbers. */
int sizes_fill(struct sizes *sizes, const struct workload *work,
	       struct error *err);
bool has_training(const struct workload *work);
/* The model's numbers where there is only their total: shape_guess.c. */
void shape_guess(struct model_facts *facts, struct model_shape *shape);

/* Bytes on one GPU, whatever the phase. */
struct states {
	int64_t weights; /* all of them that are not adapters */
	int64_t gradients, optimizer, master, casts;
	int64_t layer_casts;     /* those that are left at the end */
	int64_t adapter_weights; /* with their states, without gradients */
	int64_t adapter_gradients;
	int64_t step; /* temporaries */
};

void states_fill(const struct sizes *sizes, struct states *states);
/* How the weights lie on the GPU. */
enum weights stored_weights(const struct workload *work);
/* Bytes of so many weights, of which linear ones are quantised. */
int64_t frozen_bytes(const struct sizes *sizes, int64_t count, int64_t linear);

/* Bytes of one parameter in a regime, as it is computed with or stored. */
struct regime_bytes {
	int64_t weights, gradients;
	bool has_master, has_casts;
	bool narrows_states; /* those that follow the parameters */
};
const struct regime_bytes *regime_bytes(enum regime regime);

/* What is kept for the backward pass, and what one layer needs beside it. */
struct activations {
	int64_t kept;
	/* While the last layer goes backward: more than is kept of it. */
	int64_t working;
	int64_t layer; /* of one layer, all: while the first goes backward */
	/* Inputs of checkpointed blocks and their gradients, at the end. */
	int64_t held;
};

/* By the first stage of a pipeline: as many as there are stages. */
int64_t micro_batches_held(const struct sizes *sizes);
void activations_fill(const struct sizes *sizes,
		      struct activations *activations);

/* Parameters that PEFT adds to the model, on all its GPUs. */
int64_t peft_parameters(const struct sizes *sizes);

/* Logits and what the loss makes of them, at its peak. */
int64_t loss_bytes(const struct sizes *sizes);

/* How many GPUs share weights, gradients, states; 1: each has all. */
int64_t sharded_weights(const struct sizes *sizes);
int64_t sharded_gradients(const struct sizes *sizes);
int64_t sharded_states(const struct sizes *sizes);
bool sharding_gathers(const struct sizes *sizes);
/* Weights gathered for the layers at work, and the gradient of one. */
int64_t gathered_weights(const struct sizes *sizes);
int64_t gathered_gradients(const struct sizes *sizes);
int64_t bucket_bytes(const struct sizes *sizes, int64_t gradients);
/* Groups of GPUs that talk to each other: communicators. */
int64_t sharding_communicators(const struct sizes *sizes);

int64_t kv_cache_bytes(const struct sizes *sizes);
/* What a pass without gradients needs beside the cache. */
int64_t prefill_bytes(const struct sizes *sizes);
int64_t decode_logits_bytes(const struct sizes *sizes);
/* Other models in a phase; engine: what vLLM takes of it. */
int64_t resident_bytes(const struct sizes *sizes, enum peak_phase phase);
int64_t engine_bytes(const struct sizes *sizes, enum peak_phase phase);
bool has_generation(const struct workload *work);

int64_t workspace_bytes(const struct workload *work);
int64_t context_bytes(const struct workload *work);
/* What is reserved beside what a phase allocates, by that factor of what comes
 * and goes. */
int64_t fragmentation_bytes(const struct sizes *sizes,
			    const struct estimate *estimate,
			    enum peak_phase phase, double factor);
bool fragments_by_gathering(const struct workload *work);
double fragmentation_factor(const struct workload *work);

/* low and high of the estimate, from its parts: interval.c. */
void interval_fill(const struct sizes *sizes, struct estimate *estimate);

#endif
