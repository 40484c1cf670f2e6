/* What of a script runs, where that is known: branches, loops, functions. Pure.
 */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_FLOW_H
#define AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_FLOW_H

#include "launcher/command/shell/shell_reader.h"

/*
 * What the [ ] just read comes to. Known only where another size cannot make
 * it another: of words that are no numbers, and of numbers that the script
 * itself says, by a name that is no size's.
 */
enum shell_truth shell_truth_read(const struct shell_reader *reader);

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

/* while, do and done: where the condition is known, the text between them is
 * read again and again. True: it is to be read once more. */
void shell_loop_begin(struct shell_reader *reader);
void shell_loop_do(struct shell_reader *reader);
bool shell_loop_done(struct shell_reader *reader);
/* break, and continue. */
void shell_loop_leave(struct shell_reader *reader, bool goes_on);

/* What is read now never runs. */
bool shell_is_dead(const struct shell_reader *reader);

/* The level just begun is the body of reader->function: it is passed over here,
 * where it is certain that this function is the one of that name. */
void shell_function_define(struct shell_reader *reader);

/*
 * The command just read calls a function: its body is read next, and then what
 * stands behind the call. False: it is none.
 */
bool shell_function_call(struct shell_reader *reader);

/* The body ends, whose level is still there. */
void shell_function_end(struct shell_reader *reader);

/* local: what it sets is another value again behind the body. */
void shell_function_local(struct shell_reader *reader);

/* return: false, where the text is in no function that was called. */
bool shell_function_return(struct shell_reader *reader);

#endif
