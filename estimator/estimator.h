/* What a size will need, before and between probes. Bytes per device. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_ESTIMATOR_ESTIMATOR_H
#define AUTOFIT_ESTIMATOR_ESTIMATOR_H

#include <stdbool.h>
#include <stdint.h>

/* What is known of the command before its first probe. 0: not known. */
struct estimator_facts {
	int64_t user_micro_batch; /* the size in the command, or its default */
	uint64_t limit_bytes;
};

/*
 * An interval for peak(micro) = fixed + per_sample x micro. known is false
 * while nothing about the model is known: then only start_micro holds.
 */
struct estimate {
	bool known;
	uint64_t fixed_bytes_low, fixed_bytes_high;
	uint64_t bytes_per_sample_low, bytes_per_sample_high;
	int64_t start_micro; /* the first size to probe, >= 1 */
};

/* Without model facts the start is the user's own size, else 1. */
struct estimate estimator_start(const struct estimator_facts *facts);

#endif
