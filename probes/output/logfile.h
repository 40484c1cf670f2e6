/* The output of one probe on disk: its beginning and its end, bounded. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OUTPUT_LOGFILE_H
#define AUTOFIT_PROBES_OUTPUT_LOGFILE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* What is kept of a stream of any length; the file is a little over the sum. */
#define LOGFILE_HEAD_BYTES ((size_t)1024 * 1024)
#define LOGFILE_TAIL_BYTES ((size_t)4 * 1024 * 1024)

struct logfile {
	int fd;       /* -1: closed, or a write failed */
	char *ring;   /* the last bytes of the stream, at most the tail */
	size_t start; /* of its oldest byte, once it is full */
	size_t length, capacity;
	uint64_t total_bytes; /* of the stream so far */
	struct error failure; /* the first write that failed; code 0: none */
};

#define LOGFILE_INIT                                                           \
	{                                                                      \
		.fd = -1                                                       \
	}

/*
 * Makes the file new (0600, close-on-exec; a link is not followed), replacing
 * one that is there. On failure the logfile is as LOGFILE_INIT; it may be
 * written and asked for its tail even so.
 */
int logfile_open(struct logfile *log, const char *path, struct error *err);

/*
 * Any bytes. The head goes to disk at once, so that it is there when autofit
 * is killed; later bytes replace the oldest of the tail in memory, which grows
 * as they come. A failed write loses no tail; logfile_close tells of it.
 */
void logfile_write(struct logfile *log, const char *bytes, size_t length);

/*
 * The last bytes of the stream, at most max_bytes of them; *length is how many.
 * They are one piece, valid until the next call for this logfile.
 */
const char *logfile_tail(struct logfile *log, size_t max_bytes, size_t *length);

/*
 * Adds the tail to the file, behind one line that says how many bytes were
 * left out if any were, and releases everything. A second call does nothing
 * and returns 0. The first failure of any write is returned here.
 */
int logfile_close(struct logfile *log, struct error *err);

#endif
