/* Splits of an effective batch into micro-batch and gradient accumulation. */
/* SPDX-License-Identifier: MIT */
#include "search/accumulation.h"

#include <assert.h>
#include <stdbool.h>

/*
 * Divisors are sought up to here, below a second of work, and each brings its
 * cofactor: all of them for products up to 2^54. Of a larger product, a split
 * in which both factors are above this is not found.
 */
#define DIVISOR_MAX (INT64_C(1) << 27)

static bool are_positive(int64_t a, int64_t b, int64_t c)
{
	return a > 0 && b > 0 && c > 0;
}

size_t accumulation_splits(int64_t effective_batch, int64_t world,
			   int64_t multiple_of, int64_t *micros,
			   size_t capacity)
{
	size_t small = 0;
	size_t count;
	int64_t product;
	int64_t last = 1;

	if (!are_positive(effective_batch, world, multiple_of) ||
	    effective_batch % world != 0 ||
	    effective_batch / world % multiple_of != 0)
		return 0;
	product = effective_batch / world / multiple_of;
	for (int64_t d = 1; d <= DIVISOR_MAX && d <= product / d; d++) {
		if (product % d != 0)
			continue;
		if (small < capacity)
			micros[small] = d * multiple_of;
		small++;
		last = d;
	}
	assert(small >= 1 && "1 divides every product");
	/* A square root is its own cofactor. */
	count = 2 * small - (last * last == product ? 1 : 0);
	assert(count <= SPLITS_MAX);
	for (size_t i = small; i < count && i < capacity; i++) {
		int64_t d = micros[count - 1 - i] / multiple_of;

		micros[i] = product / d * multiple_of;
		assert(micros[i] > micros[i - 1]);
	}
	return count;
}

int64_t accumulation_exact(int64_t effective_batch, int64_t micro,
			   int64_t world)
{
	int64_t accum;

	if (!are_positive(effective_batch, micro, world) ||
	    effective_batch % micro != 0 ||
	    effective_batch / micro % world != 0)
		return 0;
	accum = effective_batch / micro / world;
	assert(micro * world * accum == effective_batch);
	return accum;
}

int64_t accumulation_grow(int64_t effective_batch, int64_t micro, int64_t world)
{
	int64_t steps;

	if (!are_positive(effective_batch, micro, world))
		return 0;
	steps = (effective_batch - 1) / micro + 1;
	return (steps - 1) / world + 1;
}

int64_t accumulation_nearest(int64_t effective_batch, int64_t micro,
			     int64_t world)
{
	int64_t unit;
	int64_t count;
	int64_t rest;

	if (!are_positive(effective_batch, micro, world) ||
	    micro > INT64_MAX / world)
		return 0;
	unit = micro * world;
	count = effective_batch / unit;
	rest = effective_batch % unit;
	if (count == 0)
		return unit;
	/* A tie goes up, unless that is no number any more. */
	if (rest >= unit - rest && count < INT64_MAX / unit)
		count++;
	assert(count <= INT64_MAX / unit);
	return count * unit;
}

int64_t accumulation_derived(int64_t nominal, int64_t step, bool rounds)
{
	int64_t accum = nominal / step;
	int64_t rest = nominal % step;

	assert(step >= 1);
	/* A half goes to the even one of its neighbours. */
	if (rounds &&
	    (rest > step - rest || (rest == step - rest && accum % 2 == 1)))
		accum++;
	return accum > 0 ? accum : 1;
}

int64_t accumulation_divisor(int64_t a, int64_t b)
{
	assert(a >= 0 && b >= 0 && (a || b));
	while (b) {
		int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

int64_t accumulation_multiple(int64_t a, int64_t b)
{
	int64_t result;

	assert(a >= 1 && b >= 1);
	if (__builtin_mul_overflow(a / accumulation_divisor(a, b), b, &result))
		return INT64_MAX;
	return result;
}
