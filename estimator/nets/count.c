/* Counts and bytes that cannot overflow unnoticed. Pure. */
/* SPDX-License-Identifier: MIT */
#include "estimator/nets/count.h"

#include <math.h>

int64_t count_add(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? COUNT_OVERFLOW : sum;
}

int64_t count_mul(int64_t a, int64_t b)
{
	int64_t product;

	if (a == 0 || b == 0)
		return 0;
	if (a == COUNT_OVERFLOW || b == COUNT_OVERFLOW ||
	    __builtin_mul_overflow(a, b, &product))
		return COUNT_OVERFLOW;
	return product;
}

int64_t count_share(int64_t count, int64_t parts)
{
	if (count == COUNT_OVERFLOW || parts <= 1)
		return count;
	return count / parts + (count % parts != 0);
}

int64_t count_scaled(int64_t count, double factor)
{
	double product = ceil((double)count * factor);

	if (count == COUNT_OVERFLOW || product >= 0x1p63)
		return COUNT_OVERFLOW;
	return (int64_t)product;
}

int64_t count_most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

int64_t count_least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int64_t count_above(int64_t a, int64_t b)
{
	if (a == COUNT_OVERFLOW)
		return a;
	return a > b ? a - b : 0;
}
