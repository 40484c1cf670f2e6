/* The files that a command names: each is read once, whoever asks. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_FILES_NAMED_FILES_H
#define AUTOFIT_LAUNCHER_COMMAND_FILES_NAMED_FILES_H

#include "base/strbuf.h"
#include "configs/settings/settings.h"
#include "launcher/command/files/source.h"

#include <stdbool.h>
#include <stddef.h>

/* No command has more files read than these, nor more looked for. */
#define NAMED_FILES_MAX 32
#define NAMED_PATHS_MAX 512

struct named_file {
	char *path;         /* as the command names it */
	struct strbuf text; /* its beginning; empty when it was not readable */
	int error;          /* errno of reading it, 0: read */
	/* See named_file_settings() and named_file_source(). */
	bool has_settings, borrows_settings, has_source;
	struct settings settings;
	char *why_not; /* why settings are empty; NULL */
	struct source source;
};

/*
 * The one way to the disk, given in by whoever owns the files: appends the
 * beginning of the file to text and returns 0, or an errno.
 */
typedef int named_files_read(void *context, const char *path,
			     struct strbuf *text);

/*
 * All that was read for a command. Commands that are recognised point into it:
 * it outlives them.
 */
struct named_files {
	named_files_read *read; /* NULL: no other file is there */
	void *context;          /* for read */
	/* Looked at where this has no such file; it outlives this. Or NULL. */
	const struct named_files *beneath;
	struct named_file *items[NAMED_PATHS_MAX];
	size_t count;
	size_t absent; /* of them, those that are not there */
};

/*
 * The file, read now unless it was before; one that is not there has an error.
 * NULL: NAMED_FILES_MAX are there already, or NAMED_PATHS_MAX were asked for.
 */
struct named_file *named_files_get(struct named_files *files, const char *path);
/* The same, but half of the places, and of what may be absent, is left to files
 * that a command names. */
struct named_file *named_files_get_module(struct named_files *files,
					  const char *path);

/*
 * Adds a file without reading it. Takes the text over (NULL: none). NULL as
 * above.
 */
struct named_file *named_files_add(struct named_files *files, const char *path,
				   struct strbuf *text, int error);
void named_files_release(struct named_files *files);

/*
 * The values in a config file, read on the first call; a path has one format.
 * Empty when it is not understood: then file->why_not says why.
 */
const struct settings *named_file_settings(struct named_file *file,
					   enum settings_format format);

/* The options and constants of a Python script, read on the first call. */
const struct source *named_file_source(struct named_file *file);

/* What a file means by a path: of "src/a.py", "../b/c" is "b/c". By the words
 * alone, no link is followed. The caller frees it. */
char *path_beside(const char *file, const char *path);

#endif
