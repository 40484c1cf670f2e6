/* A chart as SVG inside a page. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_PAGES_CHART_SVG_H
#define AUTOFIT_LAUNCHER_PAGES_CHART_SVG_H

#include "launcher/pages/chart.h"

/* A figure with its caption; each point tells its label. */
void chart_svg(const struct chart *chart, struct strbuf *out);

/* The points as bars one after another: x long, each with its label. */
void chart_svg_bars(const struct chart *chart, struct strbuf *out);

/* Values from left to right in the size of a word; description is for those
 * who do not see it. */
void chart_svg_spark(const double *values, size_t count,
		     const char *description, struct strbuf *out);

#endif
