/* Tables: aligned columns for people, objects for programs. */
/* SPDX-License-Identifier: MIT */
#include "launcher/report/report_table.h"

#include "base/alloc.h"
#include "base/units.h"
#include "launcher/command/text/text.h"
#include "launcher/report/json.h"
#include "launcher/report/report_style.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define GAP 2
/* The widest column of a table in parts, but for its words. */
#define PART_COLUMN 24

static const char *column_cell(const struct report_columns *columns, size_t row,
			       size_t column)
{
	assert(column < columns->count &&
	       (row + 1) * columns->count <= columns->cells->count);
	return columns->cells->items[row * columns->count + column];
}

/* A table being laid out: how wide each column is, how narrow it may become. */
struct columns_layout {
	const struct report_columns *columns;
	size_t *widths, *least;
	const char **rest; /* of the row: where each cell goes on */
};

static size_t longest_word(const char *text)
{
	size_t longest = 0;

	while (*text) {
		size_t length = strcspn(text, " ");
		char *word = xstrndup(text, length);
		size_t width = text_columns(word);

		if (width > longest)
			longest = width;
		free(word);
		text += length;
		text += strspn(text, " ");
	}
	return longest;
}

/* Numbers and their units stay together; words may stand below each other. */
static void columns_measure(struct columns_layout *layout)
{
	const struct report_columns *columns = layout->columns;

	for (size_t i = 0; i < columns->cells->count; i++) {
		const char *cell = columns->cells->items[i];
		size_t column = i % columns->count;
		size_t width = text_columns(cell);
		bool is_whole = columns->is_right &&
				columns->is_right[column] &&
				i >= columns->count;
		size_t least = is_whole ? width : longest_word(cell);

		if (width > layout->widths[column])
			layout->widths[column] = width;
		if (least > layout->least[column])
			layout->least[column] = least;
	}
}

static size_t columns_sum(const struct report_columns *columns,
			  const size_t *widths)
{
	size_t sum = columns->indent + GAP * (columns->count - 1);

	for (size_t i = 0; i < columns->count; i++)
		sum += widths[i];
	return sum;
}

/* Of a table in parts: words stand below each other, so that parts are few. */
static void columns_narrow(struct columns_layout *layout)
{
	for (size_t i = 0; i < layout->columns->count; i++) {
		size_t most = layout->least[i] > PART_COLUMN ? layout->least[i]
							     : PART_COLUMN;

		if (layout->widths[i] > most)
			layout->widths[i] = most;
	}
}

/* The widest that can gives way until all of them fit. */
static void columns_squeeze(struct columns_layout *layout)
{
	const struct report_columns *columns = layout->columns;

	if (columns_sum(columns, layout->least) > columns->width) {
		columns_narrow(layout);
		return;
	}
	while (columns_sum(columns, layout->widths) > columns->width) {
		size_t widest = columns->count;

		for (size_t i = 0; i < columns->count; i++)
			if (layout->widths[i] > layout->least[i] &&
			    (widest == columns->count ||
			     layout->widths[i] > layout->widths[widest]))
				widest = i;
		assert(widest < columns->count &&
		       "the least of all of them fits");
		layout->widths[widest]--;
	}
}

