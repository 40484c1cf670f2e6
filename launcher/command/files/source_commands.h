/* Sub-commands of a script, and where their options stand. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_FILES_SOURCE_COMMANDS_H
#define AUTOFIT_LAUNCHER_COMMAND_FILES_SOURCE_COMMANDS_H

#include "launcher/command/files/source.h"

/* Notes the sub-commands that argparse is told of, and whether anything says
 * where options stand. text ends at end. */
void source_commands_read(struct source *source, const char *text,
			  const char *end);

/*
 * Sets command and leads of an option that a call of the source declares, whose
 * text ends at end: call is the word add_argument or option in it. A parser
 * that add_subparsers() is called on, or that gets all further words by
 * REMAINDER, and a group of click ask for its options before these words; what
 * stands in another function is not seen.
 */
void source_commands_place(struct source_option *option,
			   const struct source *source, const char *end,
			   const char *call);

#endif
