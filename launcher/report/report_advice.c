/* The report's advice: what else could be run, and what that touches. */
/* SPDX-License-Identifier: MIT */
#include "launcher/report/report_final.h"

#include "base/units.h"
#include "launcher/command/text/text.h"
#include "launcher/report/report_words.h"

#include <inttypes.h>
#include <math.h>

/* After the effective batch changed: by how much, and what follows it. */
static void add_touched(struct strbuf *out, const struct report_style *style,
			const struct result *result)
{
	int64_t now = result->record.batch.effective_batch;
	int64_t before = result->own.effective_batch;
	struct strbuf line = STRBUF_INIT;
	double factor;

	if (before <= 0)
		before = result->record.effective_batch_asked;
	if (before <= 0 || now <= 0 || now == before)
		return;
	factor = (double)now / (double)before;
	strbuf_addf(&line,
		    "the effective batch went from %" PRId64 " to %" PRId64
		    " (x %.3g). That touches the learning rate (common "
		    "starting points: x %.3g linear, x %.3g square root) and "
		    "what is counted in steps: for as many samples, warm-up, "
		    "max steps and intervals x %.3g",
		    before, now, factor, factor, sqrt(factor), 1 / factor);
	words_field(out, style, "note", strbuf_text(&line));
	strbuf_release(&line);
}

void report_advice(struct strbuf *out, const struct report_style *style,
		   const struct result *result)
{
	struct strbuf line = STRBUF_INIT;

	add_touched(out, style, result);
	if (result->predicted_micro_batch > 0) {
		strbuf_addf(&line,
			    "about micro %" PRId64 " should fit (predicted, "
			    "not run). To search it: autofit --grow -- ...",
			    result->predicted_micro_batch);
		words_field(out, style, "next", strbuf_text(&line));
	}
	if (result->nearest_effective_batch > 0) {
		strbuf_reset(&line);
		strbuf_addf(&line,
			    "effective batch %" PRId64
			    " has no split near the largest safe micro-batch; "
			    "%" PRId64
			    " has: autofit --effective-batch %" PRId64
			    " -- ...",
			    result->record.batch.effective_batch,
			    result->nearest_effective_batch,
			    result->nearest_effective_batch);
		words_field(out, style, "next", strbuf_text(&line));
	}
	strbuf_release(&line);
}

/* The smallest size that was run and does not fit; NULL: none. */
static const struct trial *smallest_misfit(const struct result *result)
{
	const struct probe_notes *probes = &result->record.probes;
	const struct trial *found = NULL;

	for (size_t i = 0; i < probes->count; i++) {
		const struct trial *trial = &probes->items[i].trial;

		if (trial_is_misfit(trial) &&
		    (!found || trial->micro_batch < found->micro_batch))
			found = trial;
	}
	return found;
}

static void add_misfit(struct strbuf *out, const struct report_style *style,
		       const struct result *result)
{
	const struct trial *trial = smallest_misfit(result);
	struct strbuf line = STRBUF_INIT;
	char text[BYTES_TEXT_MAX];

	if (trial) {
		strbuf_addf(&line, "micro %" PRId64 ": ", trial->micro_batch);
		words_verdict(&line, trial);
		if (trial->peak_bytes > 0)
			strbuf_addf(&line, ", peak %s%s",
				    trial->peak_is_lower_bound ? "over " : "",
				    bytes_format(text, trial->peak_bytes));
		words_field(out, style, "smallest", strbuf_text(&line));
	}
	words_field(out, style, "ways out",
		    "a larger --memory, a smaller --headroom, a smaller model "
		    "or shorter sequences");
	strbuf_release(&line);
}

/* Something fits, but no split of the effective batch can use it. */
static void add_largest(struct strbuf *out, const struct report_style *style,
			const struct result *result)
{
	const struct record *record = &result->record;
	int64_t world =
		record->batch.world_size > 0 ? record->batch.world_size : 1;
	struct strbuf line = STRBUF_INIT;
	int64_t effective;

	strbuf_addf(&line, "micro %" PRId64 " is the largest that does fit",
		    record->largest_fit);
	if (record->peak_bytes > 0) {
		strbuf_adds(&line, " (peak ");
		words_pair(&line, record->peak_bytes, record->limit_bytes);
		strbuf_addch(&line, ')');
	}
	if (result->has_accumulation)
		strbuf_adds(&line, ". To use it: autofit --grow -- ...");
	else if (!__builtin_mul_overflow(record->largest_fit, world,
					 &effective))
		strbuf_addf(&line,
			    ". To use it: autofit --effective-batch %" PRId64
			    " -- ...",
			    effective);
	words_field(out, style, "largest", strbuf_text(&line));
	if (!result->has_accumulation)
		words_field(out, style, "or",
			    "name the command's option for gradient "
			    "accumulation, to keep the effective batch: "
			    "autofit --accum-flag NAME -- ...");
	strbuf_release(&line);
}

void report_ways_out(struct strbuf *out, const struct report_style *style,
		     const struct result *result)
{
	struct strbuf line = STRBUF_INIT;

	if (result->record.limit_bytes > 0) {
		words_limit(&line, style, result);
		words_field(out, style, "memory", strbuf_text(&line));
	}
	if (result->record.largest_fit > 0)
		add_largest(out, style, result);
	else
		add_misfit(out, style, result);
	strbuf_release(&line);
}
