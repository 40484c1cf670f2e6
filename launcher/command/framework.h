/* Which preset speaks for a command. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_FRAMEWORK_H
#define AUTOFIT_LAUNCHER_COMMAND_FRAMEWORK_H

#include "launcher/command/parts/recognition.h"

/* Which preset speaks for the command; sets preset and its evidence. */
enum command_outcome framework_find(struct recognition *r);

#endif
