/* The GPU models autofit knows, read from a table of plain cells. */
/* SPDX-License-Identifier: MIT */
#include "configs/gpus.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "base/units.h"
#include "configs/builtin.h"
#include "configs/gpus_name.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BUILTIN_FILE "configs/gpus.csv"
#define FILE_MAX_BYTES ((size_t)1024 * 1024)
#define LINE_MAX_BYTES 1024
#define MODELS_MAX 1000
#define WARNINGS_MAX 20
/* No board is smaller, and none larger for a while. */
#define TOTAL_MIN_MIB 256
#define TOTAL_MAX_MIB (INT64_C(64) << 20)

enum column { COLUMN_NAME, COLUMN_TOTAL, COLUMN_USABLE, COLUMN_COUNT };

static const char *const column_names[COLUMN_COUNT] = {
	[COLUMN_NAME] = "name",
	[COLUMN_TOTAL] = "driver_total_mib",
	[COLUMN_USABLE] = "cuda_usable_mib",
};

#define NO_COLUMN SIZE_MAX

/* A file under way. */
struct reading {
	struct gpu_catalogue *catalogue;
	struct strlist *warnings;
	const char *path;
	size_t line;
	size_t before; /* models that were there before this file */
	size_t columns[COLUMN_COUNT];
	size_t column_count; /* 0: the line that names them is still to come */
	size_t warned;
};

/* A piece of a line, not terminated. */
struct cell {
	const char *text;
	size_t length;
};

static void warn(struct reading *reading, const char *why)
{
	if (reading->warned++ < WARNINGS_MAX)
		strlist_addf(reading->warnings, "%s:%zu: %s", reading->path,
			     reading->line, why);
}

