/* The last report: one form of words for each way a call can end. */
/* SPDX-License-Identifier: MIT */
#include "launcher/report/report_final.h"

#include "base/match.h"
#include "base/units.h"
#include "launcher/command/text/text.h"
#include "launcher/report/rates.h"
#include "launcher/report/report_words.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

/* Of a failure, with its headline. */
#define FAILURE_LINES 6

/* "autofit: " and text in bold, wrapped. */
static void headline(struct strbuf *out, const struct report_style *style,
		     enum paint paint, const char *text)
{
	struct strbuf line = STRBUF_INIT;

	strbuf_addf(&line, "autofit: %s", text);
	words_line(out, style, paint, strbuf_text(&line));
	strbuf_release(&line);
}

/* The first line of the message goes with the words, the rest below. */
static void headline_message(struct strbuf *out,
			     const struct report_style *style, enum paint paint,
			     const char *words, const char *message)
{
	struct strbuf line = STRBUF_INIT;
	struct strbuf raw = STRBUF_INIT;
	size_t length = message ? strcspn(message, "\n") : 0;

	strbuf_adds(&line, words);
	if (length > 0) {
		strbuf_add(&raw, message, length);
		strbuf_adds(&line, *words ? ": " : "");
		text_add_safe(&line, strbuf_text(&raw), style->ascii);
	}
	headline(out, style, paint, strbuf_text(&line));
	if (message && message[length])
		words_block(out, style, message + length + 1);
	strbuf_release(&line);
	strbuf_release(&raw);
}

/* The last probe whose log says why, or NULL. */
static const struct probe_note *last_trouble(const struct result *result)
{
	const struct probe_notes *probes = &result->record.probes;

	for (size_t i = probes->count; i > 0; i--)
		if (!trial_fits(&probes->items[i - 1].trial))
			return &probes->items[i - 1];
	return NULL;
}

static void add_log(struct strbuf *out, const struct report_style *style,
		    const struct result *result)
{
	const struct probe_note *note = last_trouble(result);

	if (!note || !note->log)
		return;
	strbuf_adds(out, "    log ");
	text_add_safe(out, note->log, style->ascii);
	strbuf_addch(out, '\n');
}

/* "5 probes in 3 min 12 s · logs in /...": the last line. */
static void final_add_tail(struct strbuf *out, const struct report_style *style,
			   const struct result *result)
{
	const struct probe_notes *probes = &result->record.probes;
	const char *log = NULL;
	char text[DURATION_TEXT_MAX];
	struct strbuf line = STRBUF_INIT;

	if (probes->count == 0)
		return;
	for (size_t i = 0; i < probes->count && !log; i++)
		log = probes->items[i].log;
	strbuf_addf(&line, "%zu %s in %s", probes->count,
		    probes->count == 1 ? "probe" : "probes",
		    duration_format(text, result->seconds));
	if (log && strrchr(log, '/')) {
		struct strbuf folder = STRBUF_INIT;

		strbuf_add(&folder, log, (size_t)(strrchr(log, '/') - log));
		strbuf_addf(&line, "%slogs in ", words_separator(style));
		text_add_safe(&line, strbuf_text(&folder), style->ascii);
		strbuf_release(&folder);
	}
	words_line(out, style, PAINT_DIM, strbuf_text(&line));
	strbuf_release(&line);
}

static void add_split(struct strbuf *out, const struct record *record)
{
	strbuf_addf(out, "micro %" PRId64 " x accum %" PRId64,
		    record->batch.micro_batch, record->batch.grad_accum);
	if (record->batch.world_size > 1)
		strbuf_addf(out, " x world %" PRId64, record->batch.world_size);
}

/* To paste: never wrapped. */
static void add_pasted(struct strbuf *out, const struct report_style *style,
		       const char *label, const char *text)
{
	struct strbuf safe = STRBUF_INIT;

	text_add_safe(&safe, text, style->ascii);
	strbuf_addf(out, "  %s  ", label);
	words_paint(out, style, PAINT_BOLD, strbuf_text(&safe));
	strbuf_addch(out, '\n');
	strbuf_release(&safe);
}

