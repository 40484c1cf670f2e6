/* The memory of one GPU: the largest of the phases of a step. Pure. */
/* SPDX-License-Identifier: MIT */
#include "estimator/estimator_internal.h"

#include <assert.h>
#include <errno.h>

/*
 * The peak is a maximum, never a sum. When the backward pass starts, all
 * activations and the loss are there, but gradients only if they are kept from
 * step to step; when it ends, all gradients, and of the activations one layer;
 * in the step, what the optimizer needs for itself. States are there from the
 * second step on.
 */

/* NCCL, for each group of GPUs; it is outside of the allocator. */
#define COMMUNICATOR_BYTES (INT64_C(410) << 20)

struct terms {
	struct sizes sizes;
	struct states states;
	struct activations activations;
	int64_t loss;
	int64_t buckets;
};

/* What is there in every phase. */
static void always_fill(const struct terms *terms, enum peak_phase phase,
			int64_t parts[PARTS])
{
	const struct sizes *sizes = &terms->sizes;

	assert(phase < PEAK_PHASES);
	parts[PART_WEIGHTS] = terms->states.weights;
	parts[PART_OPTIMIZER] = terms->states.optimizer;
	parts[PART_MASTER] = terms->states.master;
	parts[PART_ADAPTERS] = terms->states.adapter_weights;
	parts[PART_RESIDENTS] = count_add(resident_bytes(sizes, phase),
					  engine_bytes(sizes, phase));
	parts[PART_WORKSPACES] = workspace_bytes(sizes->work);
	parts[PART_CONTEXT] = context_bytes(sizes->work);
	parts[PART_COMMUNICATION] =
		count_mul(sharding_communicators(sizes), COMMUNICATOR_BYTES);
}

static void gradients_fill(const struct terms *terms, int64_t parts[PARTS])
{
	parts[PART_GRADIENTS] = terms->states.gradients;
	parts[PART_ADAPTERS] = count_add(parts[PART_ADAPTERS],
					 terms->states.adapter_gradients);
}

/* Between micro-batches, and where nothing frees them; Megatron's buffer is
 * there all the time. */
static bool keeps_gradients(const struct workload *work)
{
	return work->grad_accum > 1 || work->keeps_gradients ||
	       work->sharding == SHARD_MEGATRON;
}

/*
 * The matrix that is multiplied with. Lightning replaces every Linear, the head
 * too, and quantises as fp16 whatever it computes in
 * (pytorch-lightning@003e3070:
 * src/lightning/fabric/plugins/precision/bitsandbytes.py), so that
 * bitsandbytes makes fp16 of it and then casts that: two copies.
 */
static int64_t dequantised(const struct sizes *sizes)
{
	const struct workload *work = sizes->work;
	enum weights stored = stored_weights(work);
	int64_t matrix = sizes->parts.matrix;
	int64_t width = sizes->element;

	if (stored == WEIGHTS_AS_COMPUTED || stored == WEIGHTS_FP8 ||
	    stored == WEIGHTS_MXFP4)
		return 0;
	if (work->lightning_quantizer) {
		matrix = count_most(matrix, sizes->shape.head);
		width += 2;
	}
	return count_mul(count_share(matrix, sizes->tensor), width);
}

/*
 * The loss, or the layer that goes backward right after it. In a pipeline the
 * loss is on the last stage, which holds one micro-batch, while the first one
 * holds as many as there are stages.
 */
static void forward_fill(const struct terms *terms, int64_t parts[PARTS])
{
	const struct sizes *sizes = &terms->sizes;
	int64_t kept = terms->activations.kept;
	int64_t last = count_share(kept, micro_batches_held(sizes));
	int64_t layer =
		count_add(terms->activations.working, dequantised(sizes));
	int64_t head = sizes->work->holds_head ? dequantised(sizes) : 0;

	if (keeps_gradients(sizes->work))
		gradients_fill(terms, parts);
	parts[PART_BUCKETS] = terms->buckets;
	parts[PART_CASTS] = terms->states.casts;
	parts[PART_LAYER] = gathered_weights(sizes);
	if (count_add(last, count_add(terms->loss, head)) >=
	    count_add(kept, layer)) {
		parts[PART_ACTIVATIONS] = last;
		parts[PART_LOSS] = terms->loss;
		parts[PART_LAYER] = count_add(parts[PART_LAYER], head);
	} else {
		parts[PART_ACTIVATIONS] = kept;
		parts[PART_LAYER] = count_add(parts[PART_LAYER], layer);
	}
}

