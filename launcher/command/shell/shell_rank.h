/* Which commands of a script train, and which only prepare. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_RANK_H
#define AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_RANK_H

#include "launcher/command/shell/shell_reader.h"

/* How likely the words from inner on are what trains. */
enum shell_rank shell_rank(const struct shell_fields *fields, size_t inner);

/* One of them says a batch size or an accumulation of a training. */
bool shell_says_size(const struct shell_fields *fields, size_t inner);

#endif
