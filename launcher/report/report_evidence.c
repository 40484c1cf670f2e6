/* The report of a tuned command: both splits, memory, what was proved. */
/* SPDX-License-Identifier: MIT */
#include "launcher/report/report_final.h"

#include "base/units.h"
#include "launcher/command/text/text.h"
#include "launcher/report/rates.h"
#include "launcher/report/report_words.h"

#include <inttypes.h>
#include <string.h>

/* Less than this between runs of one size is not worth a line. */
#define SPREAD_MIN 0.05

/* ", 386.7 +- 4.1 samples/s (1.24x)": no factor where it may be chance. */
static void evidence_add_rate(struct strbuf *out,
			      const struct report_style *style,
			      const struct result *result,
			      const struct trial *trial, int64_t accum)
{
	struct rate_factor rate = rates_against_own(result, trial, accum);
	double speed = rates_samples_per_second(result, trial, accum);

	if (!(speed > 0))
		return;
	strbuf_adds(out, ", ");
	words_rate_spread(out, style, speed, speed * rates_spread(trial));
	strbuf_adds(out, " samples/s");
	if (!(rate.factor > 0) || trial->micro_batch == result->own.micro_batch)
		return;
	if (rates_is_noise(&rate))
		strbuf_addf(out, " (no factor: timings vary by %.0f%%)",
			    100 * rate.noise);
	else
		strbuf_addf(out, " (%.2fx)", rate.factor);
}

/* "micro 32 x accum 4, peak 1.41 GiB" and its rate */
static void evidence_add_size(struct strbuf *out,
			      const struct report_style *style,
			      const struct result *result, int64_t micro,
			      int64_t accum)
{
	const struct trial *trial = rates_trial(result, micro, accum);

	strbuf_addf(out, "micro %" PRId64 " x accum %" PRId64, micro, accum);
	if (!trial) {
		strbuf_adds(out, ", not probed");
		return;
	}
	if (trial_is_misfit(trial))
		strbuf_adds(out, ": does not fit");
	if (trial->peak_bytes > 0) {
		strbuf_addf(out, ", peak %s",
			    trial->peak_is_lower_bound ? "over " : "");
		words_pair(out, trial->peak_bytes,
			   trial_fits(trial) ? 0 : trial->limit_bytes);
	}
	if (trial_fits(trial)) {
		evidence_add_rate(out, style, result, trial, accum);
	} else {
		strbuf_adds(out, ", ");
		words_verdict(out, trial);
	}
}

static void add_sizes(struct strbuf *out, const struct report_style *style,
		      const struct result *result)
{
	const struct record *record = &result->record;
	bool same = record->batch.micro_batch == result->own.micro_batch &&
		    record->batch.grad_accum == result->own.grad_accum;
	struct strbuf line = STRBUF_INIT;
	struct rate_factor rate;

	if (result->own.micro_batch > 0 && !same) {
		evidence_add_size(&line, style, result, result->own.micro_batch,
				  result->own.grad_accum);
		words_field(out, style, "yours", strbuf_text(&line));
		strbuf_reset(&line);
	}
	evidence_add_size(&line, style, result, record->batch.micro_batch,
			  record->batch.grad_accum);
	words_field(out, style,
		    same                                    ? "yours"
		    : rates_answer_is_slower(result, &rate) ? "largest"
							    : "best",
		    strbuf_text(&line));
	strbuf_release(&line);
}

static void add_spread(struct strbuf *out, const struct report_style *style,
		       const struct result *result)
{
	struct runs_apart spread = rates_runs_apart(result);
	struct strbuf line = STRBUF_INIT;

	strbuf_addf(&line,
		    "runs of one size differ by up to %.0f%% in memory, %.0f%% "
		    "in speed",
		    100 * spread.peak, 100 * spread.speed);
	if (spread.peak >= SPREAD_MIN || spread.speed >= SPREAD_MIN)
		words_field(out, style, "spread", strbuf_text(&line));
	strbuf_release(&line);
}

static void add_kept(struct strbuf *out, const struct report_style *style,
		     const struct result *result)
{
	const struct record *record = &result->record;
	int64_t own = result->own.effective_batch;
	struct strbuf line = STRBUF_INIT;

	if (record->batch.effective_batch <= 0)
		return;
	if (own > 0 && own != record->batch.effective_batch)
		strbuf_addf(&line,
			    "effective batch %" PRId64 " instead of %" PRId64,
			    record->batch.effective_batch, own);
	else
		strbuf_addf(&line, "effective batch %" PRId64,
			    record->batch.effective_batch);
	strbuf_addf(&line, " = %" PRId64 " x %" PRId64 " x %" PRId64,
		    record->batch.micro_batch, record->batch.grad_accum,
		    record->batch.world_size);
	words_field(out, style,
		    own == record->batch.effective_batch ? "kept" : "batch",
		    strbuf_text(&line));
	strbuf_release(&line);
}

