/* Formatting helpers of the report: colour, lines, numbers, verdicts. */
/* SPDX-License-Identifier: MIT */
#include "launcher/report/report_words.h"

#include "base/units.h"
#include "launcher/command/text/text.h"

#include <string.h>

#define FIELD_INDENT 12
#define BLOCK_INDENT 4
#define BAR_CELLS 8

size_t words_columns(const struct report_style *style)
{
	if (style->columns <= 0)
		return 80;
	return style->columns < 40 ? 40 : (size_t)style->columns;
}

const char *words_separator(const struct report_style *style)
{
	return style->ascii ? " - " : " \xc2\xb7 ";
}

void words_paint(struct strbuf *out, const struct report_style *style,
		 enum paint paint, const char *text)
{
	static const char *const codes[] = {
		[PAINT_PLAIN] = NULL,     [PAINT_BOLD] = "\x1b[1m",
		[PAINT_DIM] = "\x1b[2m",  [PAINT_GOOD] = "\x1b[32m",
		[PAINT_BAD] = "\x1b[31m", [PAINT_WARN] = "\x1b[33m",
	};
	const char *code = style->color ? codes[paint] : NULL;

	if (code)
		strbuf_adds(out, code);
	strbuf_adds(out, text);
	if (code)
		strbuf_adds(out, "\x1b[0m");
}

void words_line(struct strbuf *out, const struct report_style *style,
		enum paint paint, const char *text)
{
	struct strbuf wrapped = STRBUF_INIT;

	text_add_wrapped(&wrapped, text, 2, words_columns(style));
	words_paint(out, style, paint, strbuf_text(&wrapped));
	strbuf_addch(out, '\n');
	strbuf_release(&wrapped);
}

static void add_label(struct strbuf *out, const struct report_style *style,
		      const char *label)
{
	struct strbuf head = STRBUF_INIT;

	strbuf_addf(&head, "  %-*s", FIELD_INDENT - 2, label);
	words_paint(out, style, PAINT_DIM, strbuf_text(&head));
	strbuf_release(&head);
}

void words_exact(struct strbuf *out, const struct report_style *style,
		 const char *label, const char *text)
{
	add_label(out, style, label);
	text_add_safe(out, text, style->ascii);
	strbuf_addch(out, '\n');
}

void words_field(struct strbuf *out, const struct report_style *style,
		 const char *label, const char *text)
{
	struct strbuf wrapped = STRBUF_INIT;
	size_t columns = words_columns(style) - FIELD_INDENT;

	add_label(out, style, label);
	/* Wrapped on its own, so that paint does not count as columns. */
	text_add_wrapped(&wrapped, text, 0, columns);
	for (const char *line = strbuf_text(&wrapped); *line;) {
		size_t length = strcspn(line, "\n");

		strbuf_add(out, line, length);
		line += length;
		if (*line++ == '\0')
			break;
		strbuf_addf(out, "\n%*s", FIELD_INDENT, "");
	}
	strbuf_addch(out, '\n');
	strbuf_release(&wrapped);
}

void words_block(struct strbuf *out, const struct report_style *style,
		 const char *text)
{
	while (text && *text) {
		size_t length = strcspn(text, "\n");
		struct strbuf raw = STRBUF_INIT;
		struct strbuf safe = STRBUF_INIT;

		strbuf_add(&raw, text, length);
		text_add_safe(&safe, strbuf_text(&raw), style->ascii);
		strbuf_addf(out, "%*s", BLOCK_INDENT, "");
		text_add_wrapped(out, strbuf_text(&safe), BLOCK_INDENT + 2,
				 words_columns(style));
		strbuf_addch(out, '\n');
		strbuf_release(&raw);
		strbuf_release(&safe);
		text += length;
		text += *text == '\n';
	}
}

void words_clear_live(struct strbuf *out, const struct report_style *style)
{
	if (style->live)
		strbuf_adds(out, "\r\x1b[K");
}

