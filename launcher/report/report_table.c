/* Tables: aligned columns for people, objects for programs. */
/* SPDX-License-Identifier: MIT */
#include "launcher/report/report_table.h"

#include "base/alloc.h"
#include "base/units.h"
#include "launcher/command/text/text.h"
#include "launcher/report/json.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define GAP 2
/* Narrower columns cannot be read any more. */
#define NARROWEST 8

static const char *column_cell(const struct report_columns *columns, size_t row,
			       size_t column)
{
	return columns->cells->items[row * columns->count + column];
}

static size_t *columns_measure(const struct report_columns *columns)
{
	size_t *widths = xcalloc(columns->count, sizeof(*widths));

	for (size_t i = 0; i < columns->cells->count; i++) {
		size_t width = text_columns(columns->cells->items[i]);

		if (width > widths[i % columns->count])
			widths[i % columns->count] = width;
	}
	return widths;
}

/* The widest gives way until all of them fit. */
static void columns_squeeze(const struct report_columns *columns,
			    size_t *widths)
{
	size_t gaps = columns->indent + GAP * (columns->count - 1);

	for (;;) {
		size_t sum = gaps, widest = 0;

		for (size_t i = 0; i < columns->count; i++) {
			sum += widths[i];
			if (widths[i] > widths[widest])
				widest = i;
		}
		if (sum <= columns->width || widths[widest] <= NARROWEST)
			return;
		widths[widest]--;
	}
}

/* Bytes of the text that stand on one line, whole words where it can be. */
static size_t piece_length(const char *text, size_t width)
{
	size_t most = text_cut(text, width);
	size_t length = most;

	if (!text[length])
		return length;
	while (length && text[length] != ' ')
		length--;
	return length ? length : most;
}

static void add_piece(struct strbuf *out, const char *text, size_t length,
		      size_t width, bool is_right)
{
	char *piece = xstrndup(text, length);
	int pad = (int)(width - text_columns(piece));

	assert(pad >= 0);
	strbuf_addf(out, "%*s%s%*s", is_right ? pad : 0, "", piece,
		    is_right ? 0 : pad, "");
	free(piece);
}

static void columns_end_line(struct strbuf *out)
{
	while (out->length && out->data[out->length - 1] == ' ')
		out->data[--out->length] = '\0';
	strbuf_addch(out, '\n');
}

/* As many lines as its longest cell takes; rest: where to go on in each. */
static void columns_add_row(struct strbuf *out,
			    const struct report_columns *columns,
			    const size_t *widths, const char **rest)
{
	bool is_done = false;

	while (!is_done) {
		is_done = true;
		for (size_t i = 0; i < columns->count; i++) {
			size_t length = piece_length(rest[i], widths[i]);

			strbuf_addf(out, "%*s",
				    (int)(i ? GAP : columns->indent), "");
			add_piece(out, rest[i], length, widths[i],
				  columns->is_right && columns->is_right[i]);
			rest[i] += length;
			rest[i] += strspn(rest[i], " ");
			is_done &= *rest[i] == '\0';
		}
		columns_end_line(out);
	}
}

static void columns_add_rule(struct strbuf *out,
			     const struct report_columns *columns,
			     const size_t *widths)
{
	for (size_t i = 0; i < columns->count; i++) {
		strbuf_addf(out, "%*s", (int)(i ? GAP : columns->indent), "");
		for (size_t j = 0; j < widths[i]; j++)
			strbuf_addch(out, '-');
	}
	strbuf_addch(out, '\n');
}

#define WIDTH_LEAST 40
#define WIDTH_USUAL 80
#define WIDTH_MOST 500

/* Columns of the terminal, as COLUMNS says them. */
static size_t report_table_width(void)
{
	const char *text = getenv("COLUMNS");
	int64_t columns = 0;

	if (!text || integer_parse(text, &columns, NULL) < 0 ||
	    columns < WIDTH_LEAST || columns > WIDTH_MOST)
		return WIDTH_USUAL;
	return (size_t)columns;
}

void report_columns_print(struct strbuf *out,
			  const struct report_columns *columns)
{
	const char **rest;
	size_t *widths;

	if (!columns->count)
		return;
	assert(columns->cells->count % columns->count == 0);
	widths = columns_measure(columns);
	if (columns->width)
		columns_squeeze(columns, widths);
	rest = xcalloc(columns->count, sizeof(*rest));
	for (size_t row = 0; row < columns->cells->count / columns->count;
	     row++) {
		for (size_t i = 0; i < columns->count; i++)
			rest[i] = column_cell(columns, row, i);
		columns_add_row(out, columns, widths, rest);
		if (row == 0 && columns->has_rule)
			columns_add_rule(out, columns, widths);
	}
	free(rest);
	free(widths);
}

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
	add(table, text != NULL)->text = text ? xstrdup(text) : NULL;
}

void report_table_add_number(struct report_table *table, int64_t number)
{
	add(table, true)->number = number;
}

void report_table_add_count(struct report_table *table, int64_t number)
{
	add(table, number != 0)->number = number;
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
void report_table_print(struct strbuf *out, const struct report_table *table)
{
	size_t count = width_of(table);
	bool *is_right = xcalloc(count, sizeof(*is_right));
	struct strlist cells = STRLIST_INIT;
	struct report_columns columns = { .cells = &cells,
					  .is_right = is_right,
					  .indent = GAP,
					  .width = report_table_width() - 1 };

	assert(count > 0);
	for (size_t i = 0; i < count; i++) {
		if (!table->columns[i].title)
			continue;
		is_right[columns.count++] =
			table->columns[i].kind != TABLE_TEXT;
		strlist_add(&cells, table->columns[i].title);
	}
	for (size_t i = 0; i < table->count; i++) {
		struct strbuf text = STRBUF_INIT;

		if (!table->columns[i % count].title)
			continue;
		add_cell(&text, &table->columns[i % count], &table->cells[i]);
		strlist_add(&cells, strbuf_text(&text));
		strbuf_release(&text);
	}
	report_columns_print(out, &columns);
	strlist_release(&cells);
	free(is_right);
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
