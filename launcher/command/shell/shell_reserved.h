/* if, for, case and their kin in shell text. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_RESERVED_H
#define AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_RESERVED_H

#include "launcher/command/shell/shell_reader.h"

/* The token is a reserved word, and what it begins was read. */
bool shell_read_reserved(struct shell_reader *reader);
/* a | b) before the commands of a case. */
void shell_read_pattern(struct shell_reader *reader);
/* The token is the first ( of ((. */
bool shell_is_doubled(const struct shell_reader *reader);
void shell_read_arithmetic(struct shell_reader *reader);

#endif
