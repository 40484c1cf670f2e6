/* Reads a rewritten command as if it had been typed. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_READBACK_H
#define AUTOFIT_LAUNCHER_COMMAND_READBACK_H

#include "base/error.h"
#include "launcher/command/recognise.h"
#include "launcher/command/rewrite/rewrite.h"

/*
 * Reads the rewritten command as it would be read had the user typed it, with
 * its copies and its environment: -EINVAL, with why and the way out, where it
 * has not these values. sources are those that the command was read by.
 * Placeholders leave no trace, so where one says a size there is nothing to
 * read. Fills rewrite->followers.
 */
int command_read_back(const struct command *command,
		      const struct command_values *values,
		      struct rewrite *rewrite,
		      const struct command_sources *sources, struct error *err);

#endif
