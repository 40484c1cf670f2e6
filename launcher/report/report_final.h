/* The parts of the last report that are files of their own. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REPORT_REPORT_FINAL_H
#define AUTOFIT_LAUNCHER_REPORT_REPORT_FINAL_H

#include "launcher/report/report.h"

/* What was kept, both splits, memory and evidence of a tuned command. */
void report_evidence(struct strbuf *out, const struct report_style *style,
		     const struct result *result);

/* What else the user may do: grow, another effective batch, learning rate. */
void report_advice(struct strbuf *out, const struct report_style *style,
		   const struct result *result);

/* Nothing fits: what does, and the option that would use it. */
void report_ways_out(struct strbuf *out, const struct report_style *style,
		     const struct result *result);

#endif
