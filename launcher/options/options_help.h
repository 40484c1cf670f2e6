/* Texts that options print: the help, and the scripts of shells. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_HELP_H
#define AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_HELP_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

enum help_length {
	HELP_SHORT, /* -h: what most calls need */
	HELP_LONG,  /* --help: every option */
};

/* word: of a sub-command; NULL or another word: of autofit. No line fills a
 * terminal of so many columns, nor one of 80; 0: not known. */
void options_help(struct strbuf *out, const char *word, enum help_length length,
		  size_t columns);
/* The version; is_verbose: and what it was built with. */
void options_version(struct strbuf *out, bool is_verbose);
/* The script that completes autofit's words in bash, zsh or fish. */
void options_completion(struct strbuf *out, const char *shell);

#endif
