/* What one command of shell text means for all that follow. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_RUN_H
#define AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_RUN_H

#include "launcher/command/shell/shell_reader.h"

/* All words of a command are there: reader->words. */
void shell_run_command(struct shell_reader *reader);

#endif
