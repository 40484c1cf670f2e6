/* How the report is to be written: terminal, locale, NO_COLOR, --color. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REPORT_REPORT_STYLE_H
#define AUTOFIT_LAUNCHER_REPORT_REPORT_STYLE_H

#include "launcher/options/options.h"
#include "launcher/report/report.h"

#include <stddef.h>

/* The style for stderr. */
struct report_style report_style_choose(const struct options *options);
/* As wide as the terminal of stderr is now; where it is none, as wide as what
 * is printed to standard output. */
void report_style_measure(struct report_style *style);
/* Columns of a line on standard output: what the variable COLUMNS says (40 to
 * 500), else its terminal, else 80. */
size_t report_width(void);

#endif
