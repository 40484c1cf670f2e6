/* The data files that are compiled into the program. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_FILES_BUILTIN_H
#define AUTOFIT_CONFIGS_FILES_BUILTIN_H

#include "base/error.h"

#include <stddef.h>

struct builtin_file {
	const char *path; /* in the source tree: "configs/presets/hf.ini" */
	const char *data; /* size bytes, then a NUL that does not count */
	size_t size;
};

/* Sorted by path; a NULL path ends the table. Made by scripts/embed.cmake. */
extern const struct builtin_file builtin_files[];

/* The file, or NULL. */
const struct builtin_file *builtin_find(const char *path);

/* The file called name, written to path, where none is (0600). */
int builtin_write(const char *name, const char *path, struct error *err);

#endif
