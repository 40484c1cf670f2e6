/* Tables of plain cells: a line that names the columns, then rows. */
/* SPDX-License-Identifier: MIT */
#include "configs/files/csv.h"

#include "base/strbuf.h"
#include "base/textfile.h"
#include "base/units.h"
#include "configs/files/builtin.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#define FILE_MAX_BYTES ((size_t)1024 * 1024)
#define LINE_MAX_BYTES 1024
#define WARNINGS_MAX 20
#define NO_COLUMN SIZE_MAX

/* A file under way. */
struct csv_reading {
	const struct csv_table *table;
	struct strlist *warnings;
	const char *path;
	size_t line;
	size_t columns[CSV_COLUMNS_MAX];
	size_t column_count; /* 0: the line that names them is still to come */
	bool is_passed_over;
	size_t warned;
};

static void warn(struct csv_reading *reading, const char *why)
{
	if (reading->warned++ < WARNINGS_MAX)
		strlist_addf(reading->warnings, "%s:%zu: %s", reading->path,
			     reading->line, why);
}

/* The cell that begins at *at, which moves behind its comma, or to NULL. */
static struct csv_cell next_cell(const char **at, const char *end)
{
	const char *comma = memchr(*at, ',', (size_t)(end - *at));
	struct csv_cell cell = { *at, (size_t)((comma ? comma : end) - *at) };

	*at = comma ? comma + 1 : NULL;
	while (cell.length && isspace((unsigned char)*cell.text)) {
		cell.text++;
		cell.length--;
	}
	while (cell.length &&
	       isspace((unsigned char)cell.text[cell.length - 1]))
		cell.length--;
	return cell;
}

static bool csv_cell_is(struct csv_cell cell, const char *word)
{
	return strlen(word) == cell.length &&
	       memcmp(cell.text, word, cell.length) == 0;
}

bool csv_cell_name(struct csv_cell cell, char *text, size_t text_size)
{
	bool has_word = false;

	if (cell.length >= text_size)
		return false;
	for (size_t i = 0; i < cell.length; i++) {
		unsigned char c = (unsigned char)cell.text[i];

		if (c < ' ' || c > '~')
			return false;
		has_word = has_word || isalnum(c);
	}
	memcpy(text, cell.text, cell.length);
	text[cell.length] = '\0';
	return has_word;
}

/* The known column of that name, or NO_COLUMN. */
static size_t column_of(const struct csv_table *table, struct csv_cell cell)
{
	for (size_t i = 0; table->columns[i]; i++)
		if (csv_cell_is(cell, table->columns[i]))
			return i;
	return NO_COLUMN;
}

static void read_head(struct csv_reading *reading, const char *line,
		      const char *end)
{
	const struct csv_table *table = reading->table;
	size_t count = 0;

	for (size_t i = 0; i < CSV_COLUMNS_MAX; i++)
		reading->columns[i] = NO_COLUMN;
	for (const char *at = line; at; count++) {
		size_t column = column_of(table, next_cell(&at, end));

		if (column != NO_COLUMN)
			reading->columns[column] = count;
	}
	reading->column_count = count;
	for (size_t i = 0; i < table->needed; i++)
		if (reading->columns[i] == NO_COLUMN)
			reading->is_passed_over = true;
	if (reading->is_passed_over && reading->warned++ < WARNINGS_MAX)
		strlist_addf(reading->warnings,
			     "%s:%zu: the first line has to name the columns, "
			     "with %s; the file is passed over",
			     reading->path, reading->line, table->expects);
}

static void read_row(struct csv_reading *reading, const char *line,
		     const char *end)
{
	struct csv_cell cells[CSV_COLUMNS_MAX] = { { "", 0 } };
	const struct csv_table *table = reading->table;
	const char *problem;
	size_t count = 0;

	for (const char *at = line; at; count++) {
		struct csv_cell cell = next_cell(&at, end);

		for (size_t i = 0; table->columns[i]; i++)
			if (reading->columns[i] == count)
				cells[i] = cell;
	}
	/* A comma too many moves every number behind it. */
	problem = count == reading->column_count
			  ? table->on_row(table->context, cells)
			  : "it has another number of cells than the first "
			    "line";
	if (problem)
		warn(reading, problem);
}

static void csv_read_line(struct csv_reading *reading, const char *line,
			  const char *end)
{
	while (end > line && isspace((unsigned char)end[-1]))
		end--;
	if (end == line || *line == '#')
		return;
	if (end - line > LINE_MAX_BYTES)
		warn(reading, "the line is too long");
	else if (memchr(line, '"', (size_t)(end - line)))
		warn(reading, "cells are not quoted: none holds a comma");
	else if (!reading->column_count)
		read_head(reading, line, end);
	else if (!reading->is_passed_over)
		read_row(reading, line, end);
}

void csv_read(const struct csv_table *table, const char *path, const char *text,
	      size_t length, struct strlist *warnings)
{
	struct csv_reading reading = { .table = table,
				       .path = path,
				       .warnings = warnings };
	const char *end = text + length;

	/* Spreadsheets mark UTF-8 so. */
	if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		text += 3;
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));

		reading.line++;
		csv_read_line(&reading, text, newline ? newline : end);
		text = newline ? newline + 1 : end;
	}
	if (reading.warned > WARNINGS_MAX)
		strlist_addf(warnings, "%s: and %zu more lines", path,
			     reading.warned - WARNINGS_MAX);
}

void csv_read_builtin(const struct csv_table *table, const char *path,
		      struct strlist *warnings)
{
	const struct builtin_file *file = builtin_find(path);

	assert(file);
	csv_read(table, path, file->data, file->size, warnings);
}

void csv_read_file(const struct csv_table *table, const char *path,
		   struct strlist *warnings)
{
	struct strbuf text = STRBUF_INIT;
	struct error err = ERROR_INIT;
	int result = textfile_read(path, FILE_MAX_BYTES, &text, &err);

	if (result == 0)
		csv_read(table, path, strbuf_text(&text), text.length,
			 warnings);
	else if (result > 0)
		strlist_addf(warnings, "%s: larger than %zu KiB: passed over",
			     path, FILE_MAX_BYTES / KIB);
	else if (result != -ENOENT)
		strlist_add(warnings, err.message);
	strbuf_release(&text);
}
