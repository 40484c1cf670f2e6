/* A line of output that tells of a write that was refused. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_REFUSAL_H
#define AUTOFIT_PROBES_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

#define REFUSAL_PATH_MAX 4096

/*
 * Does the line report "Permission denied" or "Read-only file system" (EACCES,
 * EPERM, EROFS, as Python, torch, C++ streams, coreutils, Go and Rust print
 * it)? path receives the file it names as printed, unquoted, or "".
 */
bool refusal_line(const char *line, size_t length, char path[REFUSAL_PATH_MAX]);

#endif
