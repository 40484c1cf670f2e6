/* The first error a command printed, for the user to read. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_FAILURE_H
#define AUTOFIT_PROBES_FAILURE_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

#define FAILURE_TAIL_LINES 8
#define FAILURE_FRAME_LINES 6
#define FAILURE_LINE_MAX 400

/*
 * Fed with every line of output. Keeps the first Python traceback (its last
 * frames and its exception: the first rank that failed) and the last lines.
 */
struct failure {
	enum { FAILURE_LOOKING, FAILURE_IN_TRACEBACK, FAILURE_DONE } state;
	char frames[FAILURE_FRAME_LINES][FAILURE_LINE_MAX];
	size_t frame_count; /* all seen; the ring keeps the last */
	char exception[FAILURE_LINE_MAX];
	char tail[FAILURE_TAIL_LINES][FAILURE_LINE_MAX];
	size_t tail_count;
};

void failure_line(struct failure *failure, const char *line, size_t length);

/* The traceback, else the last lines; control bytes become '?'. */
void failure_text(const struct failure *failure, struct strbuf *out);

#endif
