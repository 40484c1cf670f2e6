/* The report while it goes on: the first lines, and a row for each probe. */
/* SPDX-License-Identifier: MIT */
#include "launcher/report/report.h"

#include "base/units.h"
#include "configs/presets/preset.h"
#include "launcher/command/text/text.h"
#include "launcher/report/rates.h"
#include "launcher/report/report_words.h"
#include "probes/isolation/isolation.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Narrower than this a row leaves out the bar, then the speed as well. */
#define COLUMNS_FOR_BAR 78
#define COLUMNS_FOR_SPEED 64

/* A line below the first: two blanks before it, four where it goes on. */
static void report_add_below(struct strbuf *out,
			     const struct report_style *style, enum paint paint,
			     const char *text)
{
	struct strbuf line = STRBUF_INIT;

	strbuf_adds(&line, "  ");
	text_add_wrapped(&line, text, 4, words_columns(style) - 2);
	words_paint(out, style, paint, strbuf_text(&line));
	strbuf_addch(out, '\n');
	strbuf_release(&line);
}

/* What becomes of the effective batch: a line of its own. */
static void add_intent(struct strbuf *out, const struct report_style *style,
		       const struct result *result)
{
	int64_t own = result->own.effective_batch;
	int64_t asked = result->record.effective_batch_asked;
	bool other = own > 0 && asked > 0 && own != asked;
	struct strbuf line = STRBUF_INIT;

	if (!result->assumption && asked <= 0)
		return;
	if (other)
		strbuf_addf(&line, "effective batch %" PRId64 " asked for",
			    asked);
	else if (!result->rows_are_open)
		strbuf_adds(&line, result->grow ? "may grow: " : "kept: ");
	if (result->assumption) {
		strbuf_adds(&line, other ? "; the command says " : "");
		text_add_safe(&line, result->assumption, style->ascii);
	} else if (!other) {
		strbuf_addf(&line, "effective batch %" PRId64, asked);
	}
	report_add_below(out, style, PAINT_BOLD, strbuf_text(&line));
	strbuf_release(&line);
}

/* Steps on a phantom take no time that means anything. */
static bool report_has_speed(const struct report_style *style,
			     const struct result *result)
{
	return words_columns(style) >= COLUMNS_FOR_SPEED &&
	       !record_is_phantom(&result->record);
}

static void add_heading(struct strbuf *out, const struct report_style *style,
			const struct result *result)
{
	struct strbuf peak = STRBUF_INIT;
	struct strbuf row = STRBUF_INIT;
	char text[BYTES_TEXT_MAX];
	size_t columns = words_columns(style);
	bool bar = columns >= COLUMNS_FOR_BAR;

	strbuf_adds(&peak, "peak");
	if (result->record.limit_bytes > 0)
		strbuf_addf(&peak, " of %s",
			    bytes_format(text, result->record.limit_bytes));
	strbuf_addf(&row, "  %6s %6s  %-*s", "micro", "accum", bar ? 21 : 16,
		    strbuf_text(&peak));
	if (report_has_speed(style, result))
		strbuf_addf(&row, " %8s %10s", "step", "samples/s");
	while (row.length > 0 && row.data[row.length - 1] == ' ')
		row.data[--row.length] = '\0';
	words_paint(out, style, PAINT_DIM, strbuf_text(&row));
	strbuf_addch(out, '\n');
	strbuf_release(&peak);
	strbuf_release(&row);
}

/* What is about to happen, and what a record has to do with it. */
static void add_plan(struct strbuf *out, const struct report_style *style,
		     const struct result *result)
{
	struct strbuf line = STRBUF_INIT;
	enum isolation_kind kind;

	strbuf_adds(&line, "testing sizes with short trial runs");
	if (isolation_parse(result->record.isolation, &kind) == 0)
		strbuf_addf(&line, "; %s", isolation_words(kind));
	strbuf_adds(&line, "; Ctrl-C stops; --no-probe skips");
	report_add_below(out, style, PAINT_DIM, strbuf_text(&line));
	if (result->estimate)
		report_add_below(out, style, PAINT_DIM, result->estimate);
	if (result->record_grade) {
		strbuf_reset(&line);
		strbuf_addf(&line, "a %s record: ",
			    strcmp(result->record_grade, "near") == 0
				    ? "near"
				    : "similar");
		text_add_safe(&line, result->difference, style->ascii);
		if (strcmp(result->record_grade, "near") == 0)
			strbuf_adds(&line, "; one probe checks its split");
		else if (result->first_micro)
			strbuf_addf(&line, "; the search starts at micro %lld",
				    (long long)result->first_micro);
		report_add_below(out, style, PAINT_DIM, strbuf_text(&line));
	}
	strbuf_release(&line);
}

void report_start(struct strbuf *out, const struct report_style *style,
		  const struct result *result, const char *device_words)
{
	const char *separator = words_separator(style);
	struct strbuf line = STRBUF_INIT;
	char text[BYTES_TEXT_MAX];

	strbuf_addf(&line, "autofit %s", AUTOFIT_VERSION);
	if (device_words) {
		strbuf_adds(&line, separator);
		text_add_safe(&line, device_words, style->ascii);
	}
	if (result->record.budget_bytes > 0)
		strbuf_addf(&line, ", budget %s",
			    bytes_format(text, result->record.budget_bytes));
	if (result->record.budget_bytes > 0 && result->budget_source) {
		strbuf_adds(&line, " (");
		text_add_safe(&line, result->budget_source, style->ascii);
		strbuf_addch(&line, ')');
	}
	if (result->record.preset) {
		strbuf_adds(&line, separator);
		text_add_safe(&line,
			      strcmp(result->record.preset, PRESET_GENERIC) == 0
				      ? "no known framework"
				      : result->record.preset,
			      style->ascii);
	}
	words_line(out, style, PAINT_BOLD, strbuf_text(&line));
	add_intent(out, style, result);
	add_plan(out, style, result);
	add_heading(out, style, result);
	strbuf_release(&line);
}

