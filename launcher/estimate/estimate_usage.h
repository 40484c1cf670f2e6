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
