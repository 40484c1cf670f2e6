/* The text of --help, made from the tables of options and sub-commands. Pure.
 */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_HELP_H
#define AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_HELP_H

#include "base/strbuf.h"

/* Appends it. subcommand: the word that stood before --help; NULL: none. */
void options_help(struct strbuf *out, const char *subcommand);

#endif
