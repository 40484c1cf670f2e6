/* A chart in the characters of a terminal: braille, or ASCII. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_PAGES_CHART_TEXT_H
#define AUTOFIT_LAUNCHER_PAGES_CHART_TEXT_H

#include "launcher/pages/chart.h"

/* Appends lines of at most columns characters (60 at least). */
void chart_text(const struct chart *chart, size_t columns, bool is_ascii,
		struct strbuf *out);

#endif