/* Bytes of the text that stand on one line, whole words where it can be. */
static size_t piece_length(const char *text, size_t width)
{
	size_t most = text_cut(text, width);
	size_t length = most;

	if (!text[length])
		return length;
	assert(most <= strlen(text));
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

/* Columns that stand beside each other: the keys, and some others. */
struct columns_part {
	size_t keys;     /* the first columns */
	size_t from, to; /* of the others, to is behind the last */
};

/* The next column of a part, behind one. */
static size_t part_next(const struct columns_part *part, size_t column)
{
	return column + 1 == part->keys ? part->from : column + 1;
}

static size_t columns_keys(const struct report_columns *columns)
{
	return columns->keys ? columns->keys : 1;
}

/* What a column and those that belong to it take, and where they end. */
static size_t columns_pair(const struct columns_layout *layout, size_t from,
			   size_t *end)
{
	const bool *is_beside = layout->columns->is_beside;
	size_t sum = 0, i = from;

	assert(from < layout->columns->count);
	do
		sum += GAP + layout->widths[i++];
	while (is_beside && i < layout->columns->count && is_beside[i]);
	*end = i;
	return sum;
}

/* As many as a line has room for, and one at least. */
static struct columns_part part_from(const struct columns_layout *layout,
				     size_t from)
{
	const struct report_columns *columns = layout->columns;
	struct columns_part part = { columns_keys(columns), from, from };
	size_t sum = columns->indent + GAP * (part.keys - 1), end;

	for (size_t i = 0; i < part.keys; i++)
		sum += layout->widths[i];
	while (part.to < columns->count) {
		size_t pair = columns_pair(layout, part.to, &end);

		if (columns->width && sum + pair > columns->width &&
		    part.to > from)
			break;
		sum += pair;
		part.to = end;
	}
	return part;
}

/* As many lines as its longest cell takes. */
static void columns_add_row(struct strbuf *out,
			    const struct columns_layout *layout,
			    const struct columns_part *part)
{
	const struct report_columns *columns = layout->columns;
	const char **rest = layout->rest;
	bool is_done = false;

	while (!is_done) {
		is_done = true;
		for (size_t i = 0; i < part->to; i = part_next(part, i)) {
			size_t width = layout->widths[i];
			size_t length = piece_length(rest[i], width);

			strbuf_addf(out, "%*s",
				    (int)(i ? GAP : columns->indent), "");
			add_piece(out, rest[i], length, width,
				  columns->is_right && columns->is_right[i]);
			rest[i] += length;
			rest[i] += strspn(rest[i], " ");
			is_done &= *rest[i] == '\0';
		}
		columns_end_line(out);
	}
}

static void columns_add_rule(struct strbuf *out,
			     const struct columns_layout *layout,
			     const struct columns_part *part)
{
	for (size_t i = 0; i < part->to; i = part_next(part, i)) {
		strbuf_addf(out, "%*s",
			    (int)(i ? GAP : layout->columns->indent), "");
		for (size_t j = 0; j < layout->widths[i]; j++)
			strbuf_addch(out, '-');
	}
	strbuf_addch(out, '\n');
}

static void columns_add_part(struct strbuf *out,
			     const struct columns_layout *layout,
			     const struct columns_part *part)
{
	const struct report_columns *columns = layout->columns;

	for (size_t row = 0; row < columns->cells->count / columns->count;
	     row++) {
		for (size_t i = 0; i < columns->count; i++)
			layout->rest[i] = column_cell(columns, row, i);
		columns_add_row(out, layout, part);
		if (row == 0 && columns->has_rule)
			columns_add_rule(out, layout, part);
	}
}

void report_columns_print(struct strbuf *out,
			  const struct report_columns *columns)
{
	size_t count = columns->count;
	struct columns_layout layout = {
		.columns = columns,
		.widths = xcalloc(count + 1, sizeof(size_t)),
		.least = xcalloc(count + 1, sizeof(size_t)),
		.rest = xcalloc(count + 1, sizeof(char *)),
	};
	size_t from = columns_keys(columns);

	assert(count == 0 || columns->cells->count % count == 0);
	if (count)
		columns_measure(&layout);
	if (columns->width)
		columns_squeeze(&layout);
	while (count && from) {
		struct columns_part part = part_from(&layout, from);

		columns_add_part(out, &layout, &part);
		from = part.to < count ? part.to : 0;
		if (from)
			strbuf_addch(out, '\n');
	}
	free(layout.rest);
	free(layout.least);
	free(layout.widths);
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
	case TABLE_BESIDE:
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
	bool *is_beside = xcalloc(count, sizeof(*is_beside));
	struct strlist cells = STRLIST_INIT;
	struct report_columns columns = { .cells = &cells,
					  .is_right = is_right,
					  .is_beside = is_beside,
					  .indent = GAP,
					  .width = report_width() - 1 };

	assert(count > 0);
	for (size_t i = 0; i < count; i++) {
		if (!table->columns[i].title)
			continue;
		is_beside[columns.count] =
			table->columns[i].kind == TABLE_BESIDE;
		is_right[columns.count] = table->columns[i].kind != TABLE_TEXT;
		if (!is_right[columns.count] && columns.keys == columns.count)
			columns.keys++;
		columns.count++;
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
	assert(columns.count <= count);
	report_columns_print(out, &columns);
	strlist_release(&cells);
	free(is_beside);
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
