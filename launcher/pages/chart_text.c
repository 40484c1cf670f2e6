/* A chart in the characters of a terminal: braille, or ASCII. Pure. */
/* SPDX-License-Identifier: MIT */
/*
 * A cell is one character. Lines are dots in it, two across and four down,
 * which braille has a character for; ASCII has one dot for a cell. Points are
 * letters on top of that.
 */
#include "launcher/pages/chart_text.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define ROWS 12
#define LABEL 10
#define COLUMNS_MIN 60
#define COLUMNS_MAX 100
#define DOTS_X 2
#define DOTS_Y 4
/* U+2800: no dot. */
#define BRAILLE 0x2800u

struct canvas {
	unsigned char dots[ROWS][COLUMNS_MAX];
	char marks[ROWS][COLUMNS_MAX];
	size_t width;
	double x_max, y_max;
};

/* In dots from the top left; false outside. */
static bool chart_place(const struct canvas *canvas, double x, double y,
			size_t *column, size_t *row)
{
	double across = x / canvas->x_max * (double)(canvas->width * DOTS_X);
	double down = (1 - y / canvas->y_max) * ROWS * DOTS_Y;

	if (!(across >= 0) || !(down >= 0) ||
	    across >= (double)(canvas->width * DOTS_X) || down >= ROWS * DOTS_Y)
		return false;
	assert(canvas->x_max > 0 && canvas->y_max > 0);
	*column = (size_t)across;
	*row = (size_t)down;
	return true;
}

static void put_dot(struct canvas *canvas, double x, double y)
{
	/* The numbers of the dots of a cell, as Unicode counts them. */
	static const unsigned char bits[DOTS_Y][DOTS_X] = {
		{ 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 }
	};
	size_t column, row;

	if (chart_place(canvas, x, y, &column, &row))
		canvas->dots[row / DOTS_Y][column / DOTS_X] |=
			bits[row % DOTS_Y][column % DOTS_X];
}

static void draw_line(struct canvas *canvas, const struct chart *chart)
{
	size_t steps = canvas->width * DOTS_X;

	for (size_t i = 0; chart->has_line && i < steps; i++) {
		double x = canvas->x_max * (double)i / (double)steps;

		put_dot(canvas, x, chart->line_start + chart->line_slope * x);
	}
}

/* Two levels of one row share it, and their names follow each other. Few points
 * are so small and yet so high. */
static void draw_level(char *marks, size_t width, const char *name)
{
	size_t length = strlen(name);
	size_t start = 2;

	for (size_t i = 0; i < width; i++)
		if (!marks[i])
			marks[i] = '-';
	while (start < width && marks[start] != '-')
		start++;
	start += start > 2;
	for (size_t i = 0; i < length && start + length < width; i++)
		marks[start + i] = name[i];
}

static void draw_marks(struct canvas *canvas, const struct chart *chart)
{
	static const char marks[] = {
		[CHART_GOOD] = 'o', [CHART_BAD] = 'x', [CHART_OPEN] = '^'
	};
	size_t column, row;

	assert(chart->level_count <= CHART_LEVELS_MAX);
	for (size_t i = 0; i < chart->level_count; i++)
		if (chart_place(canvas, 0, chart->levels[i].y, &column, &row))
			draw_level(canvas->marks[row / DOTS_Y], canvas->width,
				   chart->levels[i].name);
	for (size_t i = 0; i < chart->count; i++)
		if (chart_place(canvas, chart->points[i].x, chart->points[i].y,
				&column, &row))
			canvas->marks[row / DOTS_Y][column / DOTS_X] =
				marks[chart->points[i].kind];
}

/* Of the Basic Multilingual Plane, from U+0800 on. */
static void add_character(struct strbuf *out, unsigned code)
{
	assert(code >= 0x800 && code < 0x10000);
	strbuf_addch(out, (char)(0xe0 | code >> 12));
	strbuf_addch(out, (char)(0x80 | (code >> 6 & 0x3f)));
	strbuf_addch(out, (char)(0x80 | (code & 0x3f)));
}

static void add_canvas_cell(struct strbuf *out, char mark, unsigned dots,
			    bool is_ascii)
{
	if (mark && (mark != '-' || !dots || is_ascii))
		strbuf_addch(out, mark);
	else if (is_ascii)
		strbuf_addch(out, dots ? '.' : ' ');
	else if (dots)
		add_character(out, BRAILLE + dots);
	else
		strbuf_addch(out, ' ');
}

static void add_canvas_row(struct strbuf *out, const struct canvas *canvas,
			   const struct chart *chart, size_t row, bool is_ascii)
{
	struct strbuf label = STRBUF_INIT;
	size_t end = canvas->width;

	/* The middle of the first, middle and last row. */
	if (row == 0 || row == ROWS / 2 || row == ROWS - 1)
		chart->y_text(&label,
			      canvas->y_max * (1 - ((double)row + 0.5) / ROWS));
	strbuf_addf(out, "%*.*s |", LABEL, LABEL, strbuf_text(&label));
	while (end && !canvas->marks[row][end - 1] &&
	       !canvas->dots[row][end - 1])
		end--;
	for (size_t i = 0; i < end; i++)
		add_canvas_cell(out, canvas->marks[row][i],
				canvas->dots[row][i], is_ascii);
	strbuf_addch(out, '\n');
	strbuf_release(&label);
}

static void add_x_axis(struct strbuf *out, const struct canvas *canvas,
		       const struct chart *chart)
{
	double step = chart_x_step(chart, canvas->width / 10);
	size_t at = 0;

	strbuf_addf(out, "%*s +", LABEL, "");
	for (size_t i = 0; i < canvas->width; i++)
		strbuf_addch(out, '-');
	strbuf_addf(out, "\n%*s", LABEL + 2, "");
	for (int i = 0; i * step < canvas->x_max; i++) {
		double x = i * step;
		size_t column =
			(size_t)(x / canvas->x_max * (double)canvas->width);
		size_t before = out->length;

		if (column < at || column + 6 > canvas->width)
			continue;
		strbuf_addf(out, "%*s%.0f", (int)(column - at), "", x);
		at = column + (out->length - before - (column - at));
	}
	strbuf_addf(out, "\n%*s%s\n", LABEL + 2, "", chart->x_name);
}

void chart_text(const struct chart *chart, size_t columns, bool is_ascii,
		struct strbuf *out)
{
	struct canvas canvas = { .x_max = chart_x_max(chart),
				 .y_max = chart_y_max(chart) };

	if (columns < COLUMNS_MIN)
		columns = COLUMNS_MIN;
	if (columns > COLUMNS_MAX)
		columns = COLUMNS_MAX;
	canvas.width = columns - LABEL - 2;
	assert(canvas.width <= COLUMNS_MAX);
	draw_line(&canvas, chart);
	draw_marks(&canvas, chart);
	strbuf_addf(out, "%s\n", chart->title);
	for (size_t row = 0; row < ROWS; row++)
		add_canvas_row(out, &canvas, chart, row, is_ascii);
	add_x_axis(out, &canvas, chart);
}
