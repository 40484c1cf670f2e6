/* Counts and bytes that cannot overflow unnoticed. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_ESTIMATOR_NETS_COUNT_H
#define AUTOFIT_ESTIMATOR_NETS_COUNT_H

#include <stdint.h>

/*
 * Arguments are at least 0. What does not fit 63 bits is COUNT_OVERFLOW, and
 * so is all that is computed from it: one look at the end is enough.
 */
#define COUNT_OVERFLOW INT64_MAX

/* Rounded up; parts are at least 1. */
int64_t count_share(int64_t count, int64_t parts);
/* With a fraction, rounded up. */
int64_t count_scaled(int64_t count, double factor);

/* In the header: an estimate is made of thousands of these. */
static inline int64_t count_add(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? COUNT_OVERFLOW : sum;
}

/* COUNT_OVERFLOW x 1 is the same number. */
static inline int64_t count_mul(int64_t a, int64_t b)
{
	int64_t product;

	return __builtin_mul_overflow(a, b, &product) ? COUNT_OVERFLOW
						      : product;
}

static inline int64_t count_most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static inline int64_t count_least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* a - b, at least 0. */
static inline int64_t count_above(int64_t a, int64_t b)
{
	if (a == COUNT_OVERFLOW)
		return a;
	return a > b ? a - b : 0;
}

#endif
