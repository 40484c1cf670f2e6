/* What commands of a script do to its variables and arguments. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_BUILTIN_H
#define AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_BUILTIN_H

#include "launcher/command/shell/shell_reader.h"

/* What the command does to variables and arguments; may change its rank. */
void shell_builtin(struct shell_reader *reader, const char *name);

#endif
