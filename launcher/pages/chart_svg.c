/* A chart as SVG inside a page. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/pages/chart_svg.h"

#include "launcher/pages/html.h"

#include <assert.h>
#include <inttypes.h>
#include <stdint.h>

#define WIDTH 440.0
#define HEIGHT 280.0
#define LEFT 66.0
#define RIGHT 12.0
#define TOP 14.0
#define BOTTOM 40.0
#define TICKS 5
#define BAR_HEIGHT 24.0
#define SPARK_WIDTH 120.0
#define SPARK_HEIGHT 24.0
#define SPARK_BAR_MAX 12.0

static const char *const kind_classes[] = {
	[CHART_GOOD] = "good", [CHART_BAD] = "bad", [CHART_OPEN] = "open"
};

struct scale {
	double x_max, y_max;
};

static double scale_x(const struct scale *scale, double x)
{
	return LEFT + x / scale->x_max * (WIDTH - LEFT - RIGHT);
}

static double scale_y(const struct scale *scale, double y)
{
	return HEIGHT - BOTTOM - y / scale->y_max * (HEIGHT - TOP - BOTTOM);
}

static void add_attribute(struct strbuf *out, const char *name, double value)
{
	strbuf_addf(out, " %s=\"", name);
	html_number(out, value);
	strbuf_adds(out, "\"");
}

struct segment {
	double x1, y1, x2, y2;
};

static void add_segment(struct strbuf *out, const char *class,
			const struct segment *segment)
{
	strbuf_addf(out, "<line class=\"%s\"", class);
	add_attribute(out, "x1", segment->x1);
	add_attribute(out, "y1", segment->y1);
	add_attribute(out, "x2", segment->x2);
	add_attribute(out, "y2", segment->y2);
	strbuf_adds(out, "/>\n");
}

static void add_svg_text(struct strbuf *out, double x, double y,
			 const char *anchor, const char *text)
{
	strbuf_addf(out, "<text text-anchor=\"%s\"", anchor);
	add_attribute(out, "x", x);
	add_attribute(out, "y", y);
	strbuf_adds(out, ">");
	html_text(out, text);
	strbuf_adds(out, "</text>\n");
}

static void add_axes(struct strbuf *out, const struct chart *chart,
		     const struct scale *scale)
{
	double y_step = chart_step(scale->y_max, TICKS, chart->is_bytes);
	double x_step = chart_x_step(chart, TICKS + 2);
	struct strbuf text = STRBUF_INIT;

	for (int i = 0; i * y_step <= scale->y_max; i++) {
		double y = i * y_step;

		strbuf_reset(&text);
		chart->y_text(&text, y);
		add_segment(out, "grid",
			    &(struct segment){ LEFT, scale_y(scale, y),
					       WIDTH - RIGHT,
					       scale_y(scale, y) });
		add_svg_text(out, LEFT - 6, scale_y(scale, y) + 4, "end",
			     strbuf_text(&text));
	}
	for (int i = 0; i * x_step <= scale->x_max; i++) {
		double x = i * x_step;

		strbuf_reset(&text);
		strbuf_addf(&text, "%" PRId64, (int64_t)(x + 0.5));
		add_svg_text(out, scale_x(scale, x), HEIGHT - BOTTOM + 16,
			     "middle", strbuf_text(&text));
	}
	add_segment(out, "axis",
		    &(struct segment){ LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT,
				       HEIGHT - BOTTOM });
	add_svg_text(out, LEFT + (WIDTH - LEFT - RIGHT) / 2, HEIGHT - 6,
		     "middle", chart->x_name);
	strbuf_release(&text);
}

/* Two levels have the forbidden band between them. */
static void add_levels(struct strbuf *out, const struct chart *chart,
		       const struct scale *scale)
{
	assert(chart->level_count <= CHART_LEVELS_MAX);
	if (chart->level_count == CHART_LEVELS_MAX) {
		double top = scale_y(scale, chart->levels[0].y);

		strbuf_adds(out, "<rect class=\"band\"");
		add_attribute(out, "x", LEFT);
		add_attribute(out, "y", top);
		add_attribute(out, "width", WIDTH - LEFT - RIGHT);
		add_attribute(out, "height",
			      scale_y(scale, chart->levels[1].y) - top);
		strbuf_adds(out, "/>\n");
	}
	for (size_t i = 0; i < chart->level_count; i++) {
		double y = scale_y(scale, chart->levels[i].y);

		add_segment(out, "level",
			    &(struct segment){ LEFT, y, WIDTH - RIGHT, y });
		/* The upper name above its line, the lower one below it. */
		add_svg_text(out, LEFT + 6, i == 0 ? y - 4 : y + 14, "start",
			     chart->levels[i].name);
	}
}

/* From the left edge to where it leaves the chart. */
static void add_fit(struct strbuf *out, const struct chart *chart,
		    const struct scale *scale)
{
	double end = scale->x_max;
	double top = chart->line_start + chart->line_slope * end;

	if (!chart->has_line)
		return;
	if (top > scale->y_max && chart->line_slope > 0)
		end = (scale->y_max - chart->line_start) / chart->line_slope;
	add_segment(out, "fit",
		    &(struct segment){
			    scale_x(scale, 0),
			    scale_y(scale, chart->line_start),
			    scale_x(scale, end),
			    scale_y(scale, chart->line_start +
						   chart->line_slope * end) });
}

