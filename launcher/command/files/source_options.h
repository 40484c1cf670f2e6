/* The options of a script, each once. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_FILES_SOURCE_OPTIONS_H
#define AUTOFIT_LAUNCHER_COMMAND_FILES_SOURCE_OPTIONS_H

#include "launcher/command/files/pytext.h"

/* Adds an option, which it takes over, unless it is there already. */
void source_option_add(struct source *source, struct source_option *option);
void source_option_release(struct source_option *option);
/* Its name is made of a variable's: --batch_size, and where the parser takes
 * dashes as well, --batch-size. */
void source_option_derive(struct source_option *option, const char *name);
/* The same of an argument without dashes, whose name is its dest. */
void source_positional_add(struct source *source,
			   const struct source_option *argument);
/* Notes that the script declares a sub-command of this name. */
void source_command_add(struct source *source, const char *name);

/*
 * set_defaults(batch_size=64), with the cursor on the bracket: the default of
 * the options that are there already. In a block of its own, under an "if",
 * it is not known which.
 */
void source_options_set(struct pytext *cursor, struct source *source,
			unsigned line);
/* Does a script declare a batch size by its name? */
bool source_options_name_batch(const struct source *source);

#endif
