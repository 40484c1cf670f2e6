/* Formatting helpers of the report: colour, lines, numbers, verdicts. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REPORT_REPORT_WORDS_H
#define AUTOFIT_LAUNCHER_REPORT_REPORT_WORDS_H

#include "base/strbuf.h"
#include "base/trial.h"
#include "launcher/report/report.h"

#include <stddef.h>
#include <stdint.h>

enum paint {
	PAINT_PLAIN,
	PAINT_BOLD,
	PAINT_DIM,
	PAINT_GOOD,
	PAINT_BAD,
	PAINT_WARN,
};

/* Columns to fill; never too few to say anything. */
size_t words_columns(const struct report_style *style);

/* " · " or " - ". */
const char *words_separator(const struct report_style *style);

void words_paint(struct strbuf *out, const struct report_style *style,
		 enum paint paint, const char *text);

/* One paragraph: text is wrapped, painted, ended by a newline. */
void words_line(struct strbuf *out, const struct report_style *style,
		enum paint paint, const char *text);

/* "  label     text", wrapped under the text. */
void words_field(struct strbuf *out, const struct report_style *style,
		 const char *label, const char *text);

/* The same for text that is to be pasted: made safe, never wrapped. */
void words_exact(struct strbuf *out, const struct report_style *style,
		 const char *label, const char *text);

/* Text from outside, made safe; several lines become several lines. */
void words_block(struct strbuf *out, const struct report_style *style,
		 const char *text);

/* Take away the live line, if there may be one. */
void words_clear_live(struct strbuf *out, const struct report_style *style);

/* "1.41 of 1.90 GiB", or the first alone when limit is 0. */
void words_pair(struct strbuf *out, uint64_t used, uint64_t limit);

/* "[####----]": eight cells; the last is ! when the limit is passed. */
void words_bar(struct strbuf *out, uint64_t used, uint64_t limit);

/* "412 ms", "1.24 s"; "-" when not known. */
void words_step(struct strbuf *out, double seconds);
/* "310.7", "12345"; "-" when not known. */
void words_rate(struct strbuf *out, double per_second);
/* "310.7 +- 4.2", with the sign where the locale has it. */
void words_rate_spread(struct strbuf *out, const struct report_style *style,
		       double per_second, double spread);

/* "out of GPU memory in evaluation, rank 3" */
void words_verdict(struct strbuf *out, const struct trial *trial);
enum paint words_verdict_paint(const struct trial *trial);

/* "limit 1.90 GiB = budget 2.00 GiB (--memory) - headroom 102 MiB" */
void words_limit(struct strbuf *out, const struct report_style *style,
		 const struct result *result);

#endif
