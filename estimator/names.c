/* The words for parts, phases and tiers, and which part counts where. Pure. */
/* SPDX-License-Identifier: MIT */
#include "estimator/estimator.h"

static const struct {
	const char *name;
	enum tier tier;
} parts[PARTS] = {
	[PART_WEIGHTS] = { "weights", TIER_ALLOCATED },
	[PART_GRADIENTS] = { "gradients", TIER_ALLOCATED },
	[PART_OPTIMIZER] = { "optimizer states", TIER_ALLOCATED },
	[PART_MASTER] = { "fp32 master weights", TIER_ALLOCATED },
	[PART_CASTS] = { "16-bit casts of weights", TIER_ALLOCATED },
	[PART_ADAPTERS] = { "adapters", TIER_ALLOCATED },
	[PART_ACTIVATIONS] = { "activations", TIER_ALLOCATED },
	[PART_LOSS] = { "logits and loss", TIER_ALLOCATED },
	[PART_LAYER] = { "one layer at work", TIER_ALLOCATED },
	[PART_STEP] = { "temporaries of the step", TIER_ALLOCATED },
	[PART_BUCKETS] = { "communication buckets", TIER_ALLOCATED },
	[PART_KV_CACHE] = { "KV cache", TIER_ALLOCATED },
	[PART_RESIDENTS] = { "other models", TIER_ALLOCATED },
	[PART_WORKSPACES] = { "workspaces and rounding", TIER_ALLOCATED },
	[PART_FRAGMENTATION] = { "fragmentation", TIER_RESERVED },
	[PART_CONTEXT] = { "CUDA context", TIER_PROCESS },
	[PART_COMMUNICATION] = { "communicators", TIER_PROCESS },
};

static const char *const phases[PEAK_PHASES] = {
	[PEAK_FORWARD] = "forward",
	[PEAK_BACKWARD] = "backward",
	[PEAK_STEP] = "optimizer step",
	[PEAK_GENERATION] = "generation",
};

static const char *const tiers[TIERS] = {
	[TIER_ALLOCATED] = "allocated",
	[TIER_RESERVED] = "reserved",
	[TIER_PROCESS] = "process",
};

const char *part_name(enum part part)
{
	return parts[part].name;
}

enum tier part_tier(enum part part)
{
	return parts[part].tier;
}

const char *peak_phase_name(enum peak_phase phase)
{
	return phases[phase];
}

const char *tier_name(enum tier tier)
{
	return tiers[tier];
}
