/* Files of variables that a script reads in. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_SOURCED_H
#define AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_SOURCED_H

#include "base/strbuf.h"
#include "launcher/command/shell/shell_reader.h"

/*
 * Sets the variables of a text in which nothing stands but NAME=value, with
 * export before it or not. False: there is more in it, and nothing is set. No
 * value has a place in the script itself.
 */
bool shell_sourced_read(struct shell_reader *reader, const struct strbuf *text);

#endif
