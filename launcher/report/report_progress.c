/* The live line of the probe under way. */
/* SPDX-License-Identifier: MIT */
#include "launcher/report/report.h"

#include "launcher/command/text/text.h"
#include "launcher/report/report_words.h"

#include <inttypes.h>

static const char *spinner(const struct report_style *style, int64_t frame)
{
	static const char *const braille[] = {
		"\xe2\xa0\x8b", "\xe2\xa0\x99", "\xe2\xa0\xb9", "\xe2\xa0\xb8",
		"\xe2\xa0\xbc", "\xe2\xa0\xb4", "\xe2\xa0\xa6", "\xe2\xa0\xa7",
		"\xe2\xa0\x87", "\xe2\xa0\x8f",
	};
	static const char *const ascii[] = { "|", "/", "-", "\\" };
	uint64_t turn = (uint64_t)frame;

	if (style->ascii)
		return ascii[turn % (sizeof(ascii) / sizeof(*ascii))];
	return braille[turn % (sizeof(braille) / sizeof(*braille))];
}

/* How much of the line is told: each says what those before it say, too. */
enum detail {
	DETAIL_SIZES,
	DETAIL_PEAK,
	DETAIL_STEP,
	DETAIL_TIME,
	DETAIL_BAR,
};

static void progress_add_step(struct strbuf *line,
			      const struct progress *progress,
			      const char *separator)
{
	if (progress->steps <= 0)
		return;
	strbuf_addf(line, "%sstep %" PRId64, separator, progress->steps);
	if (progress->steps_needed > 0)
		strbuf_addf(line, " of %" PRId64, progress->steps_needed);
}

static void progress_add_time(struct strbuf *line,
			      const struct progress *progress,
			      const char *separator)
{
	double seconds = progress->seconds > 0 ? progress->seconds : 0;
	int64_t whole = seconds < 1e9 ? (int64_t)seconds : 0;

	strbuf_addf(line, "%s%" PRId64 ":%02d", separator, whole / 60,
		    (int)(whole % 60));
}

static void progress_add_parts(struct strbuf *line,
			       const struct report_style *style,
			       const struct progress *progress,
			       enum detail detail)
{
	const char *separator = words_separator(style);
	uint64_t peak = progress->current_peak_bytes;

	strbuf_adds(line, spinner(style, progress->frame));
	strbuf_addch(line, ' ');
	text_add_safe(line, progress->what ? progress->what : "probing",
		      style->ascii);
	strbuf_addf(line, " micro %" PRId64 " x accum %" PRId64,
		    progress->micro_batch, progress->grad_accum);
	if (progress->beside)
		strbuf_addf(line, " and %zu more", progress->beside);
	if (detail >= DETAIL_STEP)
		progress_add_step(line, progress, separator);
	if (detail >= DETAIL_TIME)
		progress_add_time(line, progress, separator);
	if (detail >= DETAIL_PEAK && peak > 0) {
		strbuf_addf(line, "%speak ", separator);
		words_pair(line, peak, progress->limit_bytes);
	}
	if (detail >= DETAIL_BAR && peak > 0 && progress->limit_bytes > 0) {
		strbuf_addch(line, ' ');
		words_bar(line, peak, progress->limit_bytes);
	}
}

void report_progress(struct strbuf *out, const struct report_style *style,
		     const struct progress *progress)
{
	struct strbuf line = STRBUF_INIT;
	/* The last column stays empty: some terminals wrap when it is used. */
	size_t room = (style->columns > 0 ? (size_t)style->columns : 80) - 1;
	int detail = DETAIL_BAR;

	if (!style->live)
		return;
	progress_add_parts(&line, style, progress, DETAIL_BAR);
	while (text_columns(strbuf_text(&line)) > room &&
	       detail > DETAIL_SIZES) {
		strbuf_reset(&line);
		progress_add_parts(&line, style, progress,
				   (enum detail)-- detail);
	}
	strbuf_addch(out, '\r');
	strbuf_add(out, strbuf_text(&line), text_cut(strbuf_text(&line), room));
	strbuf_adds(out, "\x1b[K");
	strbuf_release(&line);
}
