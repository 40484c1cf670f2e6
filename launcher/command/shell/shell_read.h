/* Goes through shell text command by command. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_READ_H
#define AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_READ_H

#include "launcher/command/shell/shell_reader.h"

/*
 * Set lexer (see there), scope but its lexer, is_one_command, label and err.
 * The command is in found. The caller releases, whatever the outcome.
 */
enum command_outcome shell_read(struct shell_reader *reader);

#endif
