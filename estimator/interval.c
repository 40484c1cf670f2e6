/* How far the measured value may be from the estimate, part by part. Pure. */
/* SPDX-License-Identifier: MIT */
#include "estimator/estimator_internal.h"

#include <assert.h>
#include <math.h>

struct spread {
	double low, high;
};

/*
 * What is counted from shapes is certain to a percent. Terms that were derived
 * from source code hold for one version of it: activations differ by a tensor
 * or two of a layer, and a layer at work by what is freed in time. A foreach
 * temporary may be missing (fused optimizers became a default), communication
 * buffers are upper bounds of the documentation. Workspaces were 10 to 120 MiB.
 */
static const struct spread spreads[PARTS] = {
	[PART_WEIGHTS] = { 0.99, 1.01 },      [PART_GRADIENTS] = { 0.99, 1.02 },
	[PART_OPTIMIZER] = { 0.97, 1.03 },    [PART_MASTER] = { 0.99, 1.01 },
	[PART_CASTS] = { 0.50, 1.02 },        [PART_ADAPTERS] = { 0.90, 1.05 },
	[PART_ACTIVATIONS] = { 0.85, 1.15 },  [PART_LOSS] = { 0.85, 1.10 },
	[PART_LAYER] = { 0.50, 1.35 },        [PART_STEP] = { 0, 1.02 },
	[PART_BUCKETS] = { 0.25, 1.05 },      [PART_KV_CACHE] = { 0.97, 1.10 },
	[PART_RESIDENTS] = { 0.97, 1.10 },    [PART_WORKSPACES] = { 0.25, 3.0 },
	[PART_COMMUNICATION] = { 0.50, 2.5 },
};

/* Nothing but the number of parameters is known. */
static const struct spread guessed = { 0.4, 1.6 };
/* Which matrices are kept differs between frameworks. */
static const struct spread selective = { 0.75, 1.30 };
/* 14 becomes 16 where something makes the logits fp32; an fp32 model's loss
 * was measured with 20 instead of 16 (Liger-Kernel@ead96b61). */
static const struct spread loss_plain = { 0.80, 16.0 / 14 + 0.02 };
static const struct spread loss_fp32 = { 0.85, 20.0 / 16 };

/* reserved / allocated of what comes and goes: to 1.39 with fused attention,
 * 1.63 with eager, 1.65 where a kernel makes the loss, 1.77 where weights are
 * gathered (fitted rows, but for the two steepest). */
#define FRAGMENTATION_LEAST 1.0
#define FRAGMENTATION_MOST_FLASH 1.45
#define FRAGMENTATION_MOST_EAGER 1.65
#define FRAGMENTATION_MOST_KERNEL 1.70
#define FRAGMENTATION_MOST_GATHERED 1.80

/*
 * Contexts that were measured: 105 MiB right after start; 133 to 147 on T4, 256
 * to 426 on Ampere and Ada, since kernels are loaded when they are first called
 * (CUDA 11.7). Before that 1343, which counts where the GPU is not known.
 */
#define CONTEXT_LEAST (INT64_C(105) << 20)
#define CONTEXT_MOST (INT64_C(1343) << 20)
#define CONTEXT_MOST_TURING (INT64_C(500) << 20)
#define CONTEXT_MOST_LATER (INT64_C(800) << 20)
#define TURING_MAJOR 7

static struct spread loss_spread(const struct workload *work)
{
	if (work->loss != LOSS_DEFAULT)
		return spreads[PART_LOSS];
	if (work->regime == REGIME_FP32)
		return loss_fp32;
	if (work->regime == REGIME_AMP || work->residual_fp32)
		return spreads[PART_LOSS];
	return loss_plain;
}

static struct spread spread_of(const struct sizes *sizes, enum part part)
{
	bool is_shaped = part == PART_ACTIVATIONS || part == PART_LAYER ||
			 part == PART_LOSS || part == PART_KV_CACHE;

	if (sizes->is_guessed && is_shaped)
		return guessed;
	if (part == PART_LOSS)
		return loss_spread(sizes->work);
	if (part == PART_ACTIVATIONS &&
	    sizes->work->checkpointing == CHECKPOINT_SELECTIVE)
		return selective;
	return spreads[part];
}

/* Edges of what a phase allocates. */
static void phase_edges(const struct sizes *sizes, const int64_t parts[PARTS],
			int64_t edges[2])
{
	edges[0] = edges[1] = 0;
	for (int i = 0; i < PARTS; i++) {
		struct spread spread = spread_of(sizes, (enum part)i);

		if (part_tier((enum part)i) != TIER_ALLOCATED)
			continue;
		edges[0] =
			count_add(edges[0], count_scaled(parts[i], spread.low));
		edges[1] = count_add(edges[1],
				     count_scaled(parts[i], spread.high));
	}
	assert(edges[0] <= edges[1]);
}

