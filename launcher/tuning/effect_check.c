/* Did the sizes that were written into the command take effect? Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/effect_check.h"

#include <stdbool.h>

/* Sizes so far apart that a difference must show. */
#define STRIDE INT64_C(4)
#define SPAN (STRIDE * STRIDE)
#define SIZES_MIN 3
/* Steps are looked for in this interval: no time is known better. */
#define TICK_SECONDS 0.02

static int64_t product(int64_t a, int64_t b)
{
	int64_t result;

	return __builtin_mul_overflow(a, b, &result) ? INT64_MAX : result;
}

/* It ended in a way that says something of its size. */
static bool is_usable(const struct trial *trial)
{
	return trial_fits(trial) || trial_is_misfit(trial);
}

/* Of several trials of one size the last counts. */
static bool is_in_use(const struct trial *trials, size_t count, size_t index)
{
	if (!is_usable(&trials[index]))
		return false;
	for (size_t i = index + 1; i < count; i++)
		if (trials[i].micro_batch == trials[index].micro_batch &&
		    is_usable(&trials[i]))
			return false;
	return true;
}

static bool micro_is_written(const struct effect_check_facts *facts,
			     const struct trial *trial)
{
	return trial->micro_batch != facts->own_micro;
}

static bool is_written(const struct effect_check_facts *facts,
		       const struct trial *trial)
{
	return micro_is_written(facts, trial) ||
	       trial->grad_accum != facts->own_accum;
}

/* The size itself, or counted over all ranks. */
static bool is_size(const struct effect_check_facts *facts, int64_t seen,
		    int64_t size)
{
	return seen == size || seen == product(size, facts->world_size);
}

static int64_t samples(const struct trial *trial)
{
	return product(trial->micro_batch, trial->grad_accum);
}

static bool micro_contradicts(const struct effect_check_facts *facts,
			      const struct trial *trial)
{
	return trial->printed_sizes_micro && micro_is_written(facts, trial) &&
	       !is_size(facts, trial->printed_sizes_micro, trial->micro_batch);
}

static bool accum_contradicts(const struct effect_check_facts *facts,
			      const struct trial *trial)
{
	return trial->printed_sizes_accum &&
	       !is_size(facts, trial->printed_sizes_accum, trial->grad_accum);
}

static bool effective_contradicts(const struct effect_check_facts *facts,
				  const struct trial *trial)
{
	return trial->printed_sizes_effective &&
	       !is_size(facts, trial->printed_sizes_effective, samples(trial));
}

static const struct trial *
find_contradiction(const struct effect_check_facts *facts,
		   const struct trial *trials, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_written(facts, &trials[i]) &&
		    (micro_contradicts(facts, &trials[i]) ||
		     accum_contradicts(facts, &trials[i]) ||
		     effective_contradicts(facts, &trials[i])))
			return &trials[i];
	return NULL;
}

/* An effective batch that stays as it was says nothing. */
static bool printed_sizes_shows(const struct effect_check_facts *facts,
				const struct trial *trial)
{
	int64_t own = product(facts->own_micro, facts->own_accum);

	return trial->printed_sizes_micro ||
	       (trial->printed_sizes_effective &&
		!is_size(facts, trial->printed_sizes_effective, own));
}

/* Equal to the size written, and not to another one as well. */
static bool rows_equal_size(const struct effect_check_facts *facts,
			    const struct trial *trials, size_t count,
			    const struct trial *trial)
{
	if (!trial->input_rows ||
	    !is_size(facts, trial->input_rows, trial->micro_batch))
		return false;
	for (size_t i = 0; i < count; i++)
		if (trials[i].micro_batch != trial->micro_batch &&
		    trials[i].input_rows == trial->input_rows)
			return false;
	return true;
}

static bool one_shows(const struct effect_check_facts *facts,
		      const struct trial *trials, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (micro_is_written(facts, &trials[i]) &&
		    (printed_sizes_shows(facts, &trials[i]) ||
		     rows_equal_size(facts, trials, count, &trials[i])))
			return true;
	return false;
}

/*
 * Rows of packed or ragged data differ from batch to batch, and those of a
 * small data set end at its size: twice as many is enough.
 */
static bool rows_rise(const struct trial *small, const struct trial *large)
{
	double sizes = (double)large->micro_batch / (double)small->micro_batch;
	double needed = 1 + 0.75 * (sizes - 1);

	if (!small->input_rows || !large->input_rows)
		return false;
	return (double)large->input_rows >=
	       (needed < 2 ? needed : 2) * (double)small->input_rows;
}

static bool rows_are_equal(const struct trial *small, const struct trial *large)
{
	return small->input_rows && small->input_rows == large->input_rows;
}