static void add_flags(struct strbuf *out, const struct report_style *style,
		      const struct result *result)
{
	const char *text = result->flags_text;

	if (text && *text)
		add_pasted(out, style, "use:", text);
	else if (text && !result->lines.count)
		words_field(out, style, "use", "the command as it is");
	for (size_t i = 0; i < result->lines.count; i++)
		add_pasted(out, style, "write:", result->lines.items[i]);
}

/* A run that starts now is not held to what was emulated. */
static void add_uncapped(struct strbuf *line, const struct report_style *style,
			 const struct result *result)
{
	const struct record *record = &result->record;

	if (!result->starts || strcmp(result->starts, "recommended") != 0 ||
	    !record->device_count || !record->devices[0].emulated_as[0])
		return;
	strbuf_adds(line, line->length ? "; " : "");
	strbuf_adds(line, "the run is not held to the memory of ");
	text_add_safe(line, record->devices[0].emulated_as, style->ascii);
}

static void note_uncapped(struct strbuf *out, const struct report_style *style,
			  const struct result *result)
{
	struct strbuf line = STRBUF_INIT;

	add_uncapped(&line, style, result);
	if (line.length)
		words_field(out, style, "note", strbuf_text(&line));
	strbuf_release(&line);
}

static void final_tuned(struct strbuf *out, const struct report_style *style,
			const struct result *result)
{
	struct strbuf line = STRBUF_INIT;
	struct rate_factor rate;
	bool slower = rates_answer_is_slower(result, &rate);

	add_split(&line, &result->record);
	strbuf_adds(&line, " fits");
	if (record_is_phantom(&result->record))
		strbuf_adds(&line, " on a phantom card");
	if (slower)
		strbuf_addf(&line,
			    ", but trains slower than your sizes: %.2fx. "
			    "--objective fastest takes the fastest split that "
			    "fits",
			    rate.factor);
	if (result->record.batch.micro_batch == result->own.micro_batch &&
	    result->record.batch.grad_accum == result->own.grad_accum)
		strbuf_adds(&line,
			    result->has_accumulation || result->grow
				    ? ": your sizes are the best already, "
				      "nothing changed"
				    : ", kept: the command has no gradient "
				      "accumulation, so that another size "
				      "would change your effective batch");
	headline(out, style, slower ? PAINT_WARN : PAINT_GOOD,
		 strbuf_text(&line));
	report_evidence(out, style, result);
	report_advice(out, style, result);
	note_uncapped(out, style, result);
	if (result->record_path)
		words_exact(out, style, "recorded", result->record_path);
	for (size_t i = 0; i < result->run.copy_count; i++)
		if (!result->run.copies[i].covers)
			words_exact(out, style, "config",
				    result->run.copies[i].path);
		else if (result->starts)
			words_exact(out, style, "script",
				    result->run.copies[i].path);
	add_flags(out, style, result);
	final_add_tail(out, style, result);
	strbuf_release(&line);
}

