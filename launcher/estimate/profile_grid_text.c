/* A table of a profile as text. */
/* SPDX-License-Identifier: MIT */
#include "launcher/estimate/profile_grid.h"

#include <stdbool.h>
#include <string.h>

#define WIDTH 80
/* Before each column. */
#define GAP 2
/* Narrower columns are not read any more. */
#define NARROWEST 8

struct layout {
	size_t widths[PROFILE_COLUMNS_MAX];
	bool is_number[PROFILE_COLUMNS_MAX];
};

static const char *cell(const struct profile_grid *grid, size_t row,
			size_t column)
{
	return grid->cells.items[row * grid->columns + column];
}

static bool is_numeric(const char *text)
{
	return text[strspn(text, "0123456789.~-+<*%:")] == '\0';
}

static void measure(const struct profile_grid *grid, struct layout *layout)
{
	size_t rows = profile_grid_rows(grid);

	for (size_t i = 0; i < grid->columns; i++) {
		layout->widths[i] = 0;
		layout->is_number[i] = true;
		for (size_t row = 0; row < rows; row++) {
			size_t length = strlen(cell(grid, row, i));

			if (length > layout->widths[i])
				layout->widths[i] = length;
			if (row && !is_numeric(cell(grid, row, i)))
				layout->is_number[i] = false;
		}
	}
}

/* The widest gives way until all of them fit. */
static void squeeze(size_t columns, struct layout *layout)
{
	size_t most = WIDTH - GAP * columns;

	for (;;) {
		size_t sum = 0, widest = 0;

		for (size_t i = 0; i < columns; i++) {
			sum += layout->widths[i];
			if (layout->widths[i] > layout->widths[widest])
				widest = i;
		}
		if (sum <= most || layout->widths[widest] <= NARROWEST)
			return;
		layout->widths[widest]--;
	}
}

/* Bytes of the text that stand on one line, whole words where it can be. */
static size_t line_length(const char *text, size_t width)
{
	size_t length = strlen(text);

	if (length <= width)
		return length;
	for (length = width; length && text[length] != ' ';)
		length--;
	return length ? length : width;
}

static void add_piece(struct strbuf *out, const char *text, size_t length,
		      size_t width, bool is_number)
{
	int padding = (int)(width - length);

	if (is_number)
		strbuf_addf(out, "%*s%.*s", padding, "", (int)length, text);
	else
		strbuf_addf(out, "%.*s%*s", (int)length, text, padding, "");
}

static void trim(struct strbuf *out)
{
	while (out->length && out->data[out->length - 1] == ' ')
		out->data[--out->length] = '\0';
}

/* As many lines as its longest cell takes. */
static void add_row(struct strbuf *out, const struct profile_grid *grid,
		    const struct layout *layout, size_t row)
{
	const char *rest[PROFILE_COLUMNS_MAX];
	bool is_done = false;

	for (size_t i = 0; i < grid->columns; i++)
		rest[i] = cell(grid, row, i);
	while (!is_done) {
		is_done = true;
		for (size_t i = 0; i < grid->columns; i++) {
			size_t length = line_length(rest[i], layout->widths[i]);

			strbuf_addf(out, "%*s", GAP, "");
			add_piece(out, rest[i], length, layout->widths[i],
				  layout->is_number[i]);
			rest[i] += length;
			rest[i] += strspn(rest[i], " ");
			is_done &= *rest[i] == '\0';
		}
		trim(out);
		strbuf_addch(out, '\n');
	}
}

static void add_rule(struct strbuf *out, const struct profile_grid *grid,
		     const struct layout *layout)
{
	for (size_t i = 0; i < grid->columns; i++) {
		strbuf_addf(out, "%*s", GAP, "");
		for (size_t j = 0; j < layout->widths[i]; j++)
			strbuf_addch(out, '-');
	}
	strbuf_addch(out, '\n');
}

void profile_grid_text(struct strbuf *out, const struct profile_grid *grid)
{
	struct layout layout;

	if (!grid->columns)
		return;
	measure(grid, &layout);
	squeeze(grid->columns, &layout);
	for (size_t row = 0; row < profile_grid_rows(grid); row++) {
		add_row(out, grid, &layout, row);
		if (row == 0)
			add_rule(out, grid, &layout);
	}
}
