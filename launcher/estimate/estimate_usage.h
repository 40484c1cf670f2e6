/* How much of a GPU a run takes, and how its batch is split. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_ESTIMATE_ESTIMATE_USAGE_H
#define AUTOFIT_LAUNCHER_ESTIMATE_ESTIMATE_USAGE_H

#include "estimator/estimator.h"

#include <stdint.h>

/* How much of a GPU a run takes. */
enum usage_band {
	BAND_ROOMY, /* most of it stays free */
	BAND_OK,    /* the upper edge fits */
	BAND_TIGHT, /* the estimate fits, its upper edge does not */
	BAND_NO,    /* it does not fit */
};
/* What a run may take of a GPU: all that is usable, or a serving engine's
 * share of it. */
int64_t usage_budget(const struct workload *run, int64_t usable_bytes);

/* What a serving engine's KV cache has room for, beside the rest. */
struct usage_cache {
	int64_t bytes, tokens, sequences;
};

/* false: the run is no engine's, or it has no cache. budget_bytes as above. */
bool usage_cache_room(const struct workload *run,
		      const struct estimate *estimate, int64_t budget_bytes,
		      struct usage_cache *room);

enum usage_band usage_band(const struct estimate *estimate,
			   int64_t usable_bytes);
const char *usage_band_name(enum usage_band band);   /* "tight" */
const char *usage_band_advice(enum usage_band band); /* a sentence */

/*
 * The largest part of the wished effective batch that divides it, is at most
 * largest, and its accumulation; 0: the GPUs do not divide the batch.
 */
int64_t estimate_split(int64_t effective_batch, int64_t gpus, int64_t largest,
		       int64_t *accum);

#endif
