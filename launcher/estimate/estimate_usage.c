/* How much of a GPU a run takes, and how its batch is split. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/estimate/estimate_usage.h"

/* Under half a larger batch, or a smaller GPU, would do. */
#define ROOMY_SHARE 2

static bool is_engine(const struct workload *run)
{
	return run->task == TASK_INFERENCE && run->engine_share > 0;
}

int64_t usage_budget(const struct workload *run, int64_t usable_bytes)
{
	return is_engine(run)
		       ? (int64_t)((double)usable_bytes * run->engine_share)
		       : usable_bytes;
}

bool usage_cache_room(const struct workload *run,
		      const struct estimate *estimate, int64_t budget_bytes,
		      struct usage_cache *room)
{
	int64_t cache = estimate->parts[PEAK_GENERATION][PART_KV_CACHE];
	int64_t others = estimate->peak[TIER_PROCESS] - cache;
	int64_t sequences = run->generated ? run->generated : run->micro_batch;
	double share;

	*room = (struct usage_cache){ 0 };
	if (!is_engine(run) || cache <= 0 || budget_bytes <= others)
		return false;
	room->bytes = budget_bytes - others;
	share = (double)room->bytes / (double)cache * (double)sequences;
	room->sequences = (int64_t)share;
	room->tokens = (int64_t)(share * (double)run->sequence);
	return true;
}

enum usage_band usage_band(const struct estimate *estimate,
			   int64_t usable_bytes)
{
	if (estimate->peak[TIER_PROCESS] > usable_bytes)
		return BAND_NO;
	if (estimate->high[TIER_PROCESS] > usable_bytes)
		return BAND_TIGHT;
	return estimate->high[TIER_PROCESS] > usable_bytes / ROOMY_SHARE
		       ? BAND_OK
		       : BAND_ROOMY;
}

static const struct {
	const char *name, *advice;
} bands[] = {
	[BAND_ROOMY] = { "roomy",
			 "more than half stays free: a larger batch, or a "
			 "smaller GPU, would do" },
	[BAND_OK] = { "ok", "it fits, with the error of the estimate too" },
	[BAND_TIGHT] = { "tight",
			 "it may fit: only a run can tell (autofit -- "
			 "command...), or take one of the changes below" },
	[BAND_NO] = { "does not fit",
		      "take one of the changes below, or another GPU "
		      "(--gpus)" },
};

const char *usage_band_name(enum usage_band band)
{
	return bands[band].name;
}

const char *usage_band_advice(enum usage_band band)
{
	return bands[band].advice;
}

int64_t estimate_split(int64_t effective_batch, int64_t gpus, int64_t largest,
		       int64_t *accum)
{
	int64_t each = gpus > 0 ? effective_batch / gpus : 0;
	int64_t micro = largest < each ? largest : each;

	*accum = 0;
	if (gpus <= 0 || effective_batch % gpus != 0 || micro < 1)
		return 0;
	while (each % micro != 0)
		micro--;
	*accum = each / micro;
	return micro;
}
