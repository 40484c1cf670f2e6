/* A line of output that tells of a write that was refused. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OUTPUT_REFUSAL_H
#define AUTOFIT_PROBES_OUTPUT_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

#define REFUSAL_PATH_MAX 4096

/* The patterns, compiled; the caller frees them. */
struct refusal;

struct refusal *refusal_make(void);
void refusal_free(struct refusal *refusal);

/*
 * Does the line report what keeping a probe from writing leads to: EACCES,
 * EPERM, EROFS; EXDEV and EOVERFLOW of a view's layers; EBUSY of an entry of
 * /dev/shm that is mounted; as Python, torch, C++ streams, coreutils, Go, Rust
 * and SQLite print it? path receives the file it names as printed, unquoted, or
 * "". Of a rename it is the new name. It is meant for lines that have one of
 * the phrases: configs/signatures/refused.ini names them.
 */
bool refusal_line(const struct refusal *refusal, const char *line,
		  size_t length, char path[REFUSAL_PATH_MAX]);

#endif
