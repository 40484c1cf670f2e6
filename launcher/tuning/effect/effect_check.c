/* Did the sizes that were written into the command take effect? Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/effect/effect_check.h"

#include "search/memory_line.h"

#include <assert.h>
#include <stdbool.h>

/* Sizes so far apart that a difference must show. */
#define SIZE_STRIDE INT64_C(4)
#define SPAN (SIZE_STRIDE * SIZE_STRIDE)
#define SIZES_MIN 3
/* A peak that rises by less than this part of what was promised is flat; only
 * a promise so many times the noise is one, for a size so many times larger. */
#define FLAT_PART 2
#define DOUBT_FACTOR 2
/* Rows that are fewer by more than this part are clearly fewer. */
#define ROWS_PART 8
/* Time that follows the size rises by at least this part of it. */
#define FOLLOWING_TIME 0.75
/* Steps are looked for in this interval: no time is known better. */
#define TICK_SECONDS 0.02

static int64_t capped_product(int64_t a, int64_t b)
{
	int64_t result;

	return __builtin_mul_overflow(a, b, &result) ? INT64_MAX : result;
}

/* The last of several trials of one size counts. */
static bool is_in_use(const struct trial *trials, size_t count, size_t index)
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
	return seen == size || seen == capped_product(size, facts->world_size);
}

/* Lines of the program name another size than was written. */
static bool contradicts(const struct effect_check_facts *facts,
			const struct trial *trial)
{
	bool micro_is_written = trial->micro_batch != facts->own_micro;
	int64_t samples = capped_product(trial->micro_batch, trial->grad_accum);

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
	int64_t own = capped_product(facts->own_micro, facts->own_accum);

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
		       small->step_seconds * factor + TICK_SECONDS &&
	       large->step_seconds / (double)large->grad_accum >
		       small->step_seconds / (double)small->grad_accum * factor;
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
	       large->verdict == VERDICT_TOO_BIG;
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
			if (is_in_use(trials, count, i) &&
			    is_in_use(trials, count, k) &&
			    pair_shows(facts, &trials[i], &trials[k]))
				return true;
	return false;
}

/* The next size above this one, or below it, that was measured to its end;
 * NULL: none. */
static const struct trial *next_fit(const struct trial *trials, size_t count,
				    int64_t micro, bool above)
{
	const struct trial *found = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct trial *trial = &trials[i];

		if (is_in_use(trials, count, i) && trial_fits(trial) &&
		    trial_is_point(trial) && trial->micro_batch != micro &&
		    (trial->micro_batch > micro) == above &&
		    (!found ||
		     (trial->micro_batch < found->micro_batch) == above))
			found = trial;
	}
	return found;
}

/* Each sample is as many rows in both. */
static bool rows_follow(const struct trial *small, const struct trial *large)
{
	return small->input_rows && large->input_rows &&
	       capped_product(small->input_rows, large->micro_batch) ==
		       capped_product(large->input_rows, small->micro_batch);
}

static double pass_seconds(const struct trial *trial)
{
	return trial->grad_accum > 0
		       ? trial->step_seconds / (double)trial->grad_accum
		       : 0;
}

/* Nobody saw rows, and a micro-step takes longer as its size is larger: for a
 * program that makes its batch smaller by itself it does not. */
static bool times_follow(const struct trial *small, const struct trial *large)
{
	double sizes = (double)large->micro_batch / (double)small->micro_batch;
	double low = pass_seconds(small), high = pass_seconds(large);

	return !(small->input_rows && large->input_rows) && low > 0 &&
	       high > low + TICK_SECONDS &&
	       high >= low * (1 + FOLLOWING_TIME * (sizes - 1)) &&
	       high <= low * sizes / FOLLOWING_TIME;
}

/* By how much the line through two smaller sizes rises from the second to this
 * one. */
static double promised_rise(const struct trial *first, const struct trial *low,
			    const struct trial *high)
{
	assert(first->micro_batch < low->micro_batch);
	return ((double)low->peak_bytes - (double)first->peak_bytes) *
	       (double)(high->micro_batch - low->micro_batch) /
	       (double)(low->micro_batch - first->micro_batch);
}

static bool breaks_promise(const struct trial *second,
			   const struct trial *trial, double promised)
{
	return ((double)trial->peak_bytes - (double)second->peak_bytes) *
		       FLAT_PART <
	       promised;
}

/*
 * The rise that the two smallest sizes promise for this one is not there.
 * Theirs within the noise may be a small one that was read too large: then half
 * of what the line to the next smaller size promises must be missed as well.
 */
static bool is_flat(const struct trial *first, const struct trial *second,
		    const struct trial *below, const struct trial *trial)
{
	uint64_t noise = memory_line_noise(second->peak_bytes);
	double promised = promised_rise(first, second, trial);

	/* Memory may rise in stairs: a little further on they show nothing. */
	return trial->micro_batch >= DOUBT_FACTOR * second->micro_batch &&
	       promised > DOUBT_FACTOR * (double)noise &&
	       breaks_promise(second, trial, promised) &&
	       (second->peak_bytes > first->peak_bytes + noise ||
		breaks_promise(below, trial,
			       promised_rise(first, below, trial) /
				       DOUBT_FACTOR));
}

