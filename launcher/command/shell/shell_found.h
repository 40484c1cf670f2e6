/* Which command of shell text is the one that trains. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_FOUND_H
#define AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_FOUND_H

#include "launcher/command/shell/shell_reader.h"

/* The command just read is the one, when it is likelier than all before. */
void shell_consider(struct shell_reader *reader);

/* Which command it is, or why none; for the end of the text. */
void shell_decide(struct shell_reader *reader);

/* False, with a message: another command stands before, which trains. */
bool shell_is_alone(struct shell_reader *reader);

/* "in a loop", "under a condition"; NULL: what is read now runs once. */
const char *shell_maybe(const struct shell_reader *reader);
/* How a variable is assigned here; word: the assignment. */
enum shell_manner shell_manner(const struct shell_reader *reader,
			       struct shell_span word);

#endif
