/* The first error a command printed, for the user to read. Pure. */
/* SPDX-License-Identifier: MIT */
#include "probes/output/failure.h"

#include "base/alloc.h"
#include "probes/output/failure_source.h"
#include "probes/output/failure_told.h"
#include "probes/output/failure_words.h"
#include "probes/output/lines.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Nothing that is looked for stands behind this. */
#define LOOK_MAX 4096

static struct span failure_text_of(const char *text)
{
	return (struct span){ text, strlen(text) };
}

static void keep_tail(struct failure *failure, struct span line)
{
	failure_words_keep(
		failure->tail[failure->tail_count % FAILURE_TAIL_LINES], line);
	failure->tail_count++;
}

/* "train.py FAILED", in torchrun's block, is the end of its exception. */
static void add_name_of_failed(struct failure *failure, struct span line)
{
	char *exception = failure->best.exception;
	struct span text = failure_text_of(exception);
	char whole[FAILURE_LINE_MAX];

	if (failure->best.kind != FAILURE_WRAPPER ||
	    !failure->told.after_rule || !span_ends(line, " FAILED") ||
	    !span_ends(text, ":") ||
	    text.length + 1 + line.length >= sizeof(whole))
		return;
	memcpy(whole, text.at, text.length);
	whole[text.length] = ' ';
	memcpy(whole + text.length + 1, line.at, line.length);
	failure_words_keep(
		exception,
		(struct span){ whole, text.length + 1 + line.length });
}

/* A text of usage goes on in lines that are moved in, and in titles. */
static bool usage_goes_on(struct span line)
{
	return !line.length || *line.at == ' ' || *line.at == '\t' ||
	       span_ends(line, ":") || failure_words_are_usage(line);
}

static void look_for_words(struct failure *failure, struct span line, int rank)
{
	enum failure_kind kind = failure_words_said(line);
	size_t at = failure->tail_count - 1;

	assert(failure->tail_count > 0 && "the line is the last of the tail");
	if (failure->said_kind == FAILURE_BEFORE_USAGE && !usage_goes_on(line))
		failure->said_kind = FAILURE_NONE;
	if (kind == FAILURE_NONE && at && failure_words_are_usage(line)) {
		kind = FAILURE_BEFORE_USAGE;
		at--;
		line = failure_text_of(failure->tail[at % FAILURE_TAIL_LINES]);
	}
	if (kind <= failure->said_kind)
		return;
	failure->said_kind = kind;
	failure->said_at = at;
	failure->said_rank = rank;
	failure_words_keep(failure->said, line);
}

/* A line of no traceback: a launcher's, or of the program. */
static void other_line(struct failure *failure, struct span line)
{
	int rank = -1;
	size_t prefix = lines_launcher_prefix(line.at, line.length, &rank);
	struct span text = span_from(line.at + prefix, span_end(line));

	add_name_of_failed(failure, text);
	if (failure_told_line(&failure->told, text) ||
	    (prefix && failure_told_line(&failure->told, line)))
		return;
	failure->since_best++;
	keep_tail(failure, line);
	look_for_words(failure, text, rank);
}

void failure_line(struct failure *failure, const char *line, size_t length)
{
	struct span text = { line, length };
	size_t time;
	size_t count;

	if (text.length > LOOK_MAX)
		text.length = LOOK_MAX;
	time = lines_launcher_time(text.at, text.length);
	text = span_from(text.at + time, span_end(text));
	while (text.length && isspace((unsigned char)span_end(text)[-1]))
		text.length--;
	if (!text.length)
		return;
	count = failure->tail_count;
	if (!failure_source_line(failure, text))
		other_line(failure, text);
	failure->tail_is_last = failure->tail_count > count;
}

/* Does a launcher say that this rank ended as Python ends by an exception? */
static bool is_blamed(const struct failure *failure, int rank)
{
	const struct failure_told *told = &failure->told;

	return told->note[0] && !told->note_is_odd && rank >= 0 &&
	       told->note_rank == rank;
}

/* The rank that stands before the same exception in the output; or -1. */
static int rank_in_output(const struct failure *failure)
{
	const struct failure_trace *printed = failure_source_best(failure);

	return printed && strcmp(printed->exception,
				 failure->hooked.exception) == 0
		       ? printed->rank
		       : -1;
}

void failure_add_hooked(struct failure *failure, const char *text, int rank,
			bool is_printed)
{
	struct failure *alone;
	const struct failure_trace *best;

	if (!is_printed &&
	    (failure_is_certain(failure) || !is_blamed(failure, rank)))
		return;
	alone = xcalloc(1, sizeof(*alone));
	while (*text) {
		size_t length = strcspn(text, "\n");

		failure_line(alone, text, length);
		text += length + (text[length] == '\n');
	}
	best = failure_source_best(alone);
	if (best && best->kind > failure->hooked.kind) {
		failure->hooked = *best;
		if (best->rank < 0)
			failure->hooked.rank =
				rank >= 0 ? rank : rank_in_output(failure);
	}
	free(alone);
}

