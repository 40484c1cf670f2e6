/* A record as a page, and as curves in a terminal. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/pages/record_page.h"

#include "base/alloc.h"
#include "base/units.h"
#include "launcher/command/text/text.h"
#include "launcher/pages/chart_svg.h"
#include "launcher/pages/chart_text.h"
#include "launcher/pages/html.h"
#include "launcher/pages/record_charts.h"
#include "launcher/records/export_formats.h"
#include "launcher/report/rates.h"
#include "launcher/report/report_words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

static void add_date(struct strbuf *out, int64_t created)
{
	time_t seconds = (time_t)created;
	char date[32] = "";
	struct tm day;

	if (created > 0 && gmtime_r(&seconds, &day) &&
	    strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", &day))
		strbuf_adds(out, date);
}

static void fact_split(const struct record *record, struct strbuf *out)
{
	const struct batch *batch = &record->batch;

	strbuf_addf(out,
		    "micro %" PRId64 " x accum %" PRId64 " x %" PRId64
		    " rank%s = %" PRId64,
		    batch->micro_batch, batch->grad_accum, batch->world_size,
		    batch->world_size == 1 ? "" : "s", batch->effective_batch);
}

static void fact_memory(const struct record *record, struct strbuf *out)
{
	char peak[BYTES_TEXT_MAX], limit[BYTES_TEXT_MAX];
	char budget[BYTES_TEXT_MAX], headroom[BYTES_TEXT_MAX];

	if (!record->peak_bytes || !record->limit_bytes)
		return;
	strbuf_addf(out, "peak %s of a limit of %s",
		    bytes_format(peak, record->peak_bytes),
		    bytes_format(limit, record->limit_bytes));
	if (record->budget_bytes)
		strbuf_addf(out, " (budget %s - headroom %s)",
			    bytes_format(budget, record->budget_bytes),
			    bytes_format(headroom, record->headroom_bytes));
}

static void fact_evidence(const struct record *record, struct strbuf *out)
{
	if (record->largest_fit)
		strbuf_addf(out, "largest fit %" PRId64, record->largest_fit);
	if (record->smallest_misfit)
		strbuf_addf(out, "%ssmallest misfit %" PRId64 " (by %s)",
			    out->length ? ", " : "", record->smallest_misfit,
			    record->misfit_by ? record->misfit_by : "probe");
	if (record->confirmed_steps) {
		strbuf_adds(out, out->length ? ", " : "");
		record_add_confirmation(record, out);
	}
}

static const char *record_device_name(const struct record *record)
{
	if (record->device_count && record->devices[0].name[0])
		return record->devices[0].name;
	return record->device_kind && record->device_kind[0] == 'h'
		       ? "host memory"
		       : record->device_kind;
}

static void add_all_words(const struct strlist *words, struct strbuf *out)
{
	for (size_t i = 0; i < words->count; i++)
		strbuf_addf(out, "%s%s", i ? ", " : "", words->items[i]);
}

static void fact_device(const struct record *record, struct strbuf *out)
{
	if (record_device_name(record))
		strbuf_adds(out, record_device_name(record));
	if (record->device_count > 1)
		strbuf_addf(out, ", %zu of them", record->device_count);
}

static void fact_versions(const struct record *record, struct strbuf *out)
{
	add_all_words(&record->versions, out);
}

static void fact_not_run(const struct record *record, struct strbuf *out)
{
	add_all_words(&record->not_exercised, out);
}

static void fact_caveats(const struct record *record, struct strbuf *out)
{
	add_all_words(&record->caveats, out);
}

static void fact_date(const struct record *record, struct strbuf *out)
{
	add_date(out, record->created);
	if (record->host)
		strbuf_addf(out, " on %s", record->host);
}

/* In the order in which they are asked for. */
static const struct fact {
	const char *name;
	void (*add)(const struct record *record, struct strbuf *out);
} facts[] = {
	{ "recommended", fact_split }, { "memory", fact_memory },
	{ "evidence", fact_evidence }, { "device", fact_device },
	{ "versions", fact_versions }, { "not run", fact_not_run },
	{ "caveats", fact_caveats },   { "recorded", fact_date },
};

#define FACTS (sizeof(facts) / sizeof(*facts))

static void add_facts(const struct record *record, struct strbuf *out)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_adds(out, "<dl>\n");
	for (size_t i = 0; i < FACTS; i++) {
		strbuf_reset(&text);
		facts[i].add(record, &text);
		html_field(out, facts[i].name, strbuf_text(&text));
	}
	strbuf_adds(out, "</dl>\n");
	strbuf_release(&text);
}

static void add_paste(const struct record *record, struct strbuf *out)
{
	/* A copy of the struct, not of what it owns. */
	const struct result result = { .record = *record };
	struct strbuf text = STRBUF_INIT;

	html_element(out, "h2", "To paste");
	if (export_add_options(&text, &record->settings, NULL) == 0 &&
	    text.length) {
		strbuf_adds(out, "<pre>");
		html_text(out, strbuf_text(&text));
		strbuf_adds(out, "</pre>\n");
	}
	strbuf_reset(&text);
	if (export_cmd(&result, &text, NULL) == 0 && text.length) {
		strbuf_adds(out, "<pre>");
		html_text(out, strbuf_text(&text));
		strbuf_adds(out, "</pre>\n");
	}
	strbuf_release(&text);
}