static void final_reused(struct strbuf *out, const struct report_style *style,
			 const struct result *result)
{
	const struct record *record = &result->record;
	time_t created = (time_t)record->created;
	struct strbuf line = STRBUF_INIT;
	struct tm day;

	add_split(&line, record);
	if (record->created > 0 && gmtime_r(&created, &day))
		strbuf_addf(&line, ", recorded %04d-%02d-%02d",
			    day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
	if (record->peak_bytes > 0) {
		strbuf_adds(&line, " (peak ");
		words_pair(&line, record->peak_bytes, record->limit_bytes);
		strbuf_addch(&line, ')');
	}
	/* One line, whatever the width: it stands before every later run. */
	if (result->resumes) {
		strbuf_adds(&line, ", as at its first start: ");
		text_add_safe(&line, result->resumes, style->ascii);
	} else if (result->probes_run) {
		strbuf_addf(&line, ", held by a probe of %.1f s",
			    result->seconds);
	} else {
		strbuf_adds(&line, ", no probe");
	}
	if (result->difference && *result->difference) {
		strbuf_adds(&line, " (near: ");
		text_add_safe(&line, result->difference, style->ascii);
		strbuf_addch(&line, ')');
	}
	add_uncapped(&line, style, result);
	for (size_t i = 0; i < result->run.copy_count; i++) {
		if (result->run.copies[i].covers && !result->starts)
			continue;
		strbuf_adds(&line, result->run.copies[i].covers ? ", script "
								: ", config ");
		text_add_safe(&line, result->run.copies[i].path, style->ascii);
	}
	strbuf_adds(&line, "; --fresh tunes anew");
	strbuf_addf(out, "autofit: %s\n", strbuf_text(&line));
	strbuf_release(&line);
}

static void final_as_given(struct strbuf *out, const struct report_style *style,
			   const struct result *result)
{
	headline_message(out, style, PAINT_PLAIN,
			 "the command starts exactly as given",
			 result->message);
}

static void final_planned(struct strbuf *out, const struct report_style *style,
			  const struct result *result)
{
	const struct record *record = &result->record;
	struct strbuf line = STRBUF_INIT;

	headline_message(out, style, PAINT_BOLD, "nothing was started",
			 result->message);
	if (record->preset) {
		text_add_safe(&line, record->preset, style->ascii);
		words_field(out, style, "preset", strbuf_text(&line));
	}
	if (result->assumption) {
		strbuf_reset(&line);
		text_add_safe(&line, result->assumption, style->ascii);
		words_field(out, style, "as given", strbuf_text(&line));
	}
	if (record->limit_bytes > 0) {
		strbuf_reset(&line);
		words_limit(&line, style, result);
		words_field(out, style, "memory", strbuf_text(&line));
	}
	if (record->batch.micro_batch > 0) {
		strbuf_reset(&line);
		add_split(&line, record);
		words_field(out, style, "would use", strbuf_text(&line));
		add_flags(out, style, result);
	}
	strbuf_release(&line);
}

static void final_nothing(struct strbuf *out, const struct report_style *style,
			  const struct result *result)
{
	headline_message(out, style, PAINT_BAD, "nothing fits",
			 result->message);
	if (result->advice) {
		words_line(out, style, PAINT_PLAIN,
			   "what would save memory, by the estimate:");
		words_block(out, style, result->advice);
	}
	report_ways_out(out, style, result);
	final_add_tail(out, style, result);
}

/* The beginning of its first line, which says what the error is, and the rest
 * whole. */
static void add_cut(struct strbuf *out, const struct report_style *style,
		    const char *text, size_t lines_max)
{
	size_t length = strcspn(text, "\n");
	struct strbuf first = STRBUF_INIT, error = STRBUF_INIT;
	struct strbuf rest = STRBUF_INIT;
	const char *end;
	size_t lines;

	strbuf_add(&first, text, length);
	words_block(&error, style, strbuf_text(&first));
	words_block(&rest, style, text[length] ? text + length + 1 : NULL);
	lines = text_newlines(strbuf_text(&rest));
	lines = lines_max > lines + 2 ? lines_max - lines : 2;
	for (end = strbuf_text(&error); lines && *end; lines--)
		end = strchr(end, '\n') + 1;
	strbuf_add(out, strbuf_text(&error),
		   (size_t)(end - strbuf_text(&error)));
	strbuf_adds(out, strbuf_text(&rest));
	strbuf_release(&first);
	strbuf_release(&error);
	strbuf_release(&rest);
}

/* Its last lines, as many as there is room for: an error says at its end what
 * it is, and a hint may follow. */
static void add_last_lines(struct strbuf *out, const struct report_style *style,
			   const char *text, size_t lines_max)
{
	struct strbuf block = STRBUF_INIT;
	const char *next = text;

	while (*next) {
		text = next;
		next = strchrnul(text, '\n');
		next += *next == '\n';
		strbuf_reset(&block);
		words_block(&block, style, text);
		if (text_newlines(strbuf_text(&block)) <= lines_max) {
			strbuf_adds(out, strbuf_text(&block));
			break;
		}
		if (!*next || strncmp(next, "hint: ", strlen("hint: ")) == 0) {
			add_cut(out, style, text, lines_max);
			break;
		}
	}
	strbuf_release(&block);
}

static void final_failed(struct strbuf *out, const struct report_style *style,
			 const struct result *result)
{
	const char *message = result->message ? result->message : "";
	size_t length = strcspn(message, "\n");
	struct strbuf first = STRBUF_INIT, head = STRBUF_INIT;
	size_t lines;

	strbuf_add(&first, message, length);
	headline_message(&head, style, PAINT_BAD,
			 result->is_not_memory
				 ? "your command failed (memory is not the "
				   "cause)"
				 : "your command failed",
			 strbuf_text(&first));
	lines = text_newlines(strbuf_text(&head));
	strbuf_adds(out, strbuf_text(&head));
	add_last_lines(out, style, message[length] ? message + length + 1 : "",
		       lines < FAILURE_LINES ? FAILURE_LINES - lines : 1);
	add_log(out, style, result);
	strbuf_release(&first);
	strbuf_release(&head);
}

static void final_message(struct strbuf *out, const struct report_style *style,
			  const struct result *result)
{
	headline_message(out, style, PAINT_BAD,
			 result->message ? "" : outcome_name(result->outcome),
			 result->message);
	final_add_tail(out, style, result);
}

static void final_disturbed(struct strbuf *out,
			    const struct report_style *style,
			    const struct result *result)
{
	headline_message(out, style, PAINT_BAD,
			 "something outside disturbed the probes",
			 result->message);
	add_log(out, style, result);
	final_add_tail(out, style, result);
}

static void add_best_so_far(struct strbuf *line, const struct result *result)
{
	const struct record *record = &result->record;
	const struct trial *best =
		probe_notes_fitting(&record->probes, record->batch.micro_batch);

	if (record->batch.micro_batch > 0) {
		strbuf_adds(line, "best tested so far ");
		add_split(line, record);
	} else if (best) {
		strbuf_addf(line, "best tested so far micro %" PRId64,
			    best->micro_batch);
	} else {
		strbuf_adds(line, "no size has fitted so far");
		return;
	}
	if (best && best->peak_bytes > 0) {
		strbuf_adds(line, ", peak ");
		words_pair(line, best->peak_bytes, record->limit_bytes);
	}
	if (!best || best->confirmed_steps == 0)
		strbuf_adds(line, ", unconfirmed");
}

static void final_stopped(struct strbuf *out, const struct report_style *style,
			  const struct result *result)
{
	bool interrupted = result->outcome == OUTCOME_INTERRUPTED;
	struct strbuf line = STRBUF_INIT;

	headline_message(out, style, PAINT_WARN,
			 interrupted ? "interrupted" : "", result->message);
	strbuf_adds(&line, "  ");
	add_best_so_far(&line, result);
	words_line(out, style, PAINT_PLAIN, strbuf_text(&line));
	strbuf_reset(&line);
	if (probe_notes_can_resume(&result->record.probes))
		strbuf_addf(&line,
			    "  run the same command again%s to resume: no "
			    "finished probe is repeated",
			    result->fresh ? " without --fresh" : "");
	else
		strbuf_addf(&line, "  nothing to resume from%s",
			    result->outcome == OUTCOME_TIME_LIMIT
				    ? ": raise the limit"
				    : "");
	words_line(out, style, PAINT_PLAIN, strbuf_text(&line));
	note_uncapped(out, style, result);
	if (result->record.batch.micro_batch > 0)
		add_flags(out, style, result);
	final_add_tail(out, style, result);
	strbuf_release(&line);
}

void report_final(struct strbuf *out, const struct report_style *style,
		  const struct result *result)
{
	static void (*const finals[])(struct strbuf *,
				      const struct report_style *,
				      const struct result *) = {
		[OUTCOME_TUNED] = final_tuned,
		[OUTCOME_REUSED] = final_reused,
		[OUTCOME_AS_GIVEN] = final_as_given,
		[OUTCOME_PLANNED] = final_planned,
		[OUTCOME_NOTHING_FITS] = final_nothing,
		[OUTCOME_COMMAND_FAILED] = final_failed,
		[OUTCOME_NOT_RECOGNISED] = final_message,
		[OUTCOME_REFUSED] = final_message,
		[OUTCOME_TIME_LIMIT] = final_stopped,
		[OUTCOME_INTERRUPTED] = final_stopped,
		[OUTCOME_DISTURBED] = final_disturbed,
		[OUTCOME_ERROR] = final_message,
	};

	words_clear_live(out, style);
	finals[result->outcome](out, style, result);
}
