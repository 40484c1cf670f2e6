/* Texts that options print: the help, and the scripts of shells. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_HELP_H
#define AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_HELP_H

#include "base/strbuf.h"

/* subcommand: the word that stood before --help; NULL: none. */
void options_help(struct strbuf *out, const char *value);
/* The script that completes autofit's words in bash, zsh or fish. */
void options_completion(struct strbuf *out, const char *shell);

#endif
