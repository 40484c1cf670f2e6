/* Did the sizes that were written into the command take effect? Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/effect/effect_check.h"

#include "base/units.h"

#include <assert.h>
#include <stdbool.h>

/* Sizes so far apart that a difference must show. */
#define SIZE_STRIDE INT64_C(4)
#define SPAN (SIZE_STRIDE * SIZE_STRIDE)
#define SIZES_MIN 3

bool effect_check_counts(const struct trial *trials, size_t count, size_t index)
{
	if (!trial_has_verdict(&trials[index]))
		return false;
	for (size_t i = index + 1; i < count; i++)
		if (trials[i].micro_batch == trials[index].micro_batch &&
		    trial_has_verdict(&trials[i]))
			return false;
	return true;
}

bool effect_check_rests_on_output(const struct trial *trial)
{
	return trial_fits(trial) && trial->steps_source == STEPS_LOG &&
	       !trial->ran_to_end && !trial->steps_were_awaited;
}

/* The size itself, or counted over all ranks. */
static bool is_size(const struct effect_check_facts *facts, int64_t seen,
		    int64_t size)
{
	return seen == size || seen == count_product(size, facts->world_size);
}

/* Lines of the program name another size than was written. */
static bool contradicts(const struct effect_check_facts *facts,
			const struct trial *trial)
{
	bool micro_is_written = trial->micro_batch != facts->own_micro;
	int64_t samples = count_product(trial->micro_batch, trial->grad_accum);

	if (!micro_is_written && trial->grad_accum == facts->own_accum)
		return false;
	return (trial->printed_sizes_micro && micro_is_written &&
		!is_size(facts, trial->printed_sizes_micro,
			 trial->micro_batch)) ||
	       (trial->printed_sizes_accum &&
		!is_size(facts, trial->printed_sizes_accum,
			 trial->grad_accum)) ||
	       (trial->printed_sizes_effective &&
		!is_size(facts, trial->printed_sizes_effective, samples));
}

/* Lines of the program name the size. An effective batch that stays as it was
 * says nothing. */
static bool effect_check_is_printed(const struct effect_check_facts *facts,
				    const struct trial *trial)
{
	int64_t own = count_product(facts->own_micro, facts->own_accum);

	return trial->printed_sizes_micro ||
	       (trial->printed_sizes_effective &&
		!is_size(facts, trial->printed_sizes_effective, own));
}

/* Input rows are equal to the size written, and not to another one as well. */
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

/* Another size saw the very same, so that it is the size of that by chance. */
static bool is_seen_twice(const struct trial *trials, size_t count,
			  const struct trial *trial)
{
	for (size_t i = 0; i < count; i++)
		if (trials[i].micro_batch != trial->micro_batch &&
		    trials[i].input_rows == trial->input_rows &&
		    trials[i].seen_accum == trial->seen_accum &&
		    trials[i].loader_rows == trial->loader_rows)
			return true;
	return false;
}

/* So do all passes of a step, which take each micro-batch in pieces: of one
 * that a loader was told, or of another step than the command's own. */
static bool pieces_make_size(const struct effect_check_facts *facts,
			     const struct trial *trials, size_t count,
			     const struct trial *trial)
{
	return trial_step_is_whole(trial) &&
	       !is_seen_twice(trials, count, trial) &&
	       (trial->loader_rows == trial->micro_batch ||
		count_product(trial->micro_batch, trial->grad_accum) !=
			count_product(facts->own_micro, facts->own_accum));
}

/*
 * Rows of packed or ragged data differ from batch to batch, and those of a
 * small data set end at its size: twice as many is enough.
 */
static bool rows_rise(const struct trial *small, const struct trial *large)
{
	double sizes = (double)large->micro_batch / (double)small->micro_batch;
	double needed = 1 + 0.75 * (sizes - 1);

	assert(small->micro_batch < large->micro_batch);
	return small->input_rows && large->input_rows &&
	       (double)large->input_rows >=
		       (needed < 2 ? needed : 2) * (double)small->input_rows;
}

/* Clearly more memory, and not by files that count in the larger peak only. */
static bool takes_more(const struct trial *low, const struct trial *high,
		       bool is_noisy)
{
	double share = !is_noisy ? EFFECT_SAME_PEAK
		       : high->peak_bytes > low->peak_bytes + EFFECT_NOISY_BYTES
			       ? EFFECT_NOISY_PEAK
			       : EFFECT_NOISY_SMALL_PEAK;

	return (!high->peak_has_files || low->peak_has_files) &&
	       (double)high->peak_bytes > (double)low->peak_bytes * (1 + share);
}

/* Where the same rows go in, only what is clear of all noise tells. */
static bool peaks_differ(const struct trial *small, const struct trial *large,
			 bool is_noisy)
{
	return trial_is_point(small) && trial_is_point(large) &&
	       (takes_more(small, large, is_noisy) ||
		(!is_noisy && takes_more(large, small, false)));
}

/*
 * A step with more samples takes longer, and so does each of its micro-steps:
 * else it is the accumulation that took effect, or did not.
 */
static bool times_rise(const struct trial *small, const struct trial *large)
{
	bool by_output = effect_check_rests_on_output(small) ||
			 effect_check_rests_on_output(large);
	const double factor =
		1 + (by_output ? EFFECT_NOISY_TIME : EFFECT_SAME_TIME);

	if (!trial_fits(small) || !trial_fits(large) ||
	    !(small->step_seconds > 0) || small->grad_accum < 1 ||
	    large->grad_accum < 1)
		return false;
	return large->step_seconds >
		       small->step_seconds * factor + EFFECT_TICK_SECONDS &&
	       large->step_seconds / (double)large->grad_accum >
		       small->step_seconds / (double)small->grad_accum * factor;
}

