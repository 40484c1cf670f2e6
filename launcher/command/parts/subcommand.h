/* The sub-command of a script that a command line names. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_PARTS_SUBCOMMAND_H
#define AUTOFIT_LAUNCHER_COMMAND_PARTS_SUBCOMMAND_H

#include "launcher/command/parts/recognition.h"

/*
 * Sets r->source to the options that source, read of text, declares for the
 * sub-command that is named, and r->subcommand; to source itself where there
 * is none.
 */
void subcommand_source(struct recognition *r, const struct source *source,
		       const char *text);

#endif
