/* {resume:WORDS}: words of a command that only a restart of its run gets. Pure.
 */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_TEXT_RESUME_WORDS_H
#define AUTOFIT_LAUNCHER_COMMAND_TEXT_RESUME_WORDS_H

#include "base/strlist.h"

#include <stdbool.h>

/* Where {resume:WORDS} stands in a command, there are WORDS, or nothing. */
enum resume_form { RESUME_FIRST_START, RESUME_RESTART };

/*
 * Appends the words of the command in this form to out; whether any of them had
 * a {resume:WORDS} or {resume}. An argument that is nothing else becomes the
 * words that blanks part, so that there may be none; within an argument it is
 * replaced as text. Names of other placeholders stay as they are.
 */
bool resume_words(const struct strlist *command, enum resume_form form,
		  struct strlist *out);

#endif
