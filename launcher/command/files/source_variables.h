/* Variables of the environment that a Python script reads. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_FILES_SOURCE_VARIABLES_H
#define AUTOFIT_LAUNCHER_COMMAND_FILES_SOURCE_VARIABLES_H

#include "launcher/command/files/pytext.h"

/* Not "get" or "int" of anything else than environ.get and env.int. */
bool source_variable_may_be(const char *word, size_t length,
			    const char *line_start);

/*
 * Adds the variable of the bracket at the cursor, ("BS", 8) or ["BS"], with the
 * default in it, behind "or", or behind "if ... else". One that is set is not
 * read.
 */
void source_variable_read(struct pytext *cursor, struct source *source,
			  unsigned line);

/* ("name", ...) or ["name"]: over the bracket, the name, and what is blank. */
bool source_quoted(struct pytext *cursor, const char **name, size_t *length);

#endif
