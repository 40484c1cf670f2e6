/* `autofit show`: the recorded answers as a list, or one of them in full. */
/* SPDX-License-Identifier: MIT */
#include "launcher/records/show.h"

#include "base/units.h"
#include "launcher/command/text/shellquote.h"
#include "launcher/command/text/text.h"
#include "launcher/report/report_final.h"
#include "launcher/report/report_words.h"
#include "probes/isolation/isolation.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A record's second line begins here, and ends so where it is too long. */
#define SHOWN_BELOW 4
#define CUT_OFF "..."

static void add_day(struct strbuf *out, int64_t created)
{
	time_t seconds = (time_t)created;
	struct tm day;

	if (created > 0 && gmtime_r(&seconds, &day))
		strbuf_addf(out, "%04d-%02d-%02d", day.tm_year + 1900,
			    day.tm_mon + 1, day.tm_mday);
	else
		strbuf_adds(out, "-");
}

static void add_device(struct strbuf *out, const struct report_style *style,
		       const struct record *record)
{
	const char *name = record->device_kind ? record->device_kind : "-";

	if (record->device_count > 0 && record->devices[0].name[0])
		name = record->devices[0].name;
	if (record->device_count > 1)
		strbuf_addf(out, "%zu x ", record->device_count);
	text_add_safe(out, name, style->ascii);
	if (record->device_count > 0 && record->devices[0].emulated_as[0]) {
		strbuf_adds(out, " as ");
		text_add_safe(out, record->devices[0].emulated_as,
			      style->ascii);
	}
}

/* Was it asked with this value? Its identity says so. */
static bool asked_with(const struct record *record, const char *label,
		       const char *value)
{
	struct strbuf entry = STRBUF_INIT;
	bool found;

	identity_add(&entry, IDENTITY_PLACE, label, value);
	found = record->identity &&
		strstr(record->identity, strbuf_text(&entry));
	strbuf_release(&entry);
	return found;
}

const char *show_mode(const struct record *record)
{
	if (asked_with(record, "effective batch may grow", "yes"))
		return "grow";
	if (asked_with(record, "--objective", "fastest"))
		return "fastest";
	return "keep";
}

static void add_columns(struct strbuf *out, const struct record *record)
{
	struct strbuf cell = STRBUF_INIT;

	add_day(out, record->created);
	strbuf_addf(&cell, "%" PRId64 " x %" PRId64, record->batch.micro_batch,
		    record->batch.grad_accum);
	strbuf_addf(out, "  %11s  ", strbuf_text(&cell));
	strbuf_reset(&cell);
	if (record->peak_bytes > 0)
		words_pair(&cell, record->peak_bytes, record->limit_bytes);
	else
		strbuf_adds(&cell, "-");
	strbuf_addf(out, "%-20s  %s", strbuf_text(&cell), show_mode(record));
	strbuf_release(&cell);
}

static void add_problem(struct strbuf *out, const struct report_style *style,
			const struct show_item *item)
{
	strbuf_adds(out, "passed over: ");
	text_add_safe(out, item->problem, style->ascii);
	if (item->is_site)
		strbuf_adds(out, ", of the site");
}

/* What tells records of one script apart: where, and of which command. */
static void show_add_command(struct strbuf *out,
			     const struct report_style *style,
			     const struct show_item *item)
{
	const struct record *record = item->record;
	size_t room = words_columns(style) - SHOWN_BELOW;
	struct strbuf line = STRBUF_INIT;
	char *command = shell_quote_all(&record->argv);
	size_t cut;

	add_device(&line, style, record);
	if (record->lowered_from > 0)
		strbuf_addf(&line, ", lowered from micro %" PRId64,
			    record->lowered_from);
	if (item->is_site)
		strbuf_adds(&line, ", of the site");
	strbuf_adds(&line, ": ");
	text_add_safe(&line, command, style->ascii);
	cut = text_cut(strbuf_text(&line), room);
	strbuf_addf(out, "%*s", SHOWN_BELOW, "");
	if (line.data[cut])
		cut = text_cut(strbuf_text(&line), room - strlen(CUT_OFF));
	strbuf_add(out, strbuf_text(&line), cut);
	strbuf_addf(out, "%s\n", line.data[cut] ? CUT_OFF : "");
	strbuf_release(&line);
	free(command);
}

static size_t show_name_columns(const struct report_style *style,
				const struct show_item *items, size_t count)
{
	size_t widest = 4;

	for (size_t i = 0; i < count; i++) {
		struct strbuf name = STRBUF_INIT;
		size_t width;

		text_add_safe(&name, items[i].name, style->ascii);
		width = text_columns(strbuf_text(&name));
		widest = width > widest ? width : widest;
		strbuf_release(&name);
	}
	return widest;
}

