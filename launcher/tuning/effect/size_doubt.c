/* Does a trial that fits run the size that it was given? Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/effect/size_doubt.h"

#include "base/units.h"
#include "launcher/tuning/effect/effect_check.h"
#include "search/memory_line.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

/* Two sizes this far apart show whether the size does anything. */
#define APART INT64_C(4)
/* A peak that rises by less than this part of what was promised is flat; only
 * a promise so many times the noise is one, for a size so many times larger. */
#define FLAT_PART 2
#define DOUBT_FACTOR 2
/* Rows that are fewer by more than this part are clearly fewer. */
#define ROWS_PART 8
/* Time that follows the size rises by at least this part of it. */
#define FOLLOWING_TIME 0.75

/* The next size above this one, or below it, that was measured to its end;
 * NULL: none. */
static const struct trial *next_fit(const struct trial *trials, size_t count,
				    int64_t micro, bool above)
{
	const struct trial *found = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct trial *trial = &trials[i];

		if (effect_check_counts(trials, count, i) &&
		    trial_fits(trial) && trial_is_point(trial) &&
		    trial->micro_batch != micro &&
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
	       count_product(small->input_rows, large->micro_batch) ==
		       count_product(large->input_rows, small->micro_batch);
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
	       high > low + EFFECT_TICK_SECONDS &&
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

		if (effect_check_counts(trials, count, i) &&
		    trial_fits(trial) && trial->micro_batch < micro &&
		    trial->input_rows && trial->seen_accum > 0 &&
		    trial->seen_accum == trial->grad_accum &&
		    (!found || trial->micro_batch > found->micro_batch))
			found = trial;
	}
	return found;
}

/* So many rows are those of the whole step that was told. */
static bool is_whole_step(const struct trial *below, const struct trial *trial)
{
	int64_t seen = count_product(trial->input_rows, trial->seen_accum);
	int64_t told = count_product(trial->micro_batch, trial->grad_accum);

	return count_product(seen, below->micro_batch) ==
	       count_product(told, below->input_rows);
}

/* Another size takes the very same rows, and was told more of them as well. */
static bool is_most(const struct trial *trials, size_t count,
		    const struct trial *trial)
{
	for (size_t i = 0; i < count; i++)
		if (trials[i].micro_batch != trial->micro_batch &&
		    trials[i].input_rows == trial->input_rows &&
		    trials[i].micro_batch > trials[i].input_rows)
			return true;
	return false;
}

/* The loader's batch is smaller than was told, and all rows come of it, perhaps
 * several of each of its samples; without a loader clearly fewer rows than were
 * told, as some may be left out one by one. */
static bool is_all_there_is(const struct trial *trials, size_t count,
			    const struct trial *trial)
{
	int64_t micro = trial->micro_batch;
	int64_t rows = trial->input_rows;

	if (trial->loader_rows)
		return trial->loader_rows < micro && rows &&
		       rows % trial->loader_rows == 0;
	return rows && (rows < micro - micro / ROWS_PART ||
			(rows < micro && is_most(trials, count, trial)));
}

/* The very rows of all smaller sizes: the size does nothing. More than those of
 * one, or those of a size that is a little smaller: it is cut. */
static bool rows_are_cut(const struct trial *trials, size_t count,
			 const struct trial *below, const struct trial *trial)
{
	for (size_t i = 0; i < count; i++)
		if (effect_check_counts(trials, count, i) &&
		    trial_fits(&trials[i]) && trials[i].input_rows &&
		    trials[i].input_rows < trial->input_rows)
			return true;
	return trial->input_rows == below->input_rows &&
	       trial->micro_batch / 2 < below->micro_batch;
}

/* Each sample that it was told became as many rows as one of this trial's
 * loader does. */
static bool had_its_rows(const struct trial *below, const struct trial *trial)
{
	if (!trial->loader_rows)
		return below->input_rows == below->micro_batch;
	return count_product(below->input_rows, trial->loader_rows) ==
	       count_product(below->micro_batch, trial->input_rows);
}

/* By its rows and passes, beside those of a smaller size, which is returned. */
static enum size_doubt passes_doubt(const struct trial *trials, size_t count,
				    const struct trial *trial,
				    const struct trial **below)
{
	bool is_short = is_all_there_is(trials, count, trial);

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
	return is_short && had_its_rows(*below, trial) &&
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
	       trial->micro_batch >= APART * below->micro_batch &&
	       trial->peak_bytes <
		       below->peak_bytes + memory_line_noise(below->peak_bytes);
}

static double samples_of(const struct trial *trial)
{
	return (double)trial->micro_batch * (double)trial->grad_accum *
	       (double)trial->steps;
}

/*
 * It ended by itself, with exit status 0, after fewer optimizer steps and fewer
 * samples than it made with each other size that fits, of which it was stopped.
 * Neither a limit of steps nor the end of the data does that: it has met an
 * error that it does not tell. The largest such size; NULL: not so.
 */
static const struct trial *stopped_later(const struct trial *trials,
					 size_t count,
					 const struct trial *trial)
{
	const struct trial *found = NULL;

	if (!trial->ran_to_end || trial->steps_source != STEPS_HOOK)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		const struct trial *other = &trials[i];

		if (!trial_fits(other) || other->ran_to_end ||
		    other->steps_source != STEPS_HOOK)
			continue;
		if (other->steps <= trial->steps ||
		    samples_of(other) <= samples_of(trial))
			return NULL;
		if (!found || other->micro_batch > found->micro_batch)
			found = other;
	}
	return found;
}

enum size_doubt size_doubt_of(const struct trial *trials, size_t count,
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
	*below = stopped_later(trials, count, trial);
	if (*below)
		return SIZE_BRIEF;
	*below = next_fit(trials, count, trial->micro_batch, false);
	return *below && trial_is_point(trial) &&
			       peak_is_doubted(trials, count, *below, trial)
		       ? SIZE_FLAT
		       : SIZE_TAKEN;
}

void size_doubt_words(enum size_doubt doubt, const struct trial *below,
		      const struct trial *trial, struct strbuf *out)
{
	switch (doubt) {
	case SIZE_TAKEN:
		break;
	case SIZE_FLAT:
		strbuf_addf(out,
			    "memory no longer follows the size: %s than with "
			    "micro-batch %lld",
			    trial->peak_bytes < below->peak_bytes
				    ? "less"
				    : "hardly more",
			    (long long)below->micro_batch);
		if (trial->input_rows && below->input_rows)
			strbuf_addf(out, ", and %lld rows went in",
				    (long long)trial->input_rows);
		break;
	case SIZE_CUT:
		strbuf_addf(out,
			    "makes its passes smaller by itself: %lld rows x "
			    "%lld passes",
			    (long long)trial->input_rows,
			    (long long)trial->seen_accum);
		break;
	case SIZE_SHORT:
		strbuf_addf(out, "takes %lld rows in a pass, %s",
			    (long long)trial->input_rows,
			    trial->loader_rows
				    ? "as its data loader gives no more"
				    : "fewer than it was told");
		break;
	case SIZE_BRIEF:
		strbuf_addf(out,
			    "ends by itself after %lld %s, where micro-batch "
			    "%lld goes on after %lld",
			    (long long)trial->steps,
			    trial->steps == 1 ? "step" : "steps",
			    (long long)below->micro_batch,
			    (long long)below->steps);
		break;
	case SIZE_IDLE:
		strbuf_addf(out,
			    "makes optimizer steps without a gradient, which "
			    "micro-batch %lld does not: the program leaves "
			    "out what fails",
			    (long long)below->micro_batch);
		break;
	}
}