static void backward_fill(const struct terms *terms, int64_t parts[PARTS])
{
	const struct sizes *sizes = &terms->sizes;

	gradients_fill(terms, parts);
	parts[PART_BUCKETS] = terms->buckets;
	parts[PART_CASTS] = terms->states.layer_casts;
	parts[PART_ACTIVATIONS] = terms->activations.held;
	parts[PART_LAYER] = count_add(
		count_add(terms->activations.layer, dequantised(sizes)),
		count_add(gathered_weights(sizes), gathered_gradients(sizes)));
}

static void step_fill(const struct terms *terms, int64_t parts[PARTS])
{
	gradients_fill(terms, parts);
	parts[PART_BUCKETS] = terms->buckets;
	parts[PART_STEP] = terms->states.step;
}

static void generation_fill(const struct terms *terms, int64_t parts[PARTS])
{
	const struct sizes *sizes = &terms->sizes;

	parts[PART_KV_CACHE] = kv_cache_bytes(sizes);
	parts[PART_LAYER] =
		count_add(count_add(prefill_bytes(sizes), dequantised(sizes)),
			  gathered_weights(sizes));
	parts[PART_LOSS] = decode_logits_bytes(sizes);
}

typedef void fill_fn(const struct terms *terms, int64_t parts[PARTS]);

static int64_t allocated(const int64_t parts[PARTS])
{
	int64_t sum = 0;

	for (int i = 0; i < PARTS; i++)
		if (part_tier((enum part)i) == TIER_ALLOCATED)
			sum = count_add(sum, parts[i]);
	return sum;
}

static bool has_phase(const struct workload *work, enum peak_phase phase)
{
	return phase == PEAK_GENERATION ? has_generation(work)
					: has_training(work);
}

static void phases_fill(const struct terms *terms, struct estimate *estimate)
{
	static fill_fn *const fills[PEAK_PHASES] = {
		[PEAK_FORWARD] = forward_fill,
		[PEAK_BACKWARD] = backward_fill,
		[PEAK_STEP] = step_fill,
		[PEAK_GENERATION] = generation_fill,
	};
	int64_t most = -1;

	for (int i = 0; i < PEAK_PHASES; i++) {
		enum peak_phase phase = (enum peak_phase)i;
		int64_t *parts = estimate->parts[i];

		if (!has_phase(terms->sizes.work, phase))
			continue;
		always_fill(terms, phase, parts);
		fills[i](terms, parts);
		estimate->allocated[i] = allocated(parts);
		if (estimate->allocated[i] <= most)
			continue;
		most = estimate->allocated[i];
		estimate->phase = phase;
	}
	assert(most >= 0 && "a run trains or generates");
}

static void tiers_fill(const struct sizes *sizes, struct estimate *estimate)
{
	double factor = fragmentation_factor(sizes->work);

	for (int i = 0; i < PEAK_PHASES; i++)
		if (has_phase(sizes->work, (enum peak_phase)i))
			estimate->parts[i][PART_FRAGMENTATION] =
				fragmentation_bytes(sizes, estimate,
						    (enum peak_phase)i, factor);
	const int64_t *parts = estimate->parts[estimate->phase];

	estimate->peak[TIER_ALLOCATED] = estimate->allocated[estimate->phase];
	estimate->peak[TIER_RESERVED] = count_add(
		estimate->peak[TIER_ALLOCATED], parts[PART_FRAGMENTATION]);
	estimate->peak[TIER_PROCESS] = count_add(
		estimate->peak[TIER_RESERVED],
		count_add(parts[PART_CONTEXT], parts[PART_COMMUNICATION]));
	assert(estimate->peak[TIER_ALLOCATED] <=
		       estimate->peak[TIER_RESERVED] &&
	       estimate->peak[TIER_RESERVED] <= estimate->peak[TIER_PROCESS]);
}

