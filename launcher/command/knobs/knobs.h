/* Finds the knobs among the arguments of a program. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_KNOBS_KNOBS_H
#define AUTOFIT_LAUNCHER_COMMAND_KNOBS_KNOBS_H

#include "launcher/command/parts/recognition.h"

/* All knobs that are not set yet. */
enum command_outcome knobs_find(struct recognition *recognition);

#endif
