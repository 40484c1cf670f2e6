/* Lines of one source: a traceback, and what is around it. Pure. */
/* SPDX-License-Identifier: MIT */
#include "probes/output/failure_trace.h"

#include "probes/output/failure_frames.h"
#include "probes/output/failure_told.h"
#include "probes/output/failure_words.h"
#include "probes/output/lines.h"

#include <ctype.h>
#include <string.h>

/* Lines of others within a traceback; after them it is taken as cut. */
#define NOISE_MAX 40
#define HEADLESS_NOISE_MAX 2
/* After so many, what may be an exception is taken for one. */
#define WEAK_NOISE_MAX 3
/* So much was printed after an error that it was not the last. */
#define SURVIVED_LINES 40
#define CODE_INDENT 4
/* Words are not longer: what is broken at a width comes so close to it. */
#define WORD_COLUMNS 20

static struct span trace_text_of(const char *text)
{
	return (struct span){ text, strlen(text) };
}

static struct span trace_from(struct span line, size_t at)
{
	return span_from(line.at + at, span_end(line));
}

static size_t indent_of(struct span line)
{
	size_t i = 0;

	while (i < line.length && (line.at[i] == ' ' || line.at[i] == '\t'))
		i++;
	return i;
}

/* Has the program gone on after the best of this source? */
static bool was_survived(const struct failure *failure, size_t source,
			 const struct failure_trace *trace)
{
	return trace->kind == FAILURE_OWN && failure->best_source == source &&
	       failure->since_best >= SURVIVED_LINES;
}

static void trace_choose(struct failure *failure, size_t source,
			 const struct failure_trace *trace)
{
	failure->best = *trace;
	failure->best_source = source;
	failure->since_best = 0;
}

/* A traceback has ended: is it the one to show, or more of that one? */
static void consider(struct failure *failure, size_t source)
{
	struct failure_trace *best = &failure->best;
	const struct failure_trace *trace = &failure->sources[source].trace;
	bool is_better = trace->kind > best->kind;

	if (trace->rank_is_told && trace->rank >= 0 &&
	    (best->rank < 0 || best->rank_is_told) &&
	    strcmp(trace->exception, best->exception) == 0) {
		best->rank = trace->rank;
		best->rank_is_told = true;
	}
	if (best->kind == FAILURE_NONE || trace->chain != best->chain) {
		if (is_better || was_survived(failure, source, trace))
			trace_choose(failure, source, trace);
		return;
	}
	if (is_better) {
		char outer[FAILURE_LINE_MAX];
		bool is_group = best->is_group;

		failure_words_keep(outer, trace_text_of(best->exception));
		trace_choose(failure, source, trace);
		best->is_group = is_group;
		if (is_group)
			failure_words_keep(best->outer, trace_text_of(outer));
	} else if (!best->is_group && trace->kind >= FAILURE_CONSEQUENCE) {
		failure_words_keep(best->outer,
				   strcmp(trace->exception, best->exception)
					   ? trace_text_of(trace->exception)
					   : trace_text_of(""));
	}
}

static void reset_trace(struct failure *failure, struct failure_source *source,
			bool is_linked)
{
	struct failure_trace *trace = &source->trace;
	unsigned chain =
		is_linked && trace->chain ? trace->chain : ++failure->chains;
	int rank = trace->rank;

	memset(trace, 0, sizeof(*trace));
	trace->kind = FAILURE_CUT;
	trace->chain = chain;
	trace->rank = rank;
	source->is_weak = false;
	source->noise = 0;
	source->is_linked = false;
}

static void trace_finish(struct failure *failure, size_t index,
			 struct span exception)
{
	struct failure_source *source = &failure->sources[index];
	struct failure_trace *trace = &source->trace;

	failure_words_keep(trace->exception, exception);
	trace->kind = failure_words_kind(exception, trace->by_launcher);
	trace->is_group = failure_words_is_group(exception);
	if (source->at_most && trace->kind > source->at_most)
		trace->kind = source->at_most;
	source->at_most = FAILURE_NONE;
	if (source->is_mixed)
		trace->frame_count = 0;
	consider(failure, index);
	if (trace->kind == FAILURE_WRAPPER)
		failure_told_exception(&failure->told, exception);
	source->is_weak = false;
	source->noise = 0;
	source->more_left = source->is_mixed ? 0 : FAILURE_MESSAGE_LINES;
	if (source->open > 1) {
		source->open--;
		trace->chain = ++failure->chains;
		return;
	}
	source->state = FAILURE_LOOKING;
}

