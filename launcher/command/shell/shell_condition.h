/* What conditions of a script come to, and which branch runs. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_CONDITION_H
#define AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_CONDITION_H

#include "launcher/command/shell/shell_reader.h"

/*
 * What the [ ] just read comes to, reader->test being read. Known only where
 * another size cannot make it another: of words that are no numbers, and of
 * numbers that the script itself says, by a name that is no size's.
 */
enum shell_truth shell_truth_read(struct shell_reader *reader);

/* A command of the condition of if or elif was read: what it adds. */
void shell_condition_add(struct shell_reader *reader, enum shell_truth truth);
/* Behind then, elif or else. */
void shell_branch_then(struct shell_level *level);
void shell_branch_elif(struct shell_level *level);
void shell_branch_else(struct shell_level *level);

/* The word behind case, as it was expanded. */
void shell_case_begin(const struct shell_reader *reader,
		      struct shell_span written,
		      const struct shell_fields *word,
		      struct shell_level *level);
/* Before the patterns of a branch, one of them, and behind all. */
void shell_pattern_begin(struct shell_level *level);
void shell_pattern_add(struct shell_level *level, const char *pattern,
		       size_t length);
void shell_pattern_end(struct shell_level *level);

#endif