/* Where the same rows go in, only what is clear of all noise tells. */
static bool peaks_differ(const struct trial *small, const struct trial *large)
{
	double low = (double)small->peak_bytes;
	double high = (double)large->peak_bytes;

	if (!trial_is_point(small) || !trial_is_point(large))
		return false;
	if (rows_are_equal(small, large))
		return high > low * (1 + EFFECT_NOISY_PEAK);
	return high > low * (1 + EFFECT_SAME_PEAK) ||
	       low > high * (1 + EFFECT_SAME_PEAK);
}

static double micro_step_seconds(const struct trial *trial)
{
	return trial->step_seconds / (double)trial->grad_accum;
}

/*
 * A step with more samples takes longer, and so does each of its micro-steps:
 * else it is the accumulation that took effect, or did not.
 */
static bool times_rise(const struct trial *small, const struct trial *large)
{
	const double factor = 1 + EFFECT_SAME_TIME;

	if (!trial_fits(small) || !trial_fits(large) ||
	    !(small->step_seconds > 0) || small->grad_accum < 1 ||
	    large->grad_accum < 1 || rows_are_equal(small, large))
		return false;
	return large->step_seconds >
		       small->step_seconds * factor + TICK_SECONDS &&
	       micro_step_seconds(large) > micro_step_seconds(small) * factor;
}

/* The smaller one fits; the larger one ran out of memory, or of data. */
static bool verdicts_differ(const struct trial *small,
			    const struct trial *large)
{
	if (!trial_fits(small))
		return false;
	if (large->verdict == VERDICT_OVER_BUDGET)
		return !trial_is_point(large) &&
		       (double)large->peak_bytes >
			       (double)small->peak_bytes *
				       (1 + EFFECT_SAME_PEAK);
	return large->verdict == VERDICT_OOM_DEVICE ||
	       large->verdict == VERDICT_OOM_HOST ||
	       large->verdict == VERDICT_TOO_BIG;
}

static bool two_show(const struct trial *trials, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < count; k++) {
			const struct trial *small = &trials[i];
			const struct trial *large = &trials[k];

			if (small->micro_batch < large->micro_batch &&
			    is_in_use(trials, count, i) &&
			    is_in_use(trials, count, k) &&
			    (rows_rise(small, large) ||
			     peaks_differ(small, large) ||
			     times_rise(small, large) ||
			     verdicts_differ(small, large)))
				return true;
		}
	return false;
}

/* The sizes that ran, and those of them whose peak is known. */
struct sizes {
	int64_t smallest, largest;
	size_t count;
};

static struct sizes sizes_of(const struct trial *trials, size_t count,
			     bool with_peak)
{
	struct sizes sizes = { 0 };

	for (size_t i = 0; i < count; i++) {
		int64_t micro = trials[i].micro_batch;

		if (!is_in_use(trials, count, i) || micro < 1 ||
		    (with_peak && !trial_is_point(&trials[i])))
			continue;
		if (!sizes.count || micro < sizes.smallest)
			sizes.smallest = micro;
		if (micro > sizes.largest)
			sizes.largest = micro;
		sizes.count++;
	}
	return sizes;
}

static bool is_wide(const struct sizes *sizes)
{
	return sizes->count >= SIZES_MIN &&
	       sizes->largest >= product(sizes->smallest, SPAN);
}

static bool was_tried(const struct trial *trials, size_t count, int64_t micro)
{
	for (size_t i = 0; i < count; i++)
		if (trials[i].micro_batch == micro &&
		    trials[i].verdict != VERDICT_DISTURBED)
			return true;
	return false;
}

static int64_t next_size(const struct effect_check_facts *facts,
			 const struct trial *trials, size_t count)
{
	struct sizes sizes = sizes_of(trials, count, false);
	const int64_t wanted[] = {
		product(sizes.smallest, STRIDE),
		product(sizes.smallest, SPAN),
		sizes.smallest / STRIDE,
		sizes.smallest / SPAN,
	};

	if (is_wide(&sizes))
		return 0;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		if (wanted[i] >= 1 && wanted[i] <= facts->max_micro &&
		    !was_tried(trials, count, wanted[i]))
			return wanted[i];
	return 0;
}

static bool any_is_written(const struct effect_check_facts *facts,
			   const struct trial *trials, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (micro_is_written(facts, &trials[i]))
			return true;
	return false;
}

struct effect_check effect_check_judge(const struct effect_check_facts *facts,
				       const struct trial *trials, size_t count)
{
	struct effect_check check = { .state = EFFECT_SHOWN };
	struct sizes sizes = sizes_of(trials, count, true);

	check.witness = find_contradiction(facts, trials, count);
	if (check.witness)
		check.state = EFFECT_CONTRADICTED;
	else if (!any_is_written(facts, trials, count) ||
		 one_shows(facts, trials, count) || two_show(trials, count))
		check.state = EFFECT_SHOWN;
	else if (is_wide(&sizes))
		check.state = EFFECT_NO_EFFECT;
	else
		check.state = EFFECT_UNKNOWN;
	if (check.state == EFFECT_UNKNOWN)
		check.next_micro = next_size(facts, trials, count);
	return check;
}
