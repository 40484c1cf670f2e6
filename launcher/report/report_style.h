/* How the report is to be written: terminal, locale, NO_COLOR, --color. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REPORT_REPORT_STYLE_H
#define AUTOFIT_LAUNCHER_REPORT_REPORT_STYLE_H

#include "launcher/options/options.h"
#include "launcher/report/report.h"

/* The style for stderr. */
struct report_style report_style_choose(const struct options *options);
/* As wide as the terminal is now; the same where stderr is none. */
void report_style_measure(struct report_style *style);

#endif
