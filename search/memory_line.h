/* The memory line: peak bytes as fixed + per_sample x micro-batch. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_SEARCH_MEMORY_LINE_H
#define AUTOFIT_SEARCH_MEMORY_LINE_H

#include "base/trial.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Through the two largest measured peaks that are farther apart than the
 * noise (problem.h); with one usable point, through the origin, which can
 * only over-estimate what larger sizes need.
 */
struct memory_line {
	size_t points; /* 0: nothing measured, 1: through the origin, 2 */
	double fixed_bytes;
	double bytes_per_sample;
};

struct memory_line memory_line_fit(const struct trial *trials, size_t count);

/* Predicted peak of a size, never negative; 0 when points is 0. */
uint64_t memory_line_peak(const struct memory_line *line, int64_t micro_batch);

/* The largest size predicted to stay within limit; 0 when none or unknown. */
int64_t memory_line_micro(const struct memory_line *line, uint64_t limit_bytes);

#endif