static void add_point(struct strbuf *out, const struct chart_point *point,
		      const struct scale *scale)
{
	double x = scale_x(scale, point->x), y = scale_y(scale, point->y);

	assert((size_t)point->kind <
	       sizeof(kind_classes) / sizeof(*kind_classes));
	strbuf_adds(out, "<g><title>");
	html_text(out, point->label);
	strbuf_adds(out, "</title>");
	if (point->spread > 0)
		add_segment(out, "spread",
			    &(struct segment){
				    x, scale_y(scale, point->y - point->spread),
				    x,
				    scale_y(scale, point->y + point->spread) });
	if (point->kind == CHART_BAD) {
		add_segment(out, "bad",
			    &(struct segment){ x - 5, y - 5, x + 5, y + 5 });
		add_segment(out, "bad",
			    &(struct segment){ x - 5, y + 5, x + 5, y - 5 });
	} else {
		strbuf_addf(out, "<circle class=\"%s\" r=\"5\"",
			    kind_classes[point->kind]);
		add_attribute(out, "cx", x);
		add_attribute(out, "cy", y);
		strbuf_adds(out, "/>");
	}
	strbuf_adds(out, "</g>\n");
}

static void figure_begin(struct strbuf *out, const struct chart *chart,
			 double height)
{
	strbuf_adds(out, "<figure>");
	html_element(out, "figcaption", chart->title);
	strbuf_adds(out, "<svg role=\"img\" aria-label=\"");
	html_text(out, chart->title);
	strbuf_adds(out, "; its values are in the table of probes\" "
			 "viewBox=\"0 0 ");
	html_number(out, WIDTH);
	strbuf_adds(out, " ");
	html_number(out, height);
	strbuf_adds(out, "\">\n");
}

void chart_svg(const struct chart *chart, struct strbuf *out)
{
	const struct scale scale = { chart_x_max(chart), chart_y_max(chart) };

	figure_begin(out, chart, HEIGHT);
	add_axes(out, chart, &scale);
	add_levels(out, chart, &scale);
	add_fit(out, chart, &scale);
	for (size_t i = 0; i < chart->count; i++)
		add_point(out, &chart->points[i], &scale);
	strbuf_adds(out, "</svg>\n<p class=\"legend\">&#9679; fits &#160; "
			 "&#10005; does not &#160; &#9675; says neither"
			 "</p></figure>\n");
}

void chart_svg_bars(const struct chart *chart, struct strbuf *out)
{
	double whole = 0, at = 0;

	for (size_t i = 0; i < chart->count; i++)
		whole += chart->points[i].x;
	figure_begin(out, chart, BAR_HEIGHT * (double)chart->count + 4);
	for (size_t i = 0; i < chart->count && whole > 0; i++) {
		const struct chart_point *point = &chart->points[i];
		double start = at / whole * WIDTH;
		double length = point->x / whole * WIDTH;
		double y = BAR_HEIGHT * (double)i;
		bool is_left = start + length / 2 > WIDTH / 2;

		strbuf_addf(out, "<rect class=\"bar %s\"",
			    kind_classes[point->kind]);
		add_attribute(out, "x", start);
		add_attribute(out, "y", y + 4);
		add_attribute(out, "width", length > 2 ? length - 1 : 1);
		add_attribute(out, "height", BAR_HEIGHT - 8);
		strbuf_adds(out, "/>\n");
		add_svg_text(out, is_left ? start - 5 : start + length + 5,
			     y + BAR_HEIGHT - 8, is_left ? "end" : "start",
			     point->label);
		at += point->x;
	}
	strbuf_adds(out, "</svg></figure>\n");
}

void chart_svg_spark(const double *values, size_t count,
		     const char *description, struct strbuf *out)
{
	double max = 0;

	for (size_t i = 0; i < count; i++)
		max = values[i] > max ? values[i] : max;
	strbuf_adds(out, "<svg role=\"img\" aria-label=\"");
	html_text(out, description);
	strbuf_addf(out, "\" viewBox=\"0 0 %d %d\">", (int)SPARK_WIDTH,
		    (int)SPARK_HEIGHT);
	for (size_t i = 0; i < count; i++) {
		double share = SPARK_WIDTH / (double)count;
		double width = share < SPARK_BAR_MAX ? share : SPARK_BAR_MAX;
		double height =
			max > 0 ? values[i] / max * (SPARK_HEIGHT - 2) : 0;

		/* A night without a value is a red foot. */
		strbuf_addf(out, "<rect class=\"bar %s\" stroke=\"none\"",
			    values[i] > 0 ? "good" : "bad");
		add_attribute(out, "x", width * (double)i);
		add_attribute(out, "y",
			      SPARK_HEIGHT - (height > 2 ? height : 2));
		add_attribute(out, "width", width > 3 ? width - 1 : width);
		add_attribute(out, "height", height > 2 ? height : 2);
		strbuf_adds(out, "/>");
	}
	strbuf_adds(out, "</svg>");
}