/* It was an exception: its traceback did not go on. */
static void finish_weak(struct failure *failure, size_t index)
{
	char kept[FAILURE_LINE_MAX];

	memcpy(kept, failure->sources[index].trace.exception, sizeof(kept));
	trace_finish(failure, index, trace_text_of(kept));
}

/* Was the line before a warning? Its traceback may be one of those logged. */
static bool was_warning(const struct failure *failure)
{
	size_t last = (failure->tail_count - 1) % FAILURE_TAIL_LINES;

	return failure->tail_is_last && strstr(failure->tail[last], "WARNING");
}

/* The rank of the traceback that begins here; -1: not known. */
static int rank_of(const struct failure *failure,
		   const struct failure_source *source,
		   const struct failure_header *header)
{
	int rank = -1;

	if (source->next_rank)
		return source->next_rank - 1;
	if (header->is_told)
		return failure->told.entry_rank;
	(void)lines_launcher_prefix(source->prefix, source->prefix_length,
				    &rank);
	return rank;
}

void failure_trace_open(struct failure *failure, size_t index,
			const struct failure_header *header)
{
	struct failure_source *source = &failure->sources[index];
	bool is_open;
	bool is_linked;

	if (source->is_weak)
		finish_weak(failure, index);
	is_open = source->state == FAILURE_IN_TRACEBACK;
	is_linked = source->is_linked || header->is_inner || source->grouped;

	if (is_open && !source->headless) {
		source->open += header->count;
		source->is_mixed = true;
		source->noise = 0;
		return;
	}
	reset_trace(failure, source, is_linked && !source->is_mixed);
	source->trace.rank = rank_of(failure, source, header);
	source->trace.rank_is_told = header->is_told;
	source->next_rank = 0;
	source->state = FAILURE_IN_TRACEBACK;
	source->open = header->count;
	source->is_mixed = header->count > 1;
	source->headless = false;
	source->boxed = header->is_boxed;
	source->grouped = source->grouped || header->is_group;
	source->indent = header->indent;
	source->width = 0;
	source->is_sub = false;
	if (!source->at_most && was_warning(failure))
		source->at_most = FAILURE_ASIDE;
}

/* "    ^^^^^~~~~": where in the line, which is not worth a line. */
static bool is_marks(struct span trimmed)
{
	for (size_t i = 0; i < trimmed.length; i++)
		if (trimmed.at[i] != '^' && trimmed.at[i] != '~' &&
		    trimmed.at[i] != ' ')
			return false;
	return true;
}

static struct span trace_skip(struct span line, const char *words)
{
	return failure_words_begin(line, words)
		       ? trace_from(line, strlen(words))
		       : line;
}

static bool is_frame_line(const struct failure_source *source, struct span line,
			  size_t indent)
{
	struct span text = trace_from(line, indent);

	if (indent <= source->indent || failure_words_is_bar(line))
		return false;
	return failure_words_begin(text, "File \"") ||
	       failure_words_begin(text, "[Previous line repeated ") ||
	       indent >= source->indent + CODE_INDENT;
}

static bool give_up(struct failure *failure, size_t index)
{
	struct failure_source *source = &failure->sources[index];

	source->noise++;
	if (source->noise <=
	    (source->headless ? HEADLESS_NOISE_MAX : NOISE_MAX))
		return false;
	if (!source->headless && source->trace.frame_count)
		consider(failure, index);
	source->state = FAILURE_LOOKING;
	source->at_most = FAILURE_NONE;
	return false;
}

static bool after_trace(struct failure *failure, size_t index,
			struct span line);

static bool in_trace(struct failure *failure, size_t index, struct span line)
{
	struct failure_source *source = &failure->sources[index];
	size_t indent = indent_of(line);
	struct span text = trace_from(line, indent);
	enum failure_form form;

	if (source->boxed)
		return failure_frames_box(source, line) ||
		       give_up(failure, index);
	if (is_frame_line(source, line, indent)) {
		source->noise = 0;
		if (source->is_weak && failure_words_is_frame(text)) {
			source->is_weak = false;
			source->trace.kind = FAILURE_CUT;
		}
		/* Of a syntax error they say the most. */
		if (source->headless || !is_marks(text))
			failure_frames_add(source, line);
		return true;
	}
	form = indent <= source->indent ? failure_words_form(text)
					: FAILURE_NO_EXCEPTION;
	if (form == FAILURE_STRONG) {
		trace_finish(failure, index, text);
		return true;
	}
	if (source->is_weak &&
	    (failure_words_link(text) || ++source->noise > WEAK_NOISE_MAX)) {
		finish_weak(failure, index);
		return after_trace(failure, index, line);
	}
	if (source->is_weak)
		return false;
	if (form == FAILURE_WEAK && !source->headless) {
		source->is_weak = true;
		source->noise = 0;
		failure_words_keep(source->trace.exception, text);
		source->trace.kind =
			source->at_most ? source->at_most : FAILURE_OWN;
		return true;
	}
	return give_up(failure, index);
}

