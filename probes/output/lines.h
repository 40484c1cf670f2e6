/* Bytes to lines: split on \n and \r, ANSI sequences stripped. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OUTPUT_LINES_H
#define AUTOFIT_PROBES_OUTPUT_LINES_H

#include <stddef.h>

/* A longer line is delivered cut to this, the rest passed over. */
#define LINE_MAX_BYTES ((size_t)1024 * 1024)

struct lines {
	char *data; /* the line under way */
	size_t length, capacity;
	int escape; /* where in an ANSI sequence: 0 outside */
};

#define LINES_INIT                                                             \
	{                                                                      \
		0                                                              \
	}

/* line is not NUL-terminated, may hold NUL bytes and any encoding. */
typedef void line_cb(void *context, const char *line, size_t length);

/*
 * Feed bytes; on_line is called for each complete, non-empty line, with
 * sequences ESC [ ... final and ESC ] ... BEL/ST removed and \b dropped. A
 * sequence or line may be split over any number of calls.
 */
void lines_feed(struct lines *lines, const char *bytes, size_t length,
		line_cb *on_line, void *context);

/* Deliver what is left without an end of line. */
void lines_finish(struct lines *lines, line_cb *on_line, void *context);
void lines_release(struct lines *lines);

/*
 * How many bytes a launcher put before a line, 0: none. "[rank1]: " (torch),
 * "[default1]:" (torchrun), "[1,3]<stderr>:" (mpirun), "[3]<stderr>:"
 * (horovodrun), " 3: " (srun), "(worker pid=7) " (Ray); also two of them, one
 * after the other. *rank becomes the last rank that they name, if they do.
 */
size_t lines_launcher_prefix(const char *line, size_t length, int *rank);

/* Bytes of the time before "[3]<stderr>:", which changes; 0: there is none. */
size_t lines_launcher_time(const char *line, size_t length);

#endif
