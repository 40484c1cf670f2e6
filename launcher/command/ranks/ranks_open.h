/* May a program start more ranks than are counted? Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_RANKS_RANKS_OPEN_H
#define AUTOFIT_LAUNCHER_COMMAND_RANKS_RANKS_OPEN_H

#include "launcher/command/parts/recognition.h"

#include <stdbool.h>

/* Sets command->open_ranks, in words for the user, where it may: by what its
 * words, its script and the modules of that say. Else it stays as it is. */
void ranks_open(const struct recognition *r);

/* Does a program of this text make a command of a launcher, and start it? */
bool ranks_start_launcher(const char *text);

#endif
