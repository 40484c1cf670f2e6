/* A night as text: Markdown, CSV, Prometheus, and lines for people. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/nightly/night_text.h"

#include "base/alloc.h"
#include "base/units.h"
#include "launcher/command/text/text.h"
#include "launcher/nightly/night_compare.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A line break would end the row, and a bar the cell. */
static void night_text_add_cell(struct strbuf *out, const char *text)
{
	struct strbuf safe = STRBUF_INIT;

	text_add_safe(&safe, text, false);
	strbuf_adds(out, " ");
	for (const char *at = strbuf_text(&safe); *at; at++) {
		if (*at == '|')
			strbuf_addch(out, '\\');
		strbuf_addch(out, *at);
	}
	strbuf_adds(out, " |");
	strbuf_release(&safe);
}

static void add_count_cell(struct strbuf *out, int64_t number)
{
	char *text = number ? xasprintf("%" PRId64, number) : xstrdup("");

	night_text_add_cell(out, text);
	free(text);
}

static const char *why_of(const struct night_row *row)
{
	if (row->state != NIGHT_OK && row->message)
		return row->message;
	return row->cause ? row->cause : "";
}

static void add_row(struct strbuf *out, const struct night_row *row)
{
	char peak[BYTES_TEXT_MAX] = "", limit[BYTES_TEXT_MAX] = "";
	char speed[DECIMAL_TEXT_MAX], factor[DECIMAL_TEXT_MAX];

	strbuf_adds(out, "|");
	night_text_add_cell(out, row->name);
	night_text_add_cell(out, row->device ? row->device : "");
	night_text_add_cell(out, row->change ? night_change_name(row->change)
					     : night_state_name(row->state));
	add_count_cell(out, row->batch.micro_batch);
	add_count_cell(out, row->batch.grad_accum);
	add_count_cell(out, row->batch.world_size);
	night_text_add_cell(
		out, row->peak_bytes
			     ? bytes_format(peak, (uint64_t)row->peak_bytes)
			     : "");
	night_text_add_cell(
		out, row->limit_bytes
			     ? bytes_format(limit, (uint64_t)row->limit_bytes)
			     : "");
	night_text_add_cell(out, decimal_format(speed, row->speed, 2));
	night_text_add_cell(out, decimal_format(factor, row->factor, 2));
	night_text_add_cell(out, why_of(row));
	strbuf_adds(out, "\n");
}

void night_markdown(const struct night *night, struct strbuf *out)
{
	size_t look = 0;

	for (size_t i = 0; i < night->count; i++)
		look += night_needs_look(&night->rows[i]);
	strbuf_addf(out,
		    "# Recommended batch sizes\n\n%zu job%s, %zu to look "
		    "at.%s\n\n",
		    night->count, night->count == 1 ? "" : "s", look,
		    night->finished ? "" : " The night is not over.");
	strbuf_adds(out, "| job | device | change | micro | accum | ranks | "
			 "peak | limit | samples/s | against yours | why |\n"
			 "|---|---|---|--:|--:|--:|--:|--:|--:|--:|---|\n");
	for (size_t i = 0; i < night->count; i++)
		add_row(out, &night->rows[i]);
}

void night_csv(const struct night *night, struct strbuf *out)
{
	strbuf_adds(out, "job,state,change,device,micro_batch,grad_accum,"
			 "world_size,effective_batch,peak_bytes,limit_bytes,"
			 "samples_per_second,speed_factor,seconds,why\r\n");
	for (size_t i = 0; i < night->count; i++) {
		const struct night_row *row = &night->rows[i];
		char speed[DECIMAL_TEXT_MAX], factor[DECIMAL_TEXT_MAX];
		char seconds[DECIMAL_TEXT_MAX];
		const int64_t counts[] = {
			row->batch.micro_batch, row->batch.grad_accum,
			row->batch.world_size,  row->batch.effective_batch,
			row->peak_bytes,        row->limit_bytes,
		};

		strbuf_add_quoted(out, row->name);
		strbuf_addf(out, ",%s,%s,", night_state_name(row->state),
			    night_change_name(row->change));
		strbuf_add_quoted(out, row->device);
		/* What is not known is left empty, as it is in the table. */
		for (size_t k = 0; k < sizeof(counts) / sizeof(*counts); k++) {
			strbuf_addch(out, ',');
			if (counts[k])
				strbuf_addf(out, "%" PRId64, counts[k]);
		}
		strbuf_addf(out, ",%s,%s,%s,",
			    decimal_format(speed, row->speed, 2),
			    decimal_format(factor, row->factor, 2),
			    decimal_format(seconds, row->seconds, 2));
		strbuf_add_quoted(out, why_of(row));
		strbuf_adds(out, "\r\n");
	}
}

