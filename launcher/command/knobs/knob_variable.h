/* Knobs that are variables of the environment. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_KNOBS_KNOB_VARIABLE_H
#define AUTOFIT_LAUNCHER_COMMAND_KNOBS_KNOB_VARIABLE_H

#include "launcher/command/parts/recognition.h"

/*
 * The variable that the script reads for this knob: by a usual name, else the
 * only one whose words say it. Where the script reads none, and has a number of
 * that name, the one that the command itself sets in front of it. Leaves the
 * knob absent where there is none.
 */
enum command_outcome knob_variable_find(struct recognition *r,
					enum knob_kind kind);

#endif
