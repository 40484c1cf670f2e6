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

static size_t width_of(const struct sheet *sheet)
{
	size_t count = 1;

	while (sheet->columns[count].key || sheet->columns[count].title)
		count++;
	return count;
}

size_t sheet_rows(const struct sheet *sheet)
{
	return sheet->count / width_of(sheet);
}

static struct sheet_cell *add(struct sheet *sheet, bool is_known)
{
	struct sheet_cell *cell;

	sheet->cells = xgrow(sheet->cells, sheet->count, &sheet->capacity,
			     sizeof(*sheet->cells));
	cell = &sheet->cells[sheet->count++];
	*cell = (struct sheet_cell){ .is_known = is_known };
	return cell;
}

void sheet_add_text(struct sheet *sheet, const char *text)
{
	add(sheet, true)->text = xstrdup(text);
}

void sheet_add_number(struct sheet *sheet, int64_t number)
{
	add(sheet, true)->number = number;
}

void sheet_add_none(struct sheet *sheet)
{
	(void)add(sheet, false);
}

void sheet_release(struct sheet *sheet)
{
	for (size_t i = 0; i < sheet->count; i++)
		free(sheet->cells[i].text);
	free(sheet->cells);
	memset(sheet, 0, sizeof(*sheet));
}

static void add_cell(struct strbuf *out, const struct sheet_column *column,
		     const struct sheet_cell *cell)
{
	char bytes[BYTES_TEXT_MAX];

	if (!cell->is_known) {
		strbuf_addch(out, '-');
		return;
	}
	switch (column->kind) {
	case SHEET_TEXT:
		text_add_safe(out, cell->text, false);
		break;
	case SHEET_COUNT:
		strbuf_addf(out, "%lld", (long long)cell->number);
		break;
	case SHEET_BYTES:
		strbuf_addf(out, "%s%s", cell->number < 0 ? "-" : "",
			    bytes_format(bytes, (uint64_t)llabs(cell->number)));
		break;
	case SHEET_FLAG:
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

static size_t column_width(const struct sheet *sheet, size_t column,
			   size_t columns)
{
	size_t width = text_columns(sheet->columns[column].title);
	struct strbuf text = STRBUF_INIT;

	for (size_t i = column; i < sheet->count; i += columns) {
		strbuf_reset(&text);
		add_cell(&text, &sheet->columns[column], &sheet->cells[i]);
		if (text_columns(strbuf_text(&text)) > width)
			width = text_columns(strbuf_text(&text));
	}
	strbuf_release(&text);
	return width;
}

/* No blanks at the end of a line. */
static void end_line(struct strbuf *out, struct strbuf *line)
{
	while (line->length && line->data[line->length - 1] == ' ')
		line->length--;
	strbuf_add(out, strbuf_text(line), line->length);
	strbuf_addch(out, '\n');
	strbuf_reset(line);
}

/* row SIZE_MAX: the titles. */
static void add_line(struct strbuf *out, const struct sheet *sheet,
		     const size_t *widths, size_t row)
{
	struct strbuf line = STRBUF_INIT;
	struct strbuf text = STRBUF_INIT;
	size_t columns = width_of(sheet);

	for (size_t i = 0; i < columns; i++) {
		const struct sheet_column *column = &sheet->columns[i];

		if (!column->title)
			continue;
		strbuf_reset(&text);
		if (row == SIZE_MAX)
			strbuf_adds(&text, column->title);
		else
			add_cell(&text, column,
				 &sheet->cells[row * columns + i]);
		strbuf_addf(&line, "%*s", GAP, "");
		add_padded(&line, strbuf_text(&text), widths[i],
			   column->kind == SHEET_TEXT);
	}
	end_line(out, &line);
	strbuf_release(&text);
	strbuf_release(&line);
}

void sheet_print(struct strbuf *out, const struct sheet *sheet)
{
	size_t columns = width_of(sheet);
	size_t *widths = xcalloc(columns, sizeof(*widths));

	for (size_t i = 0; i < columns; i++)
		if (sheet->columns[i].title)
			widths[i] = column_width(sheet, i, columns);
	add_line(out, sheet, widths, SIZE_MAX);
	for (size_t row = 0; row < sheet_rows(sheet); row++)
		add_line(out, sheet, widths, row);
	free(widths);
}

static json_t *cell_json(const struct sheet_column *column,
			 const struct sheet_cell *cell)
{
	if (!cell->is_known)
		return json_null();
	if (column->kind == SHEET_TEXT)
		return json_text(cell->text);
	if (column->kind == SHEET_FLAG)
		return json_boolean(cell->number != 0);
	return json_integer(cell->number);
}

json_t *sheet_json(const struct sheet *sheet)
{
	json_t *array = json_checked(json_array());
	size_t columns = width_of(sheet);

	for (size_t row = 0; row < sheet_rows(sheet); row++) {
		json_t *object = json_checked(json_object());

		for (size_t i = 0; i < columns; i++)
			if (sheet->columns[i].key)
				json_put(object, sheet->columns[i].key,
					 cell_json(&sheet->columns[i],
						   &sheet->cells[row * columns +
								 i]));
		json_append(array, object);
	}
	return array;
}
