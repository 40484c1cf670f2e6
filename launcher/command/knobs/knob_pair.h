/* A micro-batch beside a larger batch: the accumulation follows. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_KNOBS_KNOB_PAIR_H
#define AUTOFIT_LAUNCHER_COMMAND_KNOBS_KNOB_PAIR_H

#include "launcher/command/parts/recognition.h"

/*
 * In a program that no preset knows, after its accumulation was looked for:
 * sets both knobs where just these two speak of a batch.
 */
enum command_outcome knob_pair_find(struct recognition *r);

#endif