/* More samples in clearly less memory. */
static bool falls_below(const struct trial *below, const struct trial *trial)
{
	return below->peak_bytes >
	       trial->peak_bytes + memory_line_noise(below->peak_bytes);
}

/* The largest smaller size whose passes were seen as they were told; NULL. */
static const struct trial *next_as_told(const struct trial *trials,
					size_t count, int64_t micro)
{
	const struct trial *found = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct trial *trial = &trials[i];

		if (is_in_use(trials, count, i) && trial_fits(trial) &&
		    trial->micro_batch < micro && trial->input_rows &&
		    trial->seen_accum > 0 &&
		    trial->seen_accum == trial->grad_accum &&
		    (!found || trial->micro_batch > found->micro_batch))
			found = trial;
	}
	return found;
}

/* So many rows are those of the whole step that was told. */
static bool is_whole_step(const struct trial *below, const struct trial *trial)
{
	int64_t seen = capped_product(trial->input_rows, trial->seen_accum);
	int64_t told = capped_product(trial->micro_batch, trial->grad_accum);

	return capped_product(seen, below->micro_batch) ==
	       capped_product(told, below->input_rows);
}

/* Fewer rows than were told, and as many as a batch of the loader has; without
 * a loader clearly fewer, as some may be left out one by one. */
static bool is_all_there_is(const struct trial *trial)
{
	int64_t micro = trial->micro_batch;
	int64_t rows = trial->input_rows;

	return trial->loader_rows ? trial->loader_rows == rows && rows < micro
				  : rows && rows < micro - micro / ROWS_PART;
}

/* The very rows of all smaller sizes: the size does nothing. More than those of
 * one, or those of a size that is a little smaller: it is cut. */
static bool rows_are_cut(const struct trial *trials, size_t count,
			 const struct trial *below, const struct trial *trial)
{
	for (size_t i = 0; i < count; i++)
		if (is_in_use(trials, count, i) && trial_fits(&trials[i]) &&
		    trials[i].input_rows &&
		    trials[i].input_rows < trial->input_rows)
			return true;
	return trial->input_rows == below->input_rows &&
	       trial->micro_batch / 2 < below->micro_batch;
}

/* By its rows and passes, beside those of a smaller size, which is returned. */
static enum size_doubt passes_doubt(const struct trial *trials, size_t count,
				    const struct trial *trial,
				    const struct trial **below)
{
	bool is_short = is_all_there_is(trial);

	if (trial->steps_source != STEPS_HOOK ||
	    (!trial->is_idle && !is_short &&
	     trial->seen_accum <= trial->grad_accum))
		return SIZE_TAKEN;
	*below = next_as_told(trials, count, trial->micro_batch);
	if (!*below)
		return SIZE_TAKEN;
	if (trial->is_idle)
		return SIZE_IDLE;
	if (trial->seen_accum > trial->grad_accum && trial->input_rows &&
	    is_whole_step(*below, trial))
		return SIZE_CUT;
	return is_short && (*below)->input_rows == (*below)->micro_batch &&
			       rows_are_cut(trials, count, *below, trial)
		       ? SIZE_SHORT
		       : SIZE_TAKEN;
}

/* By its peak, beside those of all smaller sizes. */
static bool peak_is_doubted(const struct trial *trials, size_t count,
			    const struct trial *below,
			    const struct trial *trial)
{
	const struct trial *first = next_fit(trials, count, 0, true);
	const struct trial *second;

	if (rows_follow(below, trial) || times_follow(below, trial))
		return false;
	if (falls_below(below, trial))
		return true;
	assert(first && first->micro_batch <= below->micro_batch);
	second = next_fit(trials, count, first->micro_batch, true);
	if (second && second->micro_batch < trial->micro_batch)
		return is_flat(first, second, below, trial);
	/* The very rows of the smaller one: the flag alone does nothing. */
	return below->input_rows && trial->input_rows &&
	       trial->input_rows != below->input_rows &&
	       trial->micro_batch >= SIZE_STRIDE * below->micro_batch &&
	       trial->peak_bytes <
		       below->peak_bytes + memory_line_noise(below->peak_bytes);
}

enum size_doubt effect_check_doubt(const struct trial *trials, size_t count,
				   const struct trial *trial,
				   const struct trial **below)
{
	enum size_doubt doubt;

	*below = NULL;
	if (!trial_fits(trial))
		return SIZE_TAKEN;
	doubt = passes_doubt(trials, count, trial, below);
	if (doubt != SIZE_TAKEN)
		return doubt;
	*below = next_fit(trials, count, trial->micro_batch, false);
	return *below && trial_is_point(trial) &&
			       peak_is_doubted(trials, count, *below, trial)
		       ? SIZE_FLAT
		       : SIZE_TAKEN;
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

		if (!is_in_use(trials, count, i) || micro < 1 ||
		    (with_peak && !trial_is_point(&trials[i])))
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
	       sizes->largest >= capped_product(sizes->smallest, SPAN);
}

static int64_t next_to_try(const struct effect_check_facts *facts,
			   const struct trial *trials, size_t count)
{
	struct tried_sizes sizes = sizes_of(trials, count, false);
	const int64_t wanted[] = {
		capped_product(sizes.smallest, SIZE_STRIDE),
		capped_product(sizes.smallest, SPAN),
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
		     rows_equal_size(facts, trials, count, trial)))
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
