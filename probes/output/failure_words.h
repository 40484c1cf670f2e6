/* What one line of output is, by its words: an exception, a crash. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OUTPUT_FAILURE_WORDS_H
#define AUTOFIT_PROBES_OUTPUT_FAILURE_WORDS_H

#include "base/span.h"
#include "probes/output/failure.h"

/* How sure it is that a line ends a traceback. */
enum failure_form { FAILURE_NO_EXCEPTION, FAILURE_WEAK, FAILURE_STRONG };

/* span_begins for many literals of which next to none fits. */
static inline bool failure_words_begin(struct span line, const char *text)
{
	return line.length > 0 && *line.at == *text && span_begins(line, text);
}

/* A line as it is shown: cut, control bytes become '?'. */
void failure_words_keep(char kept[FAILURE_LINE_MAX], struct span line);

enum failure_form failure_words_form(struct span line);

/* Of an exception line. by_launcher: its frames are a launcher's. */
enum failure_kind failure_words_kind(struct span exception, bool by_launcher);
bool failure_words_is_group(struct span exception);

/* The line that begins a traceback. */
struct failure_header {
	unsigned count; /* two processes may have printed it at once */
	size_t before;  /* bytes before it: a prefix, or a bar */
	size_t indent;  /* of its words behind those bytes */
	bool is_boxed;  /* drawn by rich */
	bool is_group;  /* of exceptions */
	bool is_inner;  /* within the message of the one before */
	bool is_told;   /* within torchrun's block of what failed */
};

bool failure_words_header(struct span line, struct failure_header *header);

/* "The above exception was ...": the next one was raised because of this. */
bool failure_words_link(struct span line);
bool failure_words_is_frame(struct span trimmed);
bool failure_words_is_bar(struct span line);
/* The first line of how a program is called. */
bool failure_words_are_usage(struct span line);
/* What is said of the traceback that follows: what it is worth at most. */
enum failure_kind failure_words_introduce(struct span line);

/* SAID, MUTTERED or NONE. */
enum failure_kind failure_words_said(struct span line);

#endif