static void night_text_add_label(struct strbuf *out, const char *text)
{
	struct strbuf clean = STRBUF_INIT;

	text_add_utf8(&clean, text ? text : "");
	for (const char *at = strbuf_text(&clean); *at; at++) {
		if (*at == '"' || *at == '\\')
			strbuf_addch(out, '\\');
		if (*at == '\n')
			strbuf_adds(out, "\\n");
		else
			strbuf_addch(out, *at);
	}
	strbuf_release(&clean);
}

#define METRIC "autofit_nightly_job_"
#define ROW(member) offsetof(struct night_row, member)

static const struct metric {
	const char *name, *help;
	size_t offset;
	enum { METRIC_COUNT, METRIC_REAL, METRIC_IS_OK, METRIC_LOOK } kind;
} metrics[] = {
	{ "ok", "Whether the job has a recommended setting.", 0, METRIC_IS_OK },
	{ "needs_look", "Whether somebody should look.", 0, METRIC_LOOK },
	{ "micro_batch", "Recommended micro-batch.", ROW(batch.micro_batch),
	  METRIC_COUNT },
	{ "grad_accum", "Recommended accumulation.", ROW(batch.grad_accum),
	  METRIC_COUNT },
	{ "peak_bytes", "Memory peak of that setting.", ROW(peak_bytes),
	  METRIC_COUNT },
	{ "limit_bytes", "What the peak must stay under.", ROW(limit_bytes),
	  METRIC_COUNT },
	{ "samples_per_second", "Samples per second.", ROW(speed),
	  METRIC_REAL },
	{ "tuning_seconds", "How long its tuning took.", ROW(seconds),
	  METRIC_REAL },
};

static double metric_value(const struct metric *metric,
			   const struct night_row *row)
{
	const void *member = (const char *)row + metric->offset;

	if (metric->kind == METRIC_COUNT)
		return (double)*(const int64_t *)member;
	if (metric->kind == METRIC_REAL)
		return *(const double *)member;
	return metric->kind == METRIC_IS_OK ? row->state == NIGHT_OK
					    : night_needs_look(row);
}

static void add_metric(const struct night *night, const struct metric *metric,
		       struct strbuf *out)
{
	bool has_head = false;

	for (size_t i = 0; i < night->count; i++) {
		const struct night_row *row = &night->rows[i];
		double value = metric_value(metric, row);
		char text[DECIMAL_TEXT_MAX];

		/* Elsewhere 0 is not known. */
		if (metric->kind < METRIC_IS_OK && !(value > 0))
			continue;
		if (!has_head)
			strbuf_addf(out,
				    "# HELP " METRIC "%s %s\n# TYPE " METRIC
				    "%s gauge\n",
				    metric->name, metric->help, metric->name);
		has_head = true;
		strbuf_addf(out, METRIC "%s{job=\"", metric->name);
		night_text_add_label(out, row->name);
		strbuf_adds(out, "\",device=\"");
		night_text_add_label(out, row->device);
		strbuf_addf(out, "\"} %s\n",
			    value > 0 ? decimal_format(text, value, 2) : "0");
	}
}

void night_metrics(const struct night *night, struct strbuf *out)
{
	static const char started[] = "autofit_nightly_start_timestamp_seconds";
	static const char finished[] = "autofit_nightly_end_timestamp_seconds";

	strbuf_addf(out,
		    "# HELP %s When the night began.\n# TYPE %s gauge\n"
		    "%s %" PRId64 "\n",
		    started, started, started, night->started);
	strbuf_addf(out,
		    "# HELP %s When it ended, 0 before.\n# TYPE %s gauge\n"
		    "%s %" PRId64 "\n",
		    finished, finished, finished, night->finished);
	for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++)
		add_metric(night, &metrics[i], out);
}

void night_line(const struct night_row *row, struct strbuf *out)
{
	char peak[BYTES_TEXT_MAX], limit[BYTES_TEXT_MAX];

	if (row->state == NIGHT_OK)
		strbuf_addf(out, "micro %" PRId64 " x accum %" PRId64,
			    row->batch.micro_batch, row->batch.grad_accum);
	else
		strbuf_adds(out,
			    row->state == NIGHT_FAILING ? "fails" : "not run");
	if (row->state == NIGHT_OK && row->peak_bytes && row->limit_bytes)
		strbuf_addf(out, ", %s of %s",
			    bytes_format(peak, (uint64_t)row->peak_bytes),
			    bytes_format(limit, (uint64_t)row->limit_bytes));
	if (row->state == NIGHT_OK && row->change)
		strbuf_addf(out, ", %s", night_change_name(row->change));
	if (*why_of(row)) {
		strbuf_adds(out, ": ");
		text_add_safe(out, why_of(row), false);
	}
}
