/* A small chart as data: points, levels, a line. Drawn by others. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_PAGES_CHART_H
#define AUTOFIT_LAUNCHER_PAGES_CHART_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

/* Told by colour and by shape. */
enum chart_kind {
	CHART_GOOD, /* a disc */
	CHART_BAD,  /* a cross */
	CHART_OPEN, /* a ring: it says neither */
};

struct chart_point {
	double x, y;
	double spread; /* of y, to both sides; 0: not known */
	enum chart_kind kind;
	char *label; /* in words */
};

struct chart_level {
	double y;
	const char *name;
};

#define CHART_LEVELS_MAX 2

struct chart {
	const char *title, *x_name;
	/* Appends y as it stands at an axis. */
	void (*y_text)(struct strbuf *out, double y);
	bool is_bytes; /* ticks at powers of two */
	struct chart_point *points;
	size_t count, capacity;
	/* From the top down; between the two nothing may be. */
	struct chart_level levels[CHART_LEVELS_MAX];
	size_t level_count;
	bool has_line;
	double line_start, line_slope;
};

/* Takes label over. */
void chart_add(struct chart *chart, const struct chart_point *point);
void chart_release(struct chart *chart);

/* The largest value to be drawn, with some room above it; 1 if none is. */
double chart_x_max(const struct chart *chart);
double chart_y_max(const struct chart *chart);

/* A round distance of ticks, so that at most count of them reach max. */
double chart_step(double max, size_t count, bool is_bytes);
/* The same of the samples below it, which are whole. */
double chart_x_step(const struct chart *chart, size_t count);

#endif
