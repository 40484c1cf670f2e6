/* Frames of a traceback, in plain lines or in the boxes of rich. Pure. */
/* SPDX-License-Identifier: MIT */
#include "probes/output/failure_frames.h"

#include "probes/output/failure_words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static struct span frames_from(struct span line, size_t at)
{
	return span_from(line.at + at, span_end(line));
}

void failure_frames_add(struct failure_source *source, struct span line)
{
	static const char *const launchers[] = {
		"/torch/distributed/run.py\"",
		"/torch/distributed/launch.py\"",
		"/torch/distributed/launcher/",
		"/accelerate/commands/",
		"/deepspeed/launcher/",
		"/horovod/runner/",
	};
	struct failure_trace *trace = &source->trace;

	if (source->is_mixed)
		return;
	failure_words_keep(
		trace->frames[trace->frame_count % FAILURE_FRAME_LINES], line);
	trace->frame_count++;
	for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); i++)
		if (span_find(line, launchers[i]))
			trace->by_launcher = true;
}

static struct span frames_skip(struct span line, const char *words)
{
	return failure_words_begin(line, words)
		       ? frames_from(line, strlen(words))
		       : line;
}

/* "/home/x.py:12 in main"; a long one goes on in the next line. */
static bool is_place(struct span text)
{
	const char *colon = memchr(text.at, ':', text.length);
	struct span rest;
	size_t i = 0;

	if (!colon || memchr(text.at, ' ', (size_t)(colon - text.at)))
		return false;
	rest = span_from(colon + 1, span_end(text));
	while (i < rest.length && isdigit((unsigned char)rest.at[i]))
		i++;
	rest = frames_from(rest, i);
	return i && (failure_words_begin(rest, " in ") || span_is(rest, " in"));
}

/* "❱ 12 │   │   raise": the code alone. False: another line of the code. */
static bool boxed_code(struct span *text)
{
	struct span rest = frames_skip(frames_skip(*text, "❱"), ">");

	if (rest.length == text->length)
		return false;
	rest = span_trimmed(rest);
	while (rest.length && isdigit((unsigned char)*rest.at))
		rest = frames_from(rest, 1);
	while (rest.length &&
	       (*rest.at == ' ' || failure_words_begin(rest, "│")))
		rest = *rest.at == ' ' ? frames_from(rest, 1)
				       : frames_skip(rest, "│");
	*text = rest;
	return true;
}

static void add_boxed(struct failure_source *source, const char *indent,
		      struct span text)
{
	char line[FAILURE_LINE_MAX + 8];
	int length = text.length < FAILURE_LINE_MAX ? (int)text.length
						    : FAILURE_LINE_MAX;

	(void)snprintf(line, sizeof(line), "%s%.*s", indent, length, text.at);
	failure_frames_add(source, (struct span){ line, strlen(line) });
}

size_t failure_frames_columns(struct span line)
{
	size_t count = 0;

	for (size_t i = 0; i < line.length; i++)
		count += ((unsigned char)line.at[i] & 0xc0) != 0x80;
	return count;
}

bool failure_frames_box(struct failure_source *source, struct span line)
{
	struct span text = frames_skip(frames_skip(line, "│"), "|");

	if (failure_words_begin(line, "╰") ||
	    failure_words_begin(line, "+--")) {
		source->boxed = false;
		source->width = failure_frames_columns(line);
		return true;
	}
	if (text.length == line.length)
		return false;
	if (span_ends(text, "│"))
		text.length -= strlen("│");
	else if (span_ends(text, "|"))
		text.length--;
	text = span_trimmed(text);
	if (boxed_code(&text))
		add_boxed(source, "    ", text);
	else if (is_place(text))
		add_boxed(source, "  ", text);
	return true;
}
