/* What a shell may offer at the cursor, from the tables of options. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_COMPLETE_H
#define AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_COMPLETE_H

#include "base/strbuf.h"
#include "base/strlist.h"

/*
 * words: those after the program's name, the last one up to the cursor. One
 * line for each that begins like it, with a tab and what it means; of
 * --option=value only the value. A line with a colon is for the shell to do:
 * ":command N" (its own completion of the command that begins with word N, from
 * 1), ":programs" (their names too), ":record", ":file" or ":folder".
 */
void options_complete(struct strbuf *out, const struct strlist *words);

/* The script of a shell, which asks `autofit --complete`: bash, zsh, fish. */
void options_completion(struct strbuf *out, const char *shell);

#endif
