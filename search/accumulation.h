/* Splits of an effective batch into micro-batch and gradient accumulation. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_SEARCH_ACCUMULATION_H
#define AUTOFIT_SEARCH_ACCUMULATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No number below 2^63 has more divisors. */
#define SPLITS_MAX 103680

/*
 * Micro-batches whose split is exact: micro x accum x world == effective,
 * micro a multiple of multiple_of and at most max_micro. Ascending into
 * micros[capacity]; returns how many there are (at most capacity written;
 * the largest are kept out when there are more).
 */
size_t accumulation_splits(int64_t effective_batch, int64_t world,
			   int64_t multiple_of, int64_t *micros,
			   size_t capacity);

/* effective / (micro x world) when exact, else 0. Overflow-safe. */
int64_t accumulation_exact(int64_t effective_batch, int64_t micro,
			   int64_t world);

/* The smallest accumulation with micro x accum x world >= effective. */
int64_t accumulation_grow(int64_t effective_batch, int64_t micro,
			  int64_t world);

/*
 * The effective batch nearest to the asked one that has an exact split at
 * micro: micro x world x round(effective / (micro x world)), at least one.
 */
int64_t accumulation_nearest(int64_t effective_batch, int64_t micro,
			     int64_t world);

/*
 * The accumulation that a program derives from a nominal batch: nominal / step
 * as Python's round() or, without rounds, its // has it, and at least one.
 * step: the samples of one pass over all ranks.
 */
int64_t accumulation_derived(int64_t nominal, int64_t step, bool rounds);

/* The largest number that divides both; a and b at least 0, not both 0. */
int64_t accumulation_divisor(int64_t a, int64_t b);

/* The smallest multiple of both, each at least 1; INT64_MAX: too large. */
int64_t accumulation_multiple(int64_t a, int64_t b);

#endif
