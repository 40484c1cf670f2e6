/* Knobs that the user marks with {micro} and its like. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_KNOBS_PLACEHOLDERS_H
#define AUTOFIT_LAUNCHER_COMMAND_KNOBS_PLACEHOLDERS_H

#include "launcher/command/parts/recognition.h"

/* In the command, in --env or --template: sets those knobs. */
enum command_outcome placeholders_find(struct recognition *recognition);

#endif
