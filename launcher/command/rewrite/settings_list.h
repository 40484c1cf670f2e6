/* The sizes of a split as settings: what to write, and where. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_REWRITE_SETTINGS_LIST_H
#define AUTOFIT_LAUNCHER_COMMAND_REWRITE_SETTINGS_LIST_H

#include "configs/records/record_settings.h"
#include "launcher/command/rewrite/rewrite.h"

/*
 * Appends one setting for each place where the command says a size, also where
 * it stays as it is. A text of arguments or files that is not UTF-8 is kept.
 */
void settings_list(struct record_settings *out, const struct command *command,
		   const struct command_values *values);

#endif
