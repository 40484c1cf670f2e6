/* Completion: the words that may stand at the cursor of a command line. Pure.
 */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_COMPLETE_H
#define AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_COMPLETE_H

#include "base/strbuf.h"
#include "base/strlist.h"

/* Candidates that lie in files, which this room does not read. */
enum completion_names {
	COMPLETION_NO_NAMES,
	COMPLETION_RECORDS,
	COMPLETION_PRESETS,
};

/*
 * The answer to the scripts of scripts/completion/. words are those of the
 * line after "autofit", the last one is at the cursor and may be "". The
 * answer's first line says what the shell is to offer:
 *
 *	words      the lines below: a word, or a word, a tab and what it is
 *	files      files and folders
 *	folders    folders
 *	command N  whatever completes the command that begins with words[N]
 *
 * Words are not narrowed down to those that begin as the last one: each shell
 * has its own rules for that. The caller appends the names that are returned.
 */
enum completion_names options_complete(const struct strlist *words,
				       struct strbuf *out);

#endif
