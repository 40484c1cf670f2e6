/* The largest micro-batch that fits. Pure. */
/* SPDX-License-Identifier: MIT */
#include "estimator/estimator_internal.h"

#include <errno.h>

/* Bytes of the process at that size; what 63 bits do not count fits nowhere.
 */
static int64_t process_bytes(struct workload *work, int64_t micro_batch,
			     bool is_bare)
{
	struct estimate estimate;

	work->micro_batch = micro_batch;
	if (estimate_memory(work, &estimate, NULL) < 0)
		return COUNT_OVERFLOW;
	return is_bare ? estimate.peak[TIER_PROCESS]
		       : estimate.high[TIER_PROCESS];
}

/* The last size that fits, the first that does not, and their bytes. */
struct bracket {
	int64_t low, high;
	int64_t low_bytes, high_bytes;
};

/* On the straight line between both. The phases are lines and their maximum
 * bends upwards, so the answer is no less. */
static int64_t largest_on_line(const struct bracket *bracket, int64_t usable)
{
	double share = (double)(usable - bracket->low_bytes) /
		       (double)(bracket->high_bytes - bracket->low_bytes);
	double width = (double)(bracket->high - bracket->low);

	return bracket->low + (int64_t)(share * width);
}

/* Where the line says; whether one more is too much; the middle. */
static int64_t next_size(const struct bracket *bracket, int64_t usable,
			 int round)
{
	int64_t size = bracket->low + (bracket->high - bracket->low) / 2;

	if (bracket->high_bytes != COUNT_OVERFLOW && round % 3 == 0)
		size = largest_on_line(bracket, usable);
	if (round % 3 == 1)
		size = bracket->low + 1;
	return count_least(count_most(size, bracket->low + 1),
			   bracket->high - 1);
}

/* Up from a size that fits until one does not, or to the limit. */
static void widen(struct workload *work, int64_t usable, bool is_bare,
		  int64_t limit, struct bracket *bracket)
{
	while (bracket->high < limit) {
		bracket->high =
			bracket->high < limit / 4 ? bracket->high * 4 : limit;
		bracket->high_bytes =
			process_bytes(work, bracket->high, is_bare);
		if (bracket->high_bytes > usable)
			return;
		bracket->low = bracket->high;
		bracket->low_bytes = bracket->high_bytes;
	}
}

static int64_t largest_search(struct workload *work, int64_t usable,
			      bool is_bare, int64_t limit)
{
	struct bracket bracket = { .low = 1, .high = 1 };

	bracket.low_bytes = process_bytes(work, 1, is_bare);
	if (bracket.low_bytes > usable)
		return 0;
	widen(work, usable, is_bare, limit, &bracket);
	for (int round = 0; bracket.high - bracket.low > 1; round++) {
		int64_t size = next_size(&bracket, usable, round);
		int64_t bytes = process_bytes(work, size, is_bare);

		if (bytes <= usable) {
			bracket.low = size;
			bracket.low_bytes = bytes;
		} else {
			bracket.high = size;
			bracket.high_bytes = bytes;
		}
	}
	return bracket.low;
}

int64_t estimate_largest(const struct workload *workload, int64_t usable_bytes,
			 bool is_bare, int64_t limit, struct error *err)
{
	struct workload work = *workload;
	struct estimate estimate;
	int result;

	if (limit < 1)
		return error_set(err, -EINVAL,
				 "limit is %lld: a batch has a sample",
				 (long long)limit);
	if (usable_bytes < 0)
		return error_set(err, -EINVAL, "usable_bytes is below 0");
	/* What cannot be counted fits nowhere. */
	usable_bytes = count_least(usable_bytes, COUNT_OVERFLOW - 1);
	work.micro_batch = 1;
	result = estimate_memory(&work, &estimate, err);
	if (result < 0)
		return result;
	return largest_search(&work, usable_bytes, is_bare, limit);
}