/* Name and columns on one line if that has room, else on two or more. */
static void show_add_row(struct strbuf *out, size_t width, size_t columns,
			 const char *name, const char *rest)
{
	size_t gap = width - text_columns(name) + 2;

	strbuf_adds(out, name);
	if (width + 2 + text_columns(rest) > columns) {
		strbuf_adds(out, "\n    ");
		text_add_wrapped(out, rest, 4, columns);
	} else {
		strbuf_addf(out, "%*s%s", (int)gap, "", rest);
	}
	strbuf_addch(out, '\n');
}

void show_list(struct strbuf *out, const struct report_style *style,
	       const struct show_item *items, size_t count)
{
	size_t width = show_name_columns(style, items, count);
	struct strbuf head = STRBUF_INIT;

	if (count == 0) {
		strbuf_adds(out, "nothing is recorded yet: autofit tune -- "
				 "command...\n");
		return;
	}
	strbuf_addf(&head, "%-10s  %11s  %-20s  %s", "date", "micro x acc",
		    "peak of limit", "mode");
	show_add_row(out, width, words_columns(style), "name",
		     strbuf_text(&head));
	for (size_t i = 0; i < count; i++) {
		struct strbuf name = STRBUF_INIT;
		struct strbuf rest = STRBUF_INIT;

		text_add_safe(&name, items[i].name, style->ascii);
		if (items[i].record)
			add_columns(&rest, items[i].record);
		else
			add_problem(&rest, style, &items[i]);
		show_add_row(out, width, words_columns(style),
			     strbuf_text(&name), strbuf_text(&rest));
		if (items[i].record)
			show_add_command(out, style, &items[i]);
		strbuf_release(&name);
		strbuf_release(&rest);
	}
	strbuf_release(&head);
}

static void safe_field(struct strbuf *out, const struct report_style *style,
		       const char *label, const char *text)
{
	struct strbuf safe = STRBUF_INIT;

	if (text) {
		text_add_safe(&safe, text, style->ascii);
		words_field(out, style, label, strbuf_text(&safe));
	}
	strbuf_release(&safe);
}

static void add_devices(struct strbuf *out, const struct report_style *style,
			const struct record *record)
{
	for (size_t i = 0; i < record->device_count; i++) {
		const struct record_device *device = &record->devices[i];
		struct strbuf line = STRBUF_INIT;
		char text[BYTES_TEXT_MAX];

		text_add_safe(&line,
			      device->name[0] ? device->name : "host memory",
			      style->ascii);
		if (device->total_bytes > 0)
			strbuf_addf(&line, ", %s in all",
				    bytes_format(text, device->total_bytes));
		if (device->budget_bytes > 0)
			strbuf_addf(&line, ", budget %s",
				    bytes_format(text, device->budget_bytes));
		if (device->uuid[0]) {
			strbuf_adds(&line, ", ");
			text_add_safe(&line, device->uuid, style->ascii);
		}
		words_field(out, style, "device", strbuf_text(&line));
		strbuf_release(&line);
	}
}

/* What was done later, how the probes were kept apart, what is watched. */
static void add_circumstances(struct strbuf *out,
			      const struct report_style *style,
			      const struct record *record)
{
	struct strbuf line = STRBUF_INIT;
	enum isolation_kind kind;

	if (record->lowered_from > 0) {
		strbuf_addf(&line, "from micro %" PRId64, record->lowered_from);
		words_field(out, style, "lowered", strbuf_text(&line));
	}
	if (record->isolation && isolation_parse(record->isolation, &kind) == 0)
		words_field(out, style, "isolation", isolation_words(kind));
	else
		safe_field(out, style, "isolation", record->isolation);
	if (record->stamps.count > 0) {
		strbuf_reset(&line);
		strbuf_addf(&line, "%zu imported %s watched for changes",
			    record->stamps.count,
			    record->stamps.count == 1 ? "file is"
						      : "files are");
		words_field(out, style, "imports", strbuf_text(&line));
	}
	strbuf_release(&line);
}

void show_record(struct strbuf *out, const struct report_style *style,
		 const struct record *record, const char *path)
{
	struct report_style still = *style;
	struct result view = RESULT_INIT;
	struct strbuf day = STRBUF_INIT;
	char *command = shell_quote_all(&record->argv);

	/* Borrowed, never released: the report reads a result. */
	view.record = *record;
	still.live = false;
	text_add_safe(out, record->id ? record->id : "-", still.ascii);
	strbuf_addch(out, '\n');
	words_exact(out, &still, "command", command);
	add_day(&day, record->created);
	words_field(out, &still, "recorded", strbuf_text(&day));
	safe_field(out, &still, "autofit", record->autofit_version);
	if (path)
		words_exact(out, &still, "file", path);
	safe_field(out, &still, "preset", record->preset);
	add_devices(out, &still, record);
	report_evidence(out, &still, &view);
	add_circumstances(out, &still, record);
	for (size_t i = 0; i < record->probes.count; i++)
		report_probe(out, &still, &view, &record->probes.items[i]);
	strbuf_release(&day);
	free(command);
}