/* Does a message go on in this line? */
static bool goes_on(const struct failure_source *source, struct span line)
{
	const struct failure_trace *trace = &source->trace;
	struct span last = trace_text_of(
		trace->more_count ? trace->more[trace->more_count - 1]
				  : trace->exception);

	if (trace->kind == FAILURE_WRAPPER || failure_words_is_bar(line) ||
	    failure_words_is_frame(span_trimmed(line)))
		return false;
	if (trace->more_count == 0 && span_ends(last, ":"))
		return true;
	if (source->width &&
	    failure_frames_columns(last) + WORD_COLUMNS > source->width)
		return true;
	/* torch prints nothing but tracebacks with this prefix. */
	if (failure_words_begin(trace_text_of(source->prefix), "[rank"))
		return true;
	return indent_of(line) > source->indent ||
	       span_find(trace_text_of(trace->exception), " validation error");
}

static void add_more(struct failure *failure, size_t index, struct span line)
{
	struct failure_source *source = &failure->sources[index];
	struct failure_trace *trace = &source->trace;

	source->more_left--;
	failure_words_keep(trace->more[trace->more_count++], line);
	if (failure->best_source == index &&
	    failure->best.chain == trace->chain &&
	    strcmp(failure->best.exception, trace->exception) == 0 &&
	    failure->best.more_count < trace->more_count) {
		memcpy(failure->best.more, trace->more, sizeof(trace->more));
		failure->best.more_count = trace->more_count;
	}
}

/* "-- Process 1 terminated with the following error:" of torch's spawn. */
static bool is_spawned(struct failure_source *source, struct span line)
{
	size_t at = strlen("-- Process ");
	int rank = 0;

	if (!failure_words_begin(line, "-- Process ") ||
	    !span_find(line, " terminated with the following error"))
		return false;
	for (int i = 0;
	     i < 6 && at < line.length && isdigit((unsigned char)line.at[at]);
	     i++, at++)
		rank = rank * 10 + (line.at[at] - '0');
	source->next_rank = rank + 1;
	source->is_linked = true;
	return true;
}

/* A frame without its traceback's first line: a syntax error, or cut. */
static void open_headless(struct failure *failure, size_t index,
			  struct span line)
{
	struct failure_source *source = &failure->sources[index];
	const struct failure_header header = { .count = 1 };
	/* Within the message of the last one, as Ray has it. */
	bool is_linked = source->more_left > 0 || source->is_linked;

	source->is_linked = is_linked;
	failure_trace_open(failure, index, &header);
	source->headless = true;
	failure_frames_add(source, line);
}

static bool after_trace(struct failure *failure, size_t index, struct span line)
{
	struct failure_source *source = &failure->sources[index];
	struct span text = span_trimmed(line);
	enum failure_kind at_most;

	if (failure_words_link(text)) {
		source->is_linked = true;
		source->more_left = 0;
		return true;
	}
	if (is_spawned(source, text))
		return true;
	if (failure_words_is_frame(text)) {
		open_headless(failure, index, line);
		return true;
	}
	if (source->is_sub && failure_words_form(text)) {
		reset_trace(failure, source, true);
		source->open = 1;
		source->is_sub = false;
		trace_finish(failure, index, text);
		return true;
	}
	if (source->more_left && goes_on(source, line)) {
		add_more(failure, index, line);
		return true;
	}
	source->more_left = 0;
	at_most = failure_words_introduce(text);
	if (at_most)
		source->at_most = at_most;
	return false;
}

/* Take "  | " of a group's lines away. False: a line between two of it. */
static bool strip_margin(struct failure_source *source, struct span *line)
{
	struct span text = trace_from(*line, indent_of(*line));

	if (failure_words_begin(text, "+-")) {
		source->is_sub = true;
		source->more_left = 0;
		return false;
	}
	if (!failure_words_begin(text, "|")) {
		source->grouped = false;
		source->is_sub = false;
		return true;
	}
	*line = trace_skip(trace_from(text, 1), " ");
	return true;
}

bool failure_trace_line(struct failure *failure, size_t index, struct span line)
{
	struct failure_source *source = &failure->sources[index];
	struct failure_header header;

	if (source->grouped && !strip_margin(source, &line))
		return true;
	if (failure_words_header(line, &header)) {
		failure_trace_open(failure, index, &header);
		return true;
	}
	if (source->state == FAILURE_IN_TRACEBACK)
		return in_trace(failure, index, line);
	return after_trace(failure, index, line);
}