static void add_number_cell(struct strbuf *out, const char *text)
{
	strbuf_adds(out, "<td class=\"n\">");
	html_text(out, text);
	strbuf_adds(out, "</td>");
}

static void add_probe(struct strbuf *out, const struct record *record,
		      size_t at)
{
	const struct probe_note *note = &record->probes.items[at];
	const struct trial *trial = &note->trial;
	const struct result result = { .record = *record };
	double rate =
		rates_samples_per_second(&result, trial, trial->grad_accum);
	char peak[BYTES_TEXT_MAX] = "", seconds[DURATION_TEXT_MAX];
	struct strbuf speed = STRBUF_INIT;

	if (trial->peak_bytes)
		(void)bytes_format(peak, trial->peak_bytes);
	if (rate > 0)
		words_rate(&speed, rate);
	strbuf_addf(out,
		    "<tr><th scope=\"row\">%zu</th><td class=\"n\">%" PRId64
		    "</td><td class=\"n\">%" PRId64 "</td>",
		    at + 1, trial->micro_batch, trial->grad_accum);
	strbuf_adds(out, "<td class=\"n\">");
	if (trial->peak_is_lower_bound && *peak)
		strbuf_adds(out, "&#8805; ");
	strbuf_addf(out, "%s</td><td><span class=\"%s\">%s</span></td>", peak,
		    trial_fits(trial)        ? "is-good"
		    : trial_is_misfit(trial) ? "is-bad"
					     : "is-open",
		    verdict_name(trial->verdict));
	strbuf_addf(out, "<td class=\"n\">%" PRId64 "</td>", trial->steps);
	add_number_cell(out, duration_format(seconds, trial->seconds));
	add_number_cell(out, strbuf_text(&speed));
	strbuf_adds(out, "<td class=\"why\">");
	html_text(out, note->why);
	strbuf_adds(out, "</td></tr>\n");
	strbuf_release(&speed);
}

static void add_probes(const struct record *record, struct strbuf *out)
{
	static const struct html_head heads[] = {
		{ "probe", false }, { "micro", true },     { "accum", true },
		{ "peak", true },   { "verdict", false },  { "steps", true },
		{ "took", true },   { "samples/s", true }, { "why", false },
		{ NULL, false },
	};

	html_element(out, "h2", "Probes");
	html_table_begin(out, "Every probe and what its verdict rests on",
			 heads);
	for (size_t i = 0; i < record->probes.count; i++)
		add_probe(out, record, i);
	html_table_end(out);
}

static const struct page_chart {
	void (*make)(const struct record *record, struct chart *chart);
	void (*draw)(const struct chart *chart, struct strbuf *out);
	bool has_text; /* drawn in a terminal as well */
} charts[] = {
	{ record_chart_memory, chart_svg, true },
	{ record_chart_speed, chart_svg, true },
	{ record_chart_time, chart_svg_bars, false },
};

#define CHARTS (sizeof(charts) / sizeof(*charts))

void record_page_html(const struct record *record, struct strbuf *out)
{
	char *title = xasprintf("autofit: %s", record->id);

	html_begin(out, title);
	free(title);
	add_facts(record, out);
	add_paste(record, out);
	html_element(out, "h2", "Curves");
	strbuf_adds(out, "<div class=\"charts\">\n");
	for (size_t i = 0; i < CHARTS; i++) {
		struct chart chart;

		charts[i].make(record, &chart);
		if (chart.count)
			charts[i].draw(&chart, out);
		chart_release(&chart);
	}
	strbuf_adds(out, "</div>\n");
	add_probes(record, out);
	html_end(out);
}

void record_page_text(const struct record *record, size_t columns,
		      bool is_ascii, struct strbuf *out)
{
	struct strbuf text = STRBUF_INIT;

	text_add_safe(out, record->id, is_ascii);
	strbuf_adds(out, "\n");
	for (size_t i = 0; i < CHARTS; i++) {
		struct chart chart;

		charts[i].make(record, &chart);
		if (chart.count && charts[i].has_text) {
			strbuf_adds(out, "\n");
			chart_text(&chart, columns, is_ascii, out);
		}
		chart_release(&chart);
	}
	strbuf_adds(out, "\n");
	text_add_wrapped(out,
			 "o fits, x does not, ^ says neither, --- budget and "
			 "limit, dotted: the memory line",
			 0, columns);
	strbuf_adds(out, "\n\n");
	for (size_t i = 0; i < FACTS; i++) {
		struct strbuf safe = STRBUF_INIT;

		strbuf_reset(&text);
		facts[i].add(record, &text);
		text_add_safe(&safe, strbuf_text(&text), is_ascii);
		if (safe.length) {
			strbuf_addf(out, "%-12s", facts[i].name);
			text_add_wrapped(out, strbuf_text(&safe), 12, columns);
			strbuf_adds(out, "\n");
		}
		strbuf_release(&safe);
	}
	strbuf_release(&text);
}
