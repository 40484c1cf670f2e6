/* A record as one row of a table, with its header. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/records/export_formats.h"

#include "base/alloc.h"
#include "base/units.h"
#include "launcher/report/rates.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double speed_of(const struct result *result)
{
	const struct batch *batch = &result->record.batch;
	const struct trial *trial =
		rates_trial(result, batch->micro_batch, batch->grad_accum);

	return trial ? rates_samples_per_second(result, trial,
						batch->grad_accum)
		     : 0;
}

static const char *factor_text(char text[DECIMAL_TEXT_MAX],
			       const struct result *result)
{
	struct rate_factor rate;

	(void)rates_answer_is_slower(result, &rate);
	return decimal_format(text, rate.factor, 2);
}

static const char *export_rows_device(const struct record *record)
{
	return record->device_count && record->devices[0].name[0]
		       ? record->devices[0].name
		       : record->device_kind;
}

/* One more cell of a line. */
static void csv_add(struct strbuf *out, const char *text)
{
	if (out->length && out->data[out->length - 1] != '\n')
		strbuf_addch(out, ',');
	strbuf_add_quoted(out, text);
}

int export_csv(const struct result *result, struct strbuf *out,
	       struct error *err)
{
	const struct record *record = &result->record;
	char speed[DECIMAL_TEXT_MAX], factor[DECIMAL_TEXT_MAX];

	(void)err;
	(void)decimal_format(speed, speed_of(result), 1);
	(void)factor_text(factor, result);
	strbuf_adds(out, "record,device,micro_batch,grad_accum,world_size,"
			 "effective_batch,peak_bytes,limit_bytes,"
			 "samples_per_second,speed_factor,created\r\n");
	csv_add(out, record->id);
	csv_add(out, export_rows_device(record));
	strbuf_addf(out,
		    ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRIu64
		    ",%" PRIu64 ",%s,%s,%" PRId64 "\r\n",
		    record->batch.micro_batch, record->batch.grad_accum,
		    record->batch.world_size, record->batch.effective_batch,
		    record->peak_bytes, record->limit_bytes, speed, factor,
		    record->created);
	return 0;
}

/* A bar would end the cell, and a line break the row. */
static void markdown_add(struct strbuf *out, const char *text)
{
	strbuf_adds(out, "| ");
	for (; *text; text++) {
		if (*text == '|')
			strbuf_addch(out, '\\');
		if ((unsigned char)*text < ' ')
			strbuf_addch(out, ' ');
		else
			strbuf_addch(out, *text);
	}
	strbuf_addch(out, ' ');
}

int export_markdown(const struct result *result, struct strbuf *out,
		    struct error *err)
{
	const struct record *record = &result->record;
	char speed[DECIMAL_TEXT_MAX], factor[DECIMAL_TEXT_MAX];
	char peak[BYTES_TEXT_MAX], limit[BYTES_TEXT_MAX];

	(void)err;
	(void)decimal_format(speed, speed_of(result), 1);
	(void)factor_text(factor, result);
	strbuf_adds(out, "| record | device | micro | accum | world | "
			 "effective | peak | limit | samples/s | speed |\n"
			 "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n");
	markdown_add(out, record->id);
	markdown_add(out, export_rows_device(record));
	strbuf_addf(out,
		    "| %" PRId64 " | %" PRId64 " | %" PRId64 " | %" PRId64
		    " | %s | %s | %s | %s%s |\n",
		    record->batch.micro_batch, record->batch.grad_accum,
		    record->batch.world_size, record->batch.effective_batch,
		    bytes_format(peak, record->peak_bytes),
		    bytes_format(limit, record->limit_bytes), speed, factor,
		    *factor ? "x" : "");
	return 0;
}
