/* A small chart as data: points, levels, a line. Drawn by others. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/pages/chart.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHART_ROOM 1.06

void chart_add(struct chart *chart, const struct chart_point *point)
{
	chart->points = xgrow(chart->points, chart->count, &chart->capacity,
			      sizeof(*chart->points));
	chart->points[chart->count++] = *point;
}

void chart_release(struct chart *chart)
{
	for (size_t i = 0; i < chart->count; i++)
		free(chart->points[i].label);
	free(chart->points);
	memset(chart, 0, sizeof(*chart));
}

double chart_x_max(const struct chart *chart)
{
	double max = 0;

	for (size_t i = 0; i < chart->count; i++)
		max = fmax(max, chart->points[i].x);
	return max > 0 ? max * CHART_ROOM : 1;
}

double chart_y_max(const struct chart *chart)
{
	double max = 0;

	for (size_t i = 0; i < chart->count; i++)
		max = fmax(max, chart->points[i].y + chart->points[i].spread);
	for (size_t i = 0; i < chart->level_count; i++)
		max = fmax(max, chart->levels[i].y);
	return max > 0 ? max * CHART_ROOM : 1;
}

double chart_x_step(const struct chart *chart, size_t count)
{
	return fmax(1, chart_step(chart_x_max(chart), count, false));
}

double chart_step(double max, size_t count, bool is_bytes)
{
	static const double factors[] = { 1, 2, 5, 10 };
	double rough = max / (double)count, base;

	if (!(rough > 0))
		return 1;
	if (is_bytes)
		return exp2(ceil(log2(rough)));
	base = pow(10, floor(log10(rough)));
	for (size_t i = 0; i < sizeof(factors) / sizeof(*factors); i++)
		if (base * factors[i] >= rough * (1 - 1e-9))
			return base * factors[i];
	return base * 10;
}