static void add_memory(struct strbuf *out, const struct report_style *style,
		       const struct result *result)
{
	const struct record *record = &result->record;
	const struct trial *trial = rates_trial(
		result, record->batch.micro_batch, record->batch.grad_accum);
	struct strbuf line = STRBUF_INIT;
	uint64_t limit = record->limit_bytes;
	char text[BYTES_TEXT_MAX];

	if (record->peak_bytes > 0)
		strbuf_addf(&line, "peak %s",
			    bytes_format(text, record->peak_bytes));
	if (limit > 0) {
		strbuf_adds(&line, record->peak_bytes > 0 ? ", " : "");
		words_limit(&line, style, result);
	}
	if (trial && trial->limit_bytes && trial->limit_bytes < limit) {
		limit = trial->limit_bytes;
		strbuf_addf(&line, "; judged by %s, as its peak grew",
			    bytes_format(text, limit));
	}
	if (record->peak_bytes > 0 && limit > record->peak_bytes)
		strbuf_addf(&line, "; %s to spare",
			    bytes_format(text, limit - record->peak_bytes));
	if (line.length > 0)
		words_field(out, style, "memory", strbuf_text(&line));
	strbuf_release(&line);
}

/* Why the next larger size is called too large. */
static void add_bounds(struct strbuf *line, const struct report_style *style,
		       const struct record *record)
{
	if (record->largest_fit > 0)
		strbuf_addf(line, "largest fit %" PRId64, record->largest_fit);
	if (record->smallest_misfit <= 0)
		return;
	strbuf_addf(line, "%ssmallest misfit %" PRId64,
		    line->length ? ", " : "", record->smallest_misfit);
	if (record->misfit_by) {
		strbuf_adds(line, " (by ");
		text_add_safe(line, record->misfit_by, style->ascii);
		strbuf_addch(line, ')');
	}
}

static void add_evidence(struct strbuf *out, const struct report_style *style,
			 const struct record *record)
{
	static const char *const coverages[] = {
		[COVERAGE_NONE] = "memory not seen",
		[COVERAGE_DEVICE_WIDE] = "memory sampled over the whole device",
		[COVERAGE_EXACT] = "memory seen exactly",
	};
	static const char *const sources[] = {
		[STEPS_NONE] = "steps not seen",
		[STEPS_HOOK] = "optimizer steps counted in the program",
		[STEPS_LOG] = "steps read from its output",
		[STEPS_EXIT] = "run to its end",
		[STEPS_TIME] = "no step seen: judged by time",
		[STEPS_PASSES] = "backward passes counted in the program",
	};
	struct strbuf line = STRBUF_INIT;

	add_bounds(&line, style, record);
	strbuf_addf(&line, "%s%s%s; %s", line.length ? "; " : "",
		    coverages[record->coverage],
		    record_is_phantom(record) ? " on a phantom" : "",
		    sources[record->steps_source]);
	if (record->confirmed_steps > 0) {
		strbuf_adds(&line, "; ");
		record_add_confirmation(record, &line);
	} else if (record->steps_source != STEPS_EXIT) {
		strbuf_adds(&line, "; not confirmed by a longer probe");
	}
	words_field(out, style, "evidence", strbuf_text(&line));
	strbuf_release(&line);
}

static void add_seen(struct strbuf *out, const struct report_style *style,
		     const struct result *result)
{
	const struct trial *trial =
		rates_trial(result, result->record.batch.micro_batch,
			    result->record.batch.grad_accum);
	struct strbuf line = STRBUF_INIT;

	if (trial)
		trial_seen_format(trial, &line);
	if (line.length)
		words_field(out, style, "seen", strbuf_text(&line));
	strbuf_release(&line);
}

static void add_lists(struct strbuf *out, const struct report_style *style,
		      const struct record *record)
{
	struct strbuf line = STRBUF_INIT;

	for (size_t i = 0; i < record->not_exercised.count; i++) {
		strbuf_adds(&line, i ? ", " : "");
		text_add_safe(&line, record->not_exercised.items[i],
			      style->ascii);
	}
	if (line.length > 0)
		words_field(out, style, "not run", strbuf_text(&line));
	for (size_t i = 0; i < record->caveats.count; i++) {
		strbuf_reset(&line);
		text_add_safe(&line, record->caveats.items[i], style->ascii);
		words_field(out, style, "caveat", strbuf_text(&line));
	}
	strbuf_release(&line);
}

void report_evidence(struct strbuf *out, const struct report_style *style,
		     const struct result *result)
{
	add_kept(out, style, result);
	add_seen(out, style, result);
	add_sizes(out, style, result);
	add_spread(out, style, result);
	add_memory(out, style, result);
	add_evidence(out, style, &result->record);
	add_lists(out, style, &result->record);
}
