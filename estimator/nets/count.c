/* Counts and bytes that cannot overflow unnoticed. Pure. */
/* SPDX-License-Identifier: MIT */
#include "estimator/nets/count.h"

#include <math.h>

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
