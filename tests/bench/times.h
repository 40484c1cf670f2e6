/* Clocks of the benchmarks, and the middle of what they measured. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_BENCH_TIMES_H
#define AUTOFIT_TESTS_BENCH_TIMES_H

#include <stdlib.h>
#include <time.h>

/* Nanoseconds of a clock: CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID; 0: it
 * cannot be read. */
static inline double times_ns(clockid_t clock)
{
	struct timespec time;

	if (clock_gettime(clock, &time) < 0)
		return 0;
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static inline int times_compare(const void *a, const void *b)
{
	const double *one = a;
	const double *other = b;

	return (*one > *other) - (*one < *other);
}

/* Sorts them: the first is the least, the last the worst. */
static inline double times_median(double *times, size_t count)
{
	qsort(times, count, sizeof(*times), times_compare);
	return times[count / 2];
}

#endif