static void allocated_edges(const struct sizes *sizes,
			    struct estimate *estimate)
{
	estimate->low[TIER_ALLOCATED] = estimate->high[TIER_ALLOCATED] = 0;
	for (int i = 0; i < PEAK_PHASES; i++) {
		int64_t edges[2];

		phase_edges(sizes, estimate->parts[i], edges);
		estimate->low[TIER_ALLOCATED] =
			count_most(estimate->low[TIER_ALLOCATED], edges[0]);
		estimate->high[TIER_ALLOCATED] =
			count_most(estimate->high[TIER_ALLOCATED], edges[1]);
	}
}

/*
 * What one part is off has nothing to do with what another one is: their
 * distances to the edges are added as squares are.
 */
static int64_t joint(int64_t one, int64_t other)
{
	assert(one >= 0 && other >= 0);
	if (one == COUNT_OVERFLOW || other == COUNT_OVERFLOW)
		return COUNT_OVERFLOW;
	return count_scaled(1, sqrt((double)one * (double)one +
				    (double)other * (double)other));
}

/* Kernels that make the loss have buffers of their own. */
static bool has_loss_kernel(const struct workload *work)
{
	return work->loss == LOSS_IN_PLACE || work->loss == LOSS_FUSED;
}

static double fragmentation_most(const struct workload *work)
{
	/* A measured one grows with the batch: 1.17 to 1.38 from 1 to 8. */
	if (work->fragmentation > 0)
		return work->fragmentation + 0.1;
	if (fragments_by_gathering(work))
		return FRAGMENTATION_MOST_GATHERED;
	if (work->attention == ATTENTION_EAGER)
		return FRAGMENTATION_MOST_EAGER;
	return has_loss_kernel(work) ? FRAGMENTATION_MOST_KERNEL
				     : FRAGMENTATION_MOST_FLASH;
}

/*
 * FSDP shares out weights that were quantised on each GPU: all of them were
 * there before, and what they leave free need not fit what comes and goes.
 */
static int64_t left_by_loading(const struct sizes *sizes,
			       const struct estimate *estimate)
{
	int64_t shared = estimate->parts[estimate->phase][PART_WEIGHTS];
	int64_t whole =
		frozen_bytes(sizes, sizes->on_gpu, sizes->linear_on_gpu);

	if (stored_weights(sizes->work) == WEIGHTS_AS_COMPUTED ||
	    !fragments_by_gathering(sizes->work))
		return 0;
	return count_above(
		count_add(whole,
			  count_above(estimate->peak[TIER_ALLOCATED], shared)),
		estimate->peak[TIER_RESERVED]);
}

/* From the edges of the tier below. The interval is never shorter than that.
 * Where nothing is trained all of it is certain, and the rest may be off at
 * once. */
static void tier_edges(const struct workload *work, struct estimate *estimate,
		       enum tier tier, int64_t below, int64_t above)
{
	int64_t (*sum)(int64_t, int64_t) =
		has_training(work) ? joint : count_add;
	enum tier inner = (enum tier)(tier - 1);
	int64_t peak = estimate->peak[tier];

	assert(tier > TIER_ALLOCATED && below >= 0 && above >= 0);
	below = sum(below,
		    count_above(estimate->peak[inner], estimate->low[inner]));
	above = sum(above,
		    count_above(estimate->high[inner], estimate->peak[inner]));
	estimate->low[tier] =
		count_most(count_above(peak, below), estimate->low[inner]);
	estimate->high[tier] = count_add(peak, above);
	assert(estimate->low[tier] <= estimate->high[tier]);
}

static void reserved_edges(const struct sizes *sizes, struct estimate *estimate)
{
	int64_t expected = estimate->parts[estimate->phase][PART_FRAGMENTATION];
	int64_t most = fragmentation_bytes(sizes, estimate, estimate->phase,
					   fragmentation_most(sizes->work));

	tier_edges(sizes->work, estimate, TIER_RESERVED, expected,
		   count_most(count_above(most, expected),
			      left_by_loading(sizes, estimate)));
}

static int64_t context_most(const struct workload *work)
{
	if (work->compute_major == 0)
		return CONTEXT_MOST;
	return work->compute_major <= TURING_MAJOR ? CONTEXT_MOST_TURING
						   : CONTEXT_MOST_LATER;
}

static void process_edges(const struct workload *work,
			  struct estimate *estimate)
{
	const int64_t *parts = estimate->parts[estimate->phase];
	struct spread spread = spreads[PART_COMMUNICATION];
	int64_t context = parts[PART_CONTEXT],
		groups = parts[PART_COMMUNICATION];
	int64_t below = 0, above = 0;

	if (!work->context_bytes) {
		below = count_above(context, CONTEXT_LEAST);
		above = count_above(context_most(work), context);
	}
	tier_edges(work, estimate, TIER_PROCESS,
		   count_add(below, count_scaled(groups, 1 - spread.low)),
		   count_add(above, count_scaled(groups, spread.high - 1)));
}

void interval_fill(const struct sizes *sizes, struct estimate *estimate)
{
	allocated_edges(sizes, estimate);
	reserved_edges(sizes, estimate);
	process_edges(sizes->work, estimate);
	assert(estimate->low[TIER_PROCESS] >= estimate->low[TIER_RESERVED]);
}
