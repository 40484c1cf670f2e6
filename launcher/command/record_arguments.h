/* The arguments of a command that can change the memory of a step. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_RECORD_ARGUMENTS_H
#define AUTOFIT_LAUNCHER_COMMAND_RECORD_ARGUMENTS_H

#include "base/strlist.h"
#include "launcher/command/parts/command.h"

/*
 * Appends the arguments that can change the memory of a step: argv without
 * knobs, step limit, output folder and the preset's neutral options; values
 * of placeholders are left out. Of each dropped option the value goes too.
 */
void command_record_arguments(const struct command *command,
			      struct strlist *out);

#endif
