/* The commands of shell text, one after the other. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_RUN_H
#define AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_RUN_H

#include "launcher/command/shell/shell_read.h"

/* All words of a command are there: reader->words. */
void shell_run_command(struct shell_reader *reader);

/* Which command it is, or why none; for the end of the text. */
void shell_decide(struct shell_reader *reader);

/* False, with a message: another command stands before, which trains. */
bool shell_is_alone(struct shell_reader *reader);

/* "in a loop", "under a condition"; NULL: what is read now runs once. */
const char *shell_maybe(const struct shell_reader *reader);
/* How a variable is assigned here; word: the assignment. */
enum shell_manner shell_manner(const struct shell_reader *reader,
			       struct shell_span word);

/* What the command does to variables and arguments; may change its rank. */
void shell_builtin(struct shell_reader *reader, const char *name);
/* The words of [ ... ] as a test of one variable. */
struct shell_test shell_test_read(const struct shell_reader *reader);

/* How likely the words from inner on are what trains. */
enum shell_rank shell_rank(const struct shell_fields *fields, size_t inner);

/* The command just read is the one, when it is likelier than all before. */
void shell_consider(struct shell_reader *reader);

#endif