static void report_add_numbers(struct strbuf *out,
			       const struct report_style *style,
			       const struct result *result,
			       const struct trial *trial)
{
	struct strbuf cell = STRBUF_INIT;
	char text[BYTES_TEXT_MAX];
	size_t columns = words_columns(style);

	if (result->rows_are_open)
		strbuf_addf(out, "  %6s %6s  ", "?", "?");
	else
		strbuf_addf(out, "  %6" PRId64 " %6" PRId64 "  ",
			    trial->micro_batch, trial->grad_accum);
	if (trial->peak_bytes > 0)
		strbuf_addf(&cell, "%s%s",
			    trial->peak_is_lower_bound ? "> " : "",
			    bytes_format(text, trial->peak_bytes));
	else
		strbuf_adds(&cell, "-");
	if (columns >= COLUMNS_FOR_BAR) {
		strbuf_addf(out, "%10s ", strbuf_text(&cell));
		if (trial->peak_bytes > 0 && result->record.limit_bytes > 0)
			words_bar(out, trial->peak_bytes,
				  result->record.limit_bytes);
		else
			strbuf_addf(out, "%10s", "");
	} else {
		strbuf_addf(out, "%-16s", strbuf_text(&cell));
	}
	if (report_has_speed(style, result)) {
		strbuf_reset(&cell);
		words_step(&cell, trial->step_seconds);
		strbuf_addf(out, " %8s", strbuf_text(&cell));
		strbuf_reset(&cell);
		words_rate(&cell,
			   result->rows_are_open
				   ? 0
				   : rates_samples_per_second(
					     result, trial, trial->grad_accum));
		strbuf_addf(out, " %10s", strbuf_text(&cell));
	}
	strbuf_release(&cell);
}

/* A size on the way, or one that shows whether sizes take effect at all: of the
 * batch that is kept it is no part. */
static bool is_beside_answer(const struct result *result,
			     const struct trial *trial)
{
	const struct record *record = &result->record;
	int64_t world = record->batch.world_size;
	int64_t each = trial->micro_batch * (world > 0 ? world : 1);

	return !result->grow && record->effective_batch_asked > 0 && each > 0 &&
	       record->effective_batch_asked % each != 0;
}

/* Verdict and whose size; on lines of their own where they have no room. */
static void add_verdict(struct strbuf *out, const struct report_style *style,
			const struct result *result,
			const struct probe_note *note)
{
	const struct trial *trial = &note->trial;
	bool is_own = trial->micro_batch == result->own.micro_batch;
	enum paint paint = words_verdict_paint(trial);
	struct strbuf words = STRBUF_INIT;
	struct strbuf row = STRBUF_INIT;
	char text[BYTES_TEXT_MAX];

	report_add_numbers(&row, style, result, trial);
	strbuf_adds(&words, "    ");
	if (is_own && !trial_fits(trial))
		strbuf_adds(&words, "your size: ");
	words_verdict(&words, trial);
	if (trial->limit_bytes &&
	    trial->limit_bytes != result->record.limit_bytes &&
	    (trial_fits(trial) || trial->verdict == VERDICT_OVER_BUDGET))
		strbuf_addf(&words, "%s%s", trial_fits(trial) ? " in " : " of ",
			    bytes_format(text, trial->limit_bytes));
	if (is_own && trial_fits(trial))
		strbuf_adds(&words, ", yours");
	else if (trial_fits(trial) && is_beside_answer(result, trial))
		strbuf_addf(&words, ", no split of %lld",
			    (long long)result->record.effective_batch_asked);
	if (trial->verdict == VERDICT_FAILED && note->why) {
		strbuf_adds(&words, ": ");
		text_add_safe(&words, note->why, style->ascii);
	}
	/* Two of the four blanks stand between the row and the words. */
	assert(words.length >= 4);
	if (text_columns(strbuf_text(&row)) + text_columns(words.data + 2) >
	    words_columns(style)) {
		while (row.length > 0 && row.data[row.length - 1] == ' ')
			row.length--;
		strbuf_add(out, row.data, row.length);
		strbuf_addch(out, '\n');
		words_line(out, style, paint, words.data);
	} else {
		strbuf_addf(out, "%s  ", strbuf_text(&row));
		words_paint(out, style, paint, words.data + 4);
		strbuf_addch(out, '\n');
	}
	strbuf_release(&words);
	strbuf_release(&row);
}

/* By the memory that is tuned for, and not by another. */
static bool is_over_its_limit(const struct trial *trial)
{
	return trial->verdict == VERDICT_OVER_BUDGET && trial->limit_bytes &&
	       trial->peak_bytes > trial->limit_bytes;
}

void report_probe(struct strbuf *out, const struct report_style *style,
		  const struct result *result, const struct probe_note *note)
{
	words_clear_live(out, style);
	add_verdict(out, style, result, note);
	if (note->trial.steps_source == STEPS_TIME)
		words_block(out, style,
			    "no step was seen, so it took a minute without "
			    "growth to tell, and so will each probe; a log "
			    "that counts steps is quicker");
	/* The row has both figures, or the end tells a failure in full. */
	if (trial_fits(&note->trial) || is_over_its_limit(&note->trial) ||
	    note->trial.verdict == VERDICT_FAILED)
		return;
	words_block(out, style, note->why);
	if (note->log) {
		strbuf_adds(out, "    log ");
		text_add_safe(out, note->log, style->ascii);
		strbuf_addch(out, '\n');
	}
}