/* The cell that begins at *at, which moves behind its comma, or to NULL. */
static struct cell next_cell(const char **at, const char *end)
{
	const char *comma = memchr(*at, ',', (size_t)(end - *at));
	struct cell cell = { *at, (size_t)((comma ? comma : end) - *at) };

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

static bool cell_is(struct cell cell, const char *word)
{
	return strlen(word) == cell.length &&
	       memcmp(cell.text, word, cell.length) == 0;
}

static void read_head(struct reading *reading, const char *line,
		      const char *end)
{
	size_t count = 0;

	for (int i = 0; i < COLUMN_COUNT; i++)
		reading->columns[i] = NO_COLUMN;
	for (const char *at = line; at; count++) {
		struct cell cell = next_cell(&at, end);

		for (int i = 0; i < COLUMN_COUNT; i++)
			if (cell_is(cell, column_names[i]))
				reading->columns[i] = count;
	}
	reading->column_count = count;
	if (reading->columns[COLUMN_NAME] == NO_COLUMN ||
	    reading->columns[COLUMN_TOTAL] == NO_COLUMN) {
		reading->columns[COLUMN_NAME] = NO_COLUMN;
		warn(reading, "the first line has to name the columns, with "
			      "name and driver_total_mib; the file is passed "
			      "over");
	}
}

/* Whole MiB within the bounds; 0: it is not. */
static uint64_t read_mib(struct cell cell, int64_t most)
{
	uint64_t mib = 0;

	for (size_t i = 0; i < cell.length && mib <= (uint64_t)most; i++) {
		if (!isdigit((unsigned char)cell.text[i]))
			return 0;
		mib = mib * 10 + (uint64_t)(cell.text[i] - '0');
	}
	return mib >= TOTAL_MIN_MIB && mib <= (uint64_t)most ? mib * MIB : 0;
}

static bool read_name(struct gpu_model *model, struct cell cell)
{
	bool has_word = false;

	if (cell.length >= sizeof(model->name))
		return false;
	for (size_t i = 0; i < cell.length; i++) {
		unsigned char c = (unsigned char)cell.text[i];

		if (c < ' ' || c > '~')
			return false;
		has_word = has_word || isalnum(c);
	}
	memcpy(model->name, cell.text, cell.length);
	model->name[cell.length] = '\0';
	return has_word;
}

/* The driver keeps some for itself; how much, is seen on boards of a size. */
static uint64_t usable_of(uint64_t total)
{
	if (total <= 12 * GIB)
		return total / 100 * 96;
	return total - (total <= 48 * GIB ? 640 : 900) * MIB;
}

/* What is wrong with the cells, or NULL. */
static const char *read_model(const struct cell cells[COLUMN_COUNT],
			      struct gpu_model *model)
{
	if (!read_name(model, cells[COLUMN_NAME]))
		return "the name is empty, too long or not ASCII";
	model->total_bytes = read_mib(cells[COLUMN_TOTAL], TOTAL_MAX_MIB);
	if (!model->total_bytes)
		return "driver_total_mib is no size of a GPU in MiB";
	model->usable_bytes = usable_of(model->total_bytes);
	if (!cells[COLUMN_USABLE].length)
		return NULL;
	model->usable_bytes = read_mib(cells[COLUMN_USABLE],
				       (int64_t)(model->total_bytes / MIB));
	return model->usable_bytes ? NULL
				   : "cuda_usable_mib is no size in MiB up to "
				     "driver_total_mib";
}

static void add_model(struct reading *reading, const struct gpu_model *model)
{
	struct gpu_catalogue *all = reading->catalogue;

	for (size_t i = 0; i < all->count; i++) {
		if (!gpu_same_name(all->items[i].name, model->name))
			continue;
		if (i >= reading->before)
			warn(reading, "this model is there twice: the first "
				      "line counts");
		else
			all->items[i] = *model;
		return;
	}
	if (all->count == MODELS_MAX) {
		warn(reading, "too many models");
		return;
	}
	if (all->count == all->capacity) {
		all->capacity = all->capacity ? 2 * all->capacity : 128;
		all->items = xrealloc(all->items, all->capacity,
				      sizeof(*all->items));
	}
	all->items[all->count++] = *model;
}

static void read_row(struct reading *reading, const char *line, const char *end)
{
	struct cell cells[COLUMN_COUNT] = { { "", 0 } };
	struct gpu_model model = { .total_bytes = 0 };
	const char *problem;
	size_t count = 0;

	for (const char *at = line; at; count++) {
		struct cell cell = next_cell(&at, end);

		for (int i = 0; i < COLUMN_COUNT; i++)
			if (reading->columns[i] == count)
				cells[i] = cell;
	}
	/* A comma too many moves every number behind it. */
	if (count != reading->column_count) {
		warn(reading, "it has another number of cells than the first "
			      "line");
		return;
	}
	problem = read_model(cells, &model);
	if (problem)
		warn(reading, problem);
	else
		add_model(reading, &model);
}

static void read_line(struct reading *reading, const char *line,
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
	else if (reading->columns[COLUMN_NAME] != NO_COLUMN)
		read_row(reading, line, end);
}

static void read_text(struct reading *reading, const char *text, size_t length)
{
	const char *end = text + length;

	reading->before = reading->catalogue->count;
	/* Spreadsheets mark UTF-8 so. */
	if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		text += 3;
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));

		reading->line++;
		read_line(reading, text, newline ? newline : end);
		text = newline ? newline + 1 : end;
	}
	if (reading->warned > WARNINGS_MAX)
		strlist_addf(reading->warnings, "%s: and %zu more lines",
			     reading->path, reading->warned - WARNINGS_MAX);
}

void gpu_catalogue_load(struct gpu_catalogue *catalogue, const char *path,
			struct strlist *warnings)
{
	const struct builtin_file *file = builtin_find(BUILTIN_FILE);
	struct reading builtin = { .catalogue = catalogue,
				   .warnings = warnings,
				   .path = BUILTIN_FILE };
	struct reading own = { .catalogue = catalogue,
			       .warnings = warnings,
			       .path = path };
	struct strbuf text = STRBUF_INIT;
	struct error err = ERROR_INIT;
	int result;

	memset(catalogue, 0, sizeof(*catalogue));
	if (file)
		read_text(&builtin, file->data, file->size);
	result = path ? textfile_read(path, FILE_MAX_BYTES, &text, &err)
		      : -ENOENT;
	if (result == 0)
		read_text(&own, strbuf_text(&text), text.length);
	else if (result > 0)
		strlist_addf(warnings, "%s: larger than %zu KiB: passed over",
			     path, FILE_MAX_BYTES / KIB);
	else if (result != -ENOENT)
		strlist_add(warnings, err.message);
	strbuf_release(&text);
}

void gpu_catalogue_release(struct gpu_catalogue *catalogue)
{
	free(catalogue->items);
	memset(catalogue, 0, sizeof(*catalogue));
}