/* What ended it comes last, as an error is read from its end. */
static void failure_add_tail(const struct failure *failure, struct strbuf *out)
{
	size_t count = failure->tail_count;
	size_t first =
		count > FAILURE_TAIL_LINES ? count - FAILURE_TAIL_LINES : 0;
	bool is_gone = failure->said_kind && failure->said_at < first;
	bool is_last = failure->said_kind == FAILURE_BEFORE_USAGE ||
		       (is_gone && failure->said_kind == FAILURE_SAID);

	if (is_gone && !is_last)
		strbuf_addf(out, "%s\n", failure->said);
	for (size_t i = first; i < count; i++)
		if (!is_last || i != failure->said_at)
			strbuf_addf(out, "%s\n",
				    failure->tail[i % FAILURE_TAIL_LINES]);
	if (is_last)
		strbuf_addf(out, "%s\n", failure->said);
}

static void add_frames(const struct failure_trace *trace, struct strbuf *out)
{
	size_t count = trace->frame_count;
	size_t first =
		count > FAILURE_FRAME_LINES ? count - FAILURE_FRAME_LINES : 0;

	for (size_t i = first; i < count; i++)
		strbuf_addf(out, "%s\n",
			    trace->frames[i % FAILURE_FRAME_LINES]);
}

/* Did another rank end first, of which there is no traceback? */
static bool is_for_another(const struct failure *failure,
			   const struct failure_trace *trace)
{
	const struct failure_told *told = &failure->told;

	if (trace->kind != FAILURE_CONSEQUENCE || !told->note[0])
		return false;
	return told->note_is_odd ||
	       (told->ranks == 1 && trace->rank >= 0 && told->rank >= 0 &&
		told->rank != trace->rank);
}

/* The hook's, where the output shows nothing that is worth more. */
static const struct failure_trace *best_trace(const struct failure *failure)
{
	const struct failure_trace *best = failure_source_best(failure);
	const struct failure_trace *hooked = &failure->hooked;

	return hooked->kind > FAILURE_WRAPPER &&
			       (!best || hooked->kind >= best->kind)
		       ? hooked
		       : best;
}

/* The traceback to show; NULL: the last lines say more. */
static const struct failure_trace *shown(const struct failure *failure)
{
	const struct failure_trace *trace = best_trace(failure);

	if (!trace || trace->kind <= FAILURE_WRAPPER ||
	    trace->kind < failure->said_kind || is_for_another(failure, trace))
		return NULL;
	return trace;
}

/* The rank of what is shown; -1: nothing tells it. */
static int rank_of_failure(const struct failure *failure)
{
	const struct failure_told *told = &failure->told;
	const struct failure_trace *trace = shown(failure);

	if (trace && trace->rank >= 0)
		return trace->rank;
	if (!trace && failure->said_kind == FAILURE_SAID)
		return failure->said_rank;
	/* Where one failed alone it was this one. */
	if (told->ranks == 1 && told->rank >= 0)
		return told->rank;
	return !trace && told->note[0] ? told->note_rank : -1;
}

static void add_trace(const struct failure *failure,
		      const struct failure_trace *trace, struct strbuf *out)
{
	int rank = rank_of_failure(failure);

	assert(trace->kind > FAILURE_WRAPPER);
	if (rank >= 0)
		strbuf_addf(out, "rank %d:\n", rank);
	if (trace->kind == FAILURE_CUT)
		strbuf_adds(out, "Traceback (most recent call last):\n");
	add_frames(trace, out);
	if (trace->kind != FAILURE_CUT)
		strbuf_addf(out, "%s\n", trace->exception);
	else if (failure->told.note_is_odd)
		strbuf_addf(out, "%s\n", failure->told.note);
	for (size_t i = 0; i < trace->more_count; i++)
		strbuf_addf(out, "%s\n", trace->more[i]);
	if (trace->outer[0])
		strbuf_addf(out, "which led to: %s\n", trace->outer);
}

/* What the program said, and the launcher of its end. */
static void add_told(const struct failure *failure, struct strbuf *out)
{
	const struct failure_told *told = &failure->told;
	const struct failure_trace *trace = best_trace(failure);
	enum failure_kind kind = trace ? trace->kind : FAILURE_NONE;

	failure_add_tail(failure, out);
	if (failure->said_kind == FAILURE_SAID)
		return;
	if (kind == FAILURE_WRAPPER)
		strbuf_addf(out, "%s\n", trace->exception);
	else if (told->line[0] && !told->note[0])
		strbuf_addf(out, "%s\n", told->line);
	if (told->note[0])
		strbuf_addf(out, "%s\n", told->note);
	if (kind == FAILURE_CONSEQUENCE)
		strbuf_addf(out, "which led to: %s\n", trace->exception);
}

void failure_text(const struct failure *failure, struct strbuf *out)
{
	const struct failure_trace *trace = shown(failure);

	if (trace)
		add_trace(failure, trace, out);
	else
		add_told(failure, out);
}

bool failure_is_certain(const struct failure *failure)
{
	const struct failure_trace *trace = shown(failure);

	return trace && trace->kind >= FAILURE_ASIDE;
}
