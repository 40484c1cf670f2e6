/* Files that a command names, as far as they were read. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_TEXT_NAMED_FILES_H
#define AUTOFIT_LAUNCHER_COMMAND_TEXT_NAMED_FILES_H

#include "base/strbuf.h"
#include "configs/settings/settings.h"

#include <stddef.h>

/* More files than these no command is asked for. */
#define TEXTS_MAX 32

struct text_file {
	char *path;         /* as the command names it */
	struct strbuf text; /* its beginning; empty when it was not readable */
	int error;          /* errno of reading it, 0: read */
	/* What is in it, where somebody has that already, who outlives this
	 * and the commands read by it. NULL: nobody. */
	const struct settings *settings;
};

/*
 * Recognition is pure: it asks for a file by its path and ends with
 * COMMAND_WANTS_TEXT; the caller reads it, adds it, and asks again.
 */
struct named_files {
	struct text_file items[TEXTS_MAX];
	size_t count;
	/* What was read already, and is not read again; it outlives these.
	 * NULL: nothing. */
	const struct named_files *beneath;
	char *wanted; /* path to read next; NULL: none */
};

#define TEXTS_INIT                                                             \
	{                                                                      \
		.count = 0                                                     \
	}

/* The file, or NULL: then wanted is set, unless TEXTS_MAX are there. */
const struct text_file *named_files_get(struct named_files *texts,
					const char *path);
/* Takes the text over (NULL: none); clears wanted. error: errno, 0. */
void named_files_add(struct named_files *texts, const char *path,
		     struct strbuf *text, int error);
void named_files_release(struct named_files *texts);

#endif
