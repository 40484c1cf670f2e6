/* Loops and functions of a script, read where they run. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_FLOW_H
#define AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_FLOW_H

#include "launcher/command/shell/shell_reader.h"

/* while, do and done: where the condition is known, the text between them is
 * read again and again. True: it is to be read once more. */
void shell_loop_begin(struct shell_reader *reader);
void shell_loop_do(struct shell_reader *reader);
bool shell_loop_done(struct shell_reader *reader);
/* The level just begun is a loop over one word. False: nobody knows whether it
 * runs. */
bool shell_loop_once(struct shell_reader *reader);
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