/* Everything that follows from tokens is proportional to the batch. */
static void line_fill(const struct terms *terms, struct estimate *estimate)
{
	const struct sizes *sizes = &terms->sizes;
	bool trains = has_training(sizes->work);
	enum peak_phase phase = trains ? PEAK_FORWARD : PEAK_GENERATION;
	const int64_t *parts = estimate->parts[phase];
	int64_t all = count_add(parts[PART_ACTIVATIONS], parts[PART_LOSS]);

	if (!trains)
		all = count_add(all, count_add(parts[PART_KV_CACHE],
					       prefill_bytes(sizes)));
	else if (!parts[PART_LOSS])
		all = count_add(all, terms->activations.working);
	estimate->sample_bytes = count_share(all, sizes->work->micro_batch);
	estimate->fixed_bytes = count_above(estimate->allocated[phase], all);
	assert(estimate->sample_bytes >= 0 && estimate->fixed_bytes >= 0);
}

static int overflow(const struct workload *work, struct error *err)
{
	return error_set(err, -ERANGE,
			 "micro_batch %lld x sequence %lld: more bytes than 63 "
			 "bits count",
			 (long long)work->micro_batch,
			 (long long)work->sequence);
}

/* The workload was checked. */
static int estimate_one(const struct workload *workload,
			struct estimate *estimate, struct error *err)
{
	struct terms terms;
	int result = sizes_fill(&terms.sizes, workload, err);

	if (result < 0)
		return result;
	*estimate = (struct estimate){ 0 };
	states_fill(&terms.sizes, &terms.states);
	activations_fill(&terms.sizes, &terms.activations);
	terms.loss = loss_bytes(&terms.sizes);
	terms.buckets = bucket_bytes(&terms.sizes,
				     count_add(terms.states.gradients,
					       terms.states.adapter_gradients));
	estimate->parameters = terms.sizes.parameters;
	estimate->trainable = terms.sizes.trained;
	phases_fill(&terms, estimate);
	tiers_fill(&terms.sizes, estimate);
	line_fill(&terms, estimate);
	interval_fill(&terms.sizes, estimate);
	return 0;
}

static bool has_open_residual(const struct workload *work)
{
	return work->residual_is_assumed;
}

static void flip_residual(struct workload *work)
{
	work->residual_fp32 = !work->residual_fp32;
}

/* LitGPT keeps to an old bitsandbytes, whose MatMul4Bit saved the input of
 * every frozen layer; later ones save None in its place
 * (bitsandbytes:autograd/_functions.py). */
static bool has_open_inputs(const struct workload *work)
{
	return work->lightning_quantizer && has_training(work) &&
	       !work->keeps_frozen_inputs &&
	       (work->weights == WEIGHTS_NF4 ||
		work->weights == WEIGHTS_NF4_DOUBLE);
}

static void keep_inputs(struct workload *work)
{
	work->keeps_frozen_inputs = work->holds_head = true;
}

/* Lightning quantises the head as well: going backward it is dequantised beside
 * the logits and their gradients. How many of these are there then depends on
 * how LitGPT cuts them into chunks. */
static bool has_open_head(const struct workload *work)
{
	return work->lightning_quantizer && has_training(work) &&
	       !work->holds_head;
}

static void hold_head(struct workload *work)
{
	work->holds_head = true;
}

/* What nobody said and cannot be seen: the interval holds both answers. */
static const struct {
	bool (*is_open)(const struct workload *work);
	void (*change)(struct workload *work);
} alternatives[] = {
	{ has_open_residual, flip_residual },
	{ has_open_inputs, keep_inputs },
	{ has_open_head, hold_head },
};

static void interval_span(const struct workload *workload,
			  struct estimate *estimate)
{
	for (size_t i = 0; i < sizeof(alternatives) / sizeof(*alternatives);
	     i++) {
		struct workload changed = *workload;
		struct estimate other;

		if (!alternatives[i].is_open(workload))
			continue;
		alternatives[i].change(&changed);
		if (estimate_one(&changed, &other, NULL) < 0)
			continue;
		for (int tier = 0; tier < TIERS; tier++) {
			estimate->low[tier] = count_least(estimate->low[tier],
							  other.low[tier]);
			estimate->high[tier] = count_most(estimate->high[tier],
							  other.high[tier]);
		}
	}
}

int estimate_memory(const struct workload *workload, struct estimate *estimate,
		    struct error *err)
{
	int result = workload_check(workload, err);

	if (result == 0)
		result = estimate_one(workload, estimate, err);
	if (result < 0)
		return result;
	interval_span(workload, estimate);
	/* Where sums are saturated the process tier is the largest. */
	if (estimate->high[TIER_PROCESS] == COUNT_OVERFLOW)
		return overflow(workload, err);
	return 0;
}
