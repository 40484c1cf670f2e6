/* A night and those before it as a page, and as lines of a terminal. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/pages/night_page.h"

#include "base/alloc.h"
#include "base/units.h"
#include "launcher/command/text/text.h"
#include "launcher/nightly/night_compare.h"
#include "launcher/nightly/night_text.h"
#include "launcher/pages/chart_svg.h"
#include "launcher/pages/html.h"
#include "launcher/report/report_words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

/* Of a job: its name and device, each with its own history. */
static const struct night_row *row_in(const struct night *night,
				      const struct night_row *row)
{
	return night_find(night, row->name);
}

static void add_history_words(struct strbuf *out, const struct night *nights,
			      size_t count, const struct night_row *row)
{
	for (size_t i = 0; i < count; i++) {
		const struct night_row *then = row_in(&nights[i], row);

		strbuf_addf(out, "%s", i ? " " : "");
		if (then && then->batch.micro_batch)
			strbuf_addf(out, "%" PRId64, then->batch.micro_batch);
		else
			strbuf_adds(out, "-");
	}
}

static void add_spark(struct strbuf *out, const struct night *nights,
		      size_t count, const struct night_row *row)
{
	double *values = xcalloc(count, sizeof(*values));
	struct strbuf words = STRBUF_INIT;

	strbuf_adds(&words, "micro-batch by night: ");
	add_history_words(&words, nights, count, row);
	for (size_t i = 0; i < count; i++) {
		const struct night_row *then = row_in(&nights[i], row);

		values[i] = then ? (double)then->batch.micro_batch : 0;
	}
	chart_svg_spark(values, count, strbuf_text(&words), out);
	strbuf_release(&words);
	free(values);
}

static void add_night_cell(struct strbuf *out, const char *class,
			   const char *text)
{
	strbuf_addf(out, "<td class=\"%s\">", class);
	html_text(out, text);
	strbuf_adds(out, "</td>");
}

/* "64 x 2" or, of several ranks, "64 x 2 x 8". */
static void add_split_cell(struct strbuf *out, const struct batch *batch)
{
	strbuf_adds(out, "<td class=\"n\">");
	if (batch->micro_batch)
		strbuf_addf(out, "%" PRId64 " x %" PRId64, batch->micro_batch,
			    batch->grad_accum);
	if (batch->world_size > 1)
		strbuf_addf(out, " x %" PRId64, batch->world_size);
	strbuf_adds(out, "</td>");
}

static const char *change_of(const struct night_row *row)
{
	return row->change ? night_change_name(row->change)
			   : night_state_name(row->state);
}

static const char *why_of_row(const struct night_row *row)
{
	return row->state != NIGHT_OK && row->message ? row->message
						      : row->cause;
}

static const char *change_class(const struct night_row *row)
{
	if (night_needs_look(row))
		return "is-bad";
	return row->change == CHANGE_BETTER ? "is-good" : "is-plain";
}

/* Below its job, so that it can be read where the columns are wider than the
 * screen. */
static void add_why_row(struct strbuf *out, const char *why)
{
	if (!why)
		return;
	strbuf_adds(out, "<tr class=\"why\"><td colspan=\"7\"><div>");
	html_text(out, why);
	strbuf_adds(out, "</div></td></tr>\n");
}

static void add_night_row(struct strbuf *out, const struct night *nights,
			  size_t count, const struct night_row *row)
{
	struct strbuf speed = STRBUF_INIT, memory = STRBUF_INIT;

	if (row->speed > 0)
		words_rate(&speed, row->speed);
	if (row->peak_bytes > 0)
		words_pair(&memory, (uint64_t)row->peak_bytes,
			   (uint64_t)row->limit_bytes);
	strbuf_adds(out, "<tr><th scope=\"row\">");
	html_text(out, row->name);
	strbuf_adds(out, "</th>");
	add_night_cell(out, "device", row->device);
	strbuf_addf(out, "<td><span class=\"%s\">%s</span></td>",
		    change_class(row), change_of(row));
	add_split_cell(out, &row->batch);
	add_night_cell(out, "n", strbuf_text(&memory));
	add_night_cell(out, "n", strbuf_text(&speed));
	strbuf_adds(out, "<td>");
	add_spark(out, nights, count, row);
	strbuf_adds(out, "</td></tr>\n");
	add_why_row(out, why_of_row(row));
	strbuf_release(&memory);
	strbuf_release(&speed);
}

/* "3 jobs, 1 to look at; began 2026-11-25 22:30 UTC on node1" */
static void add_summary(struct strbuf *out, const struct night *night)
{
	time_t started = (time_t)night->started;
	char date[32] = "";
	struct tm day;
	size_t look = 0;

	for (size_t i = 0; i < night->count; i++)
		look += night_needs_look(&night->rows[i]);
	strbuf_addf(out, "%zu job%s, %zu to look at", night->count,
		    night->count == 1 ? "" : "s", look);
	if (night->started > 0 && gmtime_r(&started, &day) &&
	    strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", &day))
		strbuf_addf(out, "; began %s", date);
	if (night->host)
		strbuf_addf(out, " on %s", night->host);
	if (!night->finished)
		strbuf_adds(out, "; not over");
}

void night_page_html(const struct night *nights, size_t count,
		     struct strbuf *out)
{
	static const struct html_head heads[] = {
		{ "job", false },          { "device", false },
		{ "change", false },       { "micro x accum", true },
		{ "peak of limit", true }, { "samples/s", true },
		{ "history", false },      { NULL, false },
	};
	const struct night *night = &nights[count - 1];
	struct strbuf words = STRBUF_INIT;
	char *caption;

	html_begin(out, "autofit: recommended batch sizes");
	add_summary(&words, night);
	html_element(out, "p", strbuf_text(&words));
	caption = xasprintf("Every job; its history is the micro-batch of %zu "
			    "night%s, the last one on the right",
			    count, count == 1 ? "" : "s");
	html_table_begin(out, caption, heads);
	for (size_t i = 0; i < night->count; i++)
		add_night_row(out, nights, count, &night->rows[i]);
	html_table_end(out);
	html_end(out);
	free(caption);
	strbuf_release(&words);
}

void night_page_text(const struct night *nights, size_t count, bool is_ascii,
		     struct strbuf *out)
{
	const struct night *night = &nights[count - 1];
	struct strbuf line = STRBUF_INIT;

	add_summary(&line, night);
	text_add_safe(out, strbuf_text(&line), is_ascii);
	strbuf_adds(out, "\n");
	for (size_t i = 0; i < night->count; i++) {
		const struct night_row *row = &night->rows[i];

		strbuf_reset(&line);
		strbuf_addf(&line, "%s: ", row->name);
		night_line(row, &line);
		text_add_safe(out, strbuf_text(&line), is_ascii);
		strbuf_adds(out, "\n    micro by night: ");
		add_history_words(out, nights, count, row);
		strbuf_adds(out, "\n");
	}
	strbuf_release(&line);
}