void words_pair(struct strbuf *out, uint64_t used, uint64_t limit)
{
	char first[BYTES_TEXT_MAX];
	char second[BYTES_TEXT_MAX];
	const char *unit;

	(void)bytes_format(first, used);
	if (limit == 0) {
		strbuf_adds(out, first);
		return;
	}
	(void)bytes_format(second, limit);
	unit = strchr(second, ' ');
	if (unit && strcmp(first + strcspn(first, " "), unit) == 0)
		first[strcspn(first, " ")] = '\0';
	strbuf_addf(out, "%s of %s", first, second);
}

void words_bar(struct strbuf *out, uint64_t used, uint64_t limit)
{
	double share = limit ? (double)used / (double)limit : 0;
	int filled = share >= 1 ? BAR_CELLS : (int)(share * BAR_CELLS + 0.5);

	strbuf_addch(out, '[');
	for (int i = 0; i < BAR_CELLS; i++)
		strbuf_adds(out, i < filled ? "#" : "-");
	if (share > 1)
		out->data[out->length - 1] = '!';
	strbuf_addch(out, ']');
}

void words_step(struct strbuf *out, double seconds)
{
	if (!(seconds > 0))
		strbuf_adds(out, "-");
	else if (seconds < 0.9995)
		strbuf_addf(out, "%.*f ms", seconds < 0.00995 ? 1 : 0,
			    seconds * 1e3);
	else
		strbuf_addf(out, "%.*f s", seconds < 9.995 ? 2 : 1, seconds);
}

static int rate_decimals(double per_second)
{
	return per_second < 9.995 ? 2 : per_second < 999.95 ? 1 : 0;
}

void words_rate(struct strbuf *out, double per_second)
{
	if (!(per_second > 0))
		strbuf_adds(out, "-");
	else
		strbuf_addf(out, "%.*f", rate_decimals(per_second), per_second);
}

void words_rate_spread(struct strbuf *out, const struct report_style *style,
		       double per_second, double spread)
{
	words_rate(out, per_second);
	strbuf_addf(out, "%s%.*f", style->ascii ? " +- " : " \xc2\xb1 ",
		    rate_decimals(per_second), spread);
}

void words_verdict(struct strbuf *out, const struct trial *trial)
{
	static const char *const verdicts[] = {
		[VERDICT_NONE] = "no verdict",
		[VERDICT_FITS] = "fits",
		[VERDICT_FITS_BARELY] = "fits barely",
		[VERDICT_THRASHES] = "thrashes",
		[VERDICT_OVER_BUDGET] = "over the limit",
		[VERDICT_OOM_DEVICE] = "out of GPU memory",
		[VERDICT_OOM_HOST] = "out of memory",
		[VERDICT_TOO_BIG] = "too big",
		[VERDICT_TIMEOUT] = "timed out",
		[VERDICT_FAILED] = "failed",
		[VERDICT_DISTURBED] = "disturbed",
	};
	static const char *const phases[] = {
		[PHASE_START] = " during start-up",
		[PHASE_TRAIN] = "",
		[PHASE_EVAL] = " in evaluation",
		[PHASE_SAVE] = " while saving",
	};

	strbuf_adds(out, verdicts[trial->verdict]);
	if (trial_fits(trial))
		return;
	strbuf_adds(out, phases[trial->phase]);
	if (trial->rank >= 0)
		strbuf_addf(out, ", rank %d", trial->rank);
}

enum paint words_verdict_paint(const struct trial *trial)
{
	if (trial_fits(trial))
		return PAINT_GOOD;
	return trial_is_misfit(trial) ? PAINT_WARN : PAINT_BAD;
}

void words_limit(struct strbuf *out, const struct report_style *style,
		 const struct result *result)
{
	const struct record *record = &result->record;
	char text[BYTES_TEXT_MAX];

	strbuf_addf(out, "limit %s", bytes_format(text, record->limit_bytes));
	if (record->budget_bytes == 0)
		return;
	strbuf_addf(out, " = budget %s",
		    bytes_format(text, record->budget_bytes));
	if (result->budget_source) {
		strbuf_adds(out, " (");
		text_add_safe(out, result->budget_source, style->ascii);
		strbuf_addch(out, ')');
	}
	strbuf_addf(out, " - headroom %s",
		    bytes_format(text, record->headroom_bytes));
}
