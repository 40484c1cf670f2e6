/* The charts of a record: memory, speed, and the probes in time. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/pages/record_charts.h"

#include "base/alloc.h"
#include "base/units.h"
#include "launcher/report/rates.h"
#include "launcher/report/report_words.h"
#include "search/memory_line.h"

#include <inttypes.h>
#include <stdlib.h>

static void bytes_text(struct strbuf *out, double y)
{
	char text[BYTES_TEXT_MAX];

	strbuf_adds(out, y >= 1 ? bytes_format(text, (uint64_t)y) : "0");
}

static void rate_text(struct strbuf *out, double y)
{
	if (y > 0)
		words_rate(out, y);
	else
		strbuf_adds(out, "0");
}

static enum chart_kind chart_kind_of(const struct trial *trial)
{
	if (trial_fits(trial))
		return CHART_GOOD;
	return trial_is_misfit(trial) ? CHART_BAD : CHART_OPEN;
}

/* "micro 64 x accum 2: 1.70 GiB, fits" */
static char *memory_label(const struct trial *trial)
{
	char peak[BYTES_TEXT_MAX];

	return xasprintf("micro %" PRId64 " x accum %" PRId64 ": %s%s, %s",
			 trial->micro_batch, trial->grad_accum,
			 trial->peak_is_lower_bound ? "at least " : "",
			 bytes_format(peak, trial->peak_bytes),
			 verdict_name(trial->verdict));
}

static void add_memory_level(struct chart *chart, uint64_t bytes,
			     const char *name)
{
	if (bytes)
		chart->levels[chart->level_count++] =
			(struct chart_level){ (double)bytes, name };
}

void record_chart_memory(const struct record *record, struct chart *chart)
{
	struct trial *trials = probe_notes_trials(&record->probes);
	struct memory_line line =
		memory_line_guess(trials, record->probes.count);

	*chart = (struct chart){ .title = "Memory against micro-batch",
				 .x_name = "micro-batch",
				 .y_text = bytes_text,
				 .is_bytes = true };
	for (size_t i = 0; i < record->probes.count; i++)
		if (trials[i].peak_bytes)
			chart_add(chart, &(struct chart_point){
						 (double)trials[i].micro_batch,
						 (double)trials[i].peak_bytes,
						 0, chart_kind_of(&trials[i]),
						 memory_label(&trials[i]) });
	if (line.points == 2) {
		chart->has_line = true;
		chart->line_start = line.fixed_bytes;
		chart->line_slope = line.bytes_per_sample;
	}
	add_memory_level(chart, record->budget_bytes, "budget");
	add_memory_level(chart, record->limit_bytes, "limit");
	free(trials);
}

void record_chart_speed(const struct record *record, struct chart *chart)
{
	/* A copy of the struct, not of what it owns. */
	const struct result result = { .record = *record };

	*chart = (struct chart){ .title = "Samples per second",
				 .x_name = "micro-batch",
				 .y_text = rate_text };
	for (size_t i = 0; i < record->probes.count; i++) {
		const struct trial *trial = &record->probes.items[i].trial;
		double rate = rates_samples_per_second(&result, trial,
						       trial->grad_accum);
		struct strbuf label = STRBUF_INIT;

		if (!(rate > 0) || !trial_fits(trial))
			continue;
		strbuf_addf(&label, "micro %" PRId64 " x accum %" PRId64 ": ",
			    trial->micro_batch, trial->grad_accum);
		words_rate(&label, rate);
		strbuf_adds(&label, " samples/s");
		chart_add(chart, &(struct chart_point){
					 (double)trial->micro_batch, rate,
					 rate * rates_spread(trial), CHART_GOOD,
					 strbuf_detach(&label) });
	}
}

void record_chart_time(const struct record *record, struct chart *chart)
{
	*chart = (struct chart){ .title = "The probes, one after another",
				 .x_name = "seconds",
				 .y_text = rate_text };
	for (size_t i = 0; i < record->probes.count; i++) {
		const struct trial *trial = &record->probes.items[i].trial;
		char text[DURATION_TEXT_MAX];

		chart_add(chart,
			  &(struct chart_point){
				  trial->seconds, 0, 0, chart_kind_of(trial),
				  xasprintf("micro %" PRId64 ", %s",
					    trial->micro_batch,
					    duration_format(text,
							    trial->seconds)) });
	}
}