/* It made its steps, and was doubted because its peak does not follow the size:
 * where the same went in, that is no difference. */
static bool is_only_flat(const struct trial *small, const struct trial *large)
{
	return large->verdict == VERDICT_TOO_BIG && large->steps > 0 &&
	       !large->is_idle && large->seen_accum <= large->grad_accum &&
	       large->input_rows == small->input_rows;
}

/* The smaller one fits; the larger one ran out of memory, or of data. */
static bool verdicts_differ(const struct trial *small,
			    const struct trial *large, bool is_host)
{
	if (!trial_fits(small))
		return false;
	if (large->verdict == VERDICT_OVER_BUDGET)
		return !trial_is_point(large) &&
		       takes_more(small, large, is_host);
	return trial_is_out_of_memory(large) ||
	       (large->verdict == VERDICT_TOO_BIG &&
		!is_only_flat(small, large));
}

static bool pair_shows(const struct effect_check_facts *facts,
		       const struct trial *small, const struct trial *large)
{
	bool rows_are_equal =
		small->input_rows && small->input_rows == large->input_rows;

	return small->micro_batch < large->micro_batch &&
	       (rows_rise(small, large) ||
		peaks_differ(small, large, rows_are_equal || facts->is_host) ||
		(!rows_are_equal && times_rise(small, large)) ||
		verdicts_differ(small, large, facts->is_host));
}

static bool any_pair_shows(const struct effect_check_facts *facts,
			   const struct trial *trials, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < count; k++)
			if (effect_check_counts(trials, count, i) &&
			    effect_check_counts(trials, count, k) &&
			    pair_shows(facts, &trials[i], &trials[k]))
				return true;
	return false;
}

/* It ran to its verdict, with a peak to be compared. */
static bool is_measured(const struct trial *trial)
{
	return trial_is_point(trial) ||
	       (trial->verdict == VERDICT_TOO_BIG && trial->steps > 0 &&
		trial->peak_bytes && !trial->peak_is_lower_bound);
}

/* The sizes that ran, and those of them whose peak is known. */
struct tried_sizes {
	int64_t smallest, largest;
	size_t count;
};

static struct tried_sizes sizes_of(const struct trial *trials, size_t count,
				   bool with_peak)
{
	struct tried_sizes sizes = { 0 };

	for (size_t i = 0; i < count; i++) {
		int64_t micro = trials[i].micro_batch;

		if (!effect_check_counts(trials, count, i) || micro < 1 ||
		    (with_peak && !is_measured(&trials[i])))
			continue;
		if (!sizes.count || micro < sizes.smallest)
			sizes.smallest = micro;
		if (micro > sizes.largest)
			sizes.largest = micro;
		sizes.count++;
	}
	assert(sizes.smallest <= sizes.largest);
	return sizes;
}

static bool is_wide(const struct tried_sizes *sizes)
{
	return sizes->count >= SIZES_MIN &&
	       sizes->largest >= count_product(sizes->smallest, SPAN);
}

static int64_t next_to_try(const struct effect_check_facts *facts,
			   const struct trial *trials, size_t count)
{
	struct tried_sizes sizes = sizes_of(trials, count, false);
	const int64_t wanted[] = {
		count_product(sizes.smallest, SIZE_STRIDE),
		count_product(sizes.smallest, SPAN),
		sizes.smallest / SIZE_STRIDE,
		sizes.smallest / SPAN,
		sizes.smallest ? 1 : 0, /* any size is better than none */
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		bool was_tried = false;

		for (size_t k = 0; k < count; k++)
			was_tried = was_tried ||
				    (trials[k].micro_batch == wanted[i] &&
				     trials[k].verdict != VERDICT_DISTURBED);
		if (!was_tried && wanted[i] >= 1 &&
		    wanted[i] <= facts->max_micro && !is_wide(&sizes))
			return wanted[i];
	}
	return 0;
}

struct effect_check effect_check_judge(const struct effect_check_facts *facts,
				       const struct trial *trials, size_t count)
{
	struct effect_check check = { .state = EFFECT_UNKNOWN };
	struct tried_sizes sizes = sizes_of(trials, count, true);
	bool is_in_doubt = false;

	assert(facts->world_size >= 1);
	for (size_t i = 0; i < count; i++) {
		const struct trial *trial = &trials[i];
		bool is_written = trial->micro_batch != facts->own_micro;
		bool rests_on_output = effect_check_rests_on_output(trial);

		if (!check.witness && contradicts(facts, trial))
			check.witness = trial;
		is_in_doubt = is_in_doubt || is_written || rests_on_output;
		if (is_written && !rests_on_output &&
		    (effect_check_is_printed(facts, trial) ||
		     rows_equal_size(facts, trials, count, trial) ||
		     pieces_make_size(facts, trials, count, trial)))
			check.state = EFFECT_SHOWN;
	}
	if (check.witness)
		check.state = EFFECT_CONTRADICTED;
	else if (!is_in_doubt || any_pair_shows(facts, trials, count))
		check.state = EFFECT_SHOWN;
	else if (check.state == EFFECT_UNKNOWN && is_wide(&sizes))
		check.state = EFFECT_NO_EFFECT;
	if (check.state == EFFECT_UNKNOWN)
		check.next_micro = next_to_try(facts, trials, count);
	return check;
}
