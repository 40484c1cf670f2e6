/* A table of a profile with its figures worked out. */
/* SPDX-License-Identifier: MIT */
#include "launcher/estimate/profile_grid.h"

#include "base/alloc.h"
#include "launcher/estimate/profile_tables.h"
#include "launcher/report/report_table.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Where nothing is said: 14, 8.5, 0.25. */
#define DECIMALS 2
#define WIDTH 80

/* "12.50" to "12.5", "12.00" to "12". */
static void add_number(struct strbuf *out, double value, int decimals,
		       bool is_trimmed)
{
	char *text = xasprintf("%.*f", decimals, value);
	size_t length = strlen(text);

	if (is_trimmed && strchr(text, '.')) {
		while (text[length - 1] == '0')
			length--;
		if (text[length - 1] == '.')
			length--;
	}
	if (length == 2 && strncmp(text, "-0", 2) == 0)
		strbuf_addch(out, '0');
	else
		strbuf_add(out, text, length);
	free(text);
}

/* What stands behind "@": 2, ~1, or the name of bands. */
static int add_figure(struct strbuf *out, const struct profile_scope *scope,
		      struct profile_text piece, enum profile_source *source,
		      struct error *err)
{
	const char *mark = memrchr(piece.text, '@', piece.length);
	struct profile_text value = piece, how = { "~2", 2 };
	struct profile_figure figure;
	const char *band = NULL;
	bool is_trimmed;
	int result;

	if (mark) {
		value.length = (size_t)(mark - piece.text);
		how.text = mark + 1;
		how.length = piece.length - value.length - 1;
	}
	result = profile_value(scope, value, &figure, err);
	if (result < 0)
		return result;
	*source = figure.source;
	is_trimmed = how.length && *how.text == '~';
	if (how.length == 1U + is_trimmed && how.text[is_trimmed] >= '0' &&
	    how.text[is_trimmed] <= '9') {
		add_number(out, figure.value, how.text[is_trimmed] - '0',
			   is_trimmed);
		return 0;
	}
	result = profile_band(scope->profile, how, figure.value, &band, err);
	if (result == 0)
		strbuf_adds(out, band);
	return result;
}

/*
 * A field of a row as it is shown, with the figures of scope in it; source is
 * that of its last figure.
 */
static int profile_field_add(struct strbuf *out,
			     const struct profile_scope *scope,
			     struct profile_text field,
			     enum profile_source *source, struct error *err)
{
	const char *at = field.text, *end = at + field.length;
	int result = 0;

	*source = PROFILE_LITERAL;
	while (at < end && result == 0) {
		const char *open = memchr(at, '{', (size_t)(end - at));
		const char *close;
		struct profile_text piece;

		strbuf_add(out, at, (size_t)((open ? open : end) - at));
		if (!open)
			break;
		close = memchr(open, '}', (size_t)(end - open));
		if (!close)
			return error_set(err, -EINVAL, "%.*s: } is missing",
					 (int)field.length, field.text);
		piece.text = open + 1;
		piece.length = (size_t)(close - open) - 1;
		result = add_figure(out, scope, piece, source, err);
		at = close + 1;
	}
	return result;
}

static int add_cells(struct profile_grid *grid,
		     const struct profile_scope *scope, const char *line,
		     struct error *err)
{
	struct profile_text fields[PROFILE_COLUMNS_MAX];
	size_t count = profile_fields(line, fields);
	int result = 0;

	for (size_t i = 0; i < count && result == 0; i++) {
		struct strbuf cell = STRBUF_INIT;
		enum profile_source source = PROFILE_LITERAL;

		result = profile_field_add(&cell, scope, fields[i], &source,
					   err);
		grid->sources = xgrow(grid->sources, grid->cells.count,
				      &grid->capacity, sizeof(source));
		grid->sources[grid->cells.count] = source;
		strlist_add(&grid->cells, strbuf_text(&cell));
		strbuf_release(&cell);
	}
	return result;
}

static int add_note(struct profile_grid *grid,
		    const struct profile_scope *scope, const char *text,
		    struct error *err)
{
	struct profile_text all = { text, strlen(text) };
	struct strbuf note = STRBUF_INIT;
	enum profile_source source;
	int result = profile_field_add(&note, scope, all, &source, err);

	strlist_add(&grid->notes, strbuf_text(&note));
	strbuf_release(&note);
	return result;
}

static int grid_add_line(struct profile_grid *grid, struct profile_scope *scope,
			 const struct profile_line *line, struct error *err)
{
	int result = 0;

	if (strcmp(line->key, "set") == 0)
		result = profile_scope_set(scope, line->text, err);
	else if (strcmp(line->key, "row") == 0)
		result = add_cells(grid, scope, line->text, err);
	else if (strcmp(line->key, "note") == 0)
		result = add_note(grid, scope, line->text, err);
	if (result < 0)
		(void)error_prefix(err, "%s:%u", line->path, line->line);
	return result;
}

int profile_grid_fill(struct profile_grid *grid, const struct profile *profile,
		      const struct profile_section *table, struct error *err)
{
	const char *columns = profile_key(table, "columns");
	struct profile_scope scope;
	int result = profile_scope_init(&scope, profile, NULL, err);

	if (result == 0)
		result = add_cells(grid, &scope, columns, err);
	grid->columns = grid->cells.count;
	for (size_t i = 0; i < table->count && result == 0; i++)
		result = grid_add_line(grid, &scope, &table->lines[i], err);
	return result;
}

void profile_grid_release(struct profile_grid *grid)
{
	strlist_release(&grid->cells);
	strlist_release(&grid->notes);
	free(grid->sources);
	*grid = (struct profile_grid){ .columns = 0 };
}

size_t profile_grid_rows(const struct profile_grid *grid)
{
	return grid->columns ? grid->cells.count / grid->columns : 0;
}

static bool is_numeric(const char *text)
{
	return text[strspn(text, "0123456789.~-+<*%:")] == '\0';
}

void profile_grid_text(struct strbuf *out, const struct profile_grid *grid)
{
	bool is_number[PROFILE_COLUMNS_MAX];

	assert(grid->columns <= PROFILE_COLUMNS_MAX);
	memset(is_number, true, sizeof(is_number));
	for (size_t i = grid->columns; i < grid->cells.count; i++)
		if (!is_numeric(grid->cells.items[i]))
			is_number[i % grid->columns] = false;
	report_columns_print(out,
			     &(struct report_columns){ .cells = &grid->cells,
						       .count = grid->columns,
						       .is_right = is_number,
						       .indent = 2,
						       .width = WIDTH,
						       .has_rule = true });
}
