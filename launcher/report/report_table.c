/* A small table that is shown to people and to programs alike. */
/* SPDX-License-Identifier: MIT */
#include "launcher/report/report_table.h"

#include "base/alloc.h"
#include "base/units.h"
#include "launcher/command/text/text.h"
#include "launcher/report/json.h"

#include <stdlib.h>
#include <string.h>

#define GAP 2

static size_t width_of(const struct report_table *table)
{
	size_t count = 1;

	while (table->columns[count].key || table->columns[count].title)
		count++;
	return count;
}

size_t report_table_rows(const struct report_table *table)
{
	return table->count / width_of(table);
}

static struct report_table_cell *add(struct report_table *table, bool is_known)
{
	struct report_table_cell *cell;

	table->cells = xgrow(table->cells, table->count, &table->capacity,
			     sizeof(*table->cells));
	cell = &table->cells[table->count++];
	*cell = (struct report_table_cell){ .is_known = is_known };
	return cell;
}

void report_table_add_text(struct report_table *table, const char *text)
{
	add(table, true)->text = xstrdup(text);
}

void report_table_add_number(struct report_table *table, int64_t number)
{
	add(table, true)->number = number;
}

void report_table_add_none(struct report_table *table)
{
	(void)add(table, false);
}

void report_table_release(struct report_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->cells[i].text);
	free(table->cells);
	memset(table, 0, sizeof(*table));
}

static void add_cell(struct strbuf *out,
		     const struct report_table_column *column,
		     const struct report_table_cell *cell)
{
	char bytes[BYTES_TEXT_MAX];

	if (!cell->is_known) {
		strbuf_addch(out, '-');
		return;
	}
	switch (column->kind) {
	case TABLE_TEXT:
		text_add_safe(out, cell->text, false);
		break;
	case TABLE_COUNT:
		strbuf_addf(out, "%lld", (long long)cell->number);
		break;
	case TABLE_BYTES:
		strbuf_addf(out, "%s%s", cell->number < 0 ? "-" : "",
			    bytes_format(bytes, (uint64_t)llabs(cell->number)));
		break;
	case TABLE_FLAG:
		strbuf_adds(out, cell->number ? "yes" : "no");
		break;
	}
}

/* Texts stand at the left of their column, numbers at the right. */
static void add_padded(struct strbuf *out, const char *text, size_t width,
		       bool is_left)
{
	size_t columns = text_columns(text);
	int pad = columns < width ? (int)(width - columns) : 0;

	if (is_left)
		strbuf_addf(out, "%s%*s", text, pad, "");
	else
		strbuf_addf(out, "%*s%s", pad, "", text);
}

static size_t column_width(const struct report_table *table, size_t column,
			   size_t columns)
{
	size_t width = text_columns(table->columns[column].title);
	struct strbuf text = STRBUF_INIT;

	for (size_t i = column; i < table->count; i += columns) {
		strbuf_reset(&text);
		add_cell(&text, &table->columns[column], &table->cells[i]);
		if (text_columns(strbuf_text(&text)) > width)
			width = text_columns(strbuf_text(&text));
	}
	strbuf_release(&text);
	return width;
}

/* No blanks at the end of a line. */
static void table_end_line(struct strbuf *out, struct strbuf *line)
{
	while (line->length && line->data[line->length - 1] == ' ')
		line->length--;
	strbuf_add(out, strbuf_text(line), line->length);
	strbuf_addch(out, '\n');
	strbuf_reset(line);
}

/* row SIZE_MAX: the titles. */
static void table_add_line(struct strbuf *out, const struct report_table *table,
			   const size_t *widths, size_t row)
{
	struct strbuf line = STRBUF_INIT;
	struct strbuf text = STRBUF_INIT;
	size_t columns = width_of(table);

	for (size_t i = 0; i < columns; i++) {
		const struct report_table_column *column = &table->columns[i];

		if (!column->title)
			continue;
		strbuf_reset(&text);
		if (row == SIZE_MAX)
			strbuf_adds(&text, column->title);
		else
			add_cell(&text, column,
				 &table->cells[row * columns + i]);
		strbuf_addf(&line, "%*s", GAP, "");
		add_padded(&line, strbuf_text(&text), widths[i],
			   column->kind == TABLE_TEXT);
	}
	table_end_line(out, &line);
	strbuf_release(&text);
	strbuf_release(&line);
}

void report_table_print(struct strbuf *out, const struct report_table *table)
{
	size_t columns = width_of(table);
	size_t *widths = xcalloc(columns, sizeof(*widths));

	for (size_t i = 0; i < columns; i++)
		if (table->columns[i].title)
			widths[i] = column_width(table, i, columns);
	table_add_line(out, table, widths, SIZE_MAX);
	for (size_t row = 0; row < report_table_rows(table); row++)
		table_add_line(out, table, widths, row);
	free(widths);
}

static json_t *cell_json(const struct report_table_column *column,
			 const struct report_table_cell *cell)
{
	if (!cell->is_known)
		return json_null();
	if (column->kind == TABLE_TEXT)
		return json_text(cell->text);
	if (column->kind == TABLE_FLAG)
		return json_boolean(cell->number != 0);
	return json_integer(cell->number);
}

json_t *report_table_json(const struct report_table *table)
{
	json_t *array = json_checked(json_array());
	size_t columns = width_of(table);

	for (size_t row = 0; row < report_table_rows(table); row++) {
		json_t *object = json_checked(json_object());

		for (size_t i = 0; i < columns; i++)
			if (table->columns[i].key)
				json_put(object, table->columns[i].key,
					 cell_json(&table->columns[i],
						   &table->cells[row * columns +
								 i]));
		json_append(array, object);
	}
	return array;
}
