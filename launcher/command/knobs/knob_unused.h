/* Options that speak of accumulation and are no knob. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_KNOBS_KNOB_UNUSED_H
#define AUTOFIT_LAUNCHER_COMMAND_KNOBS_KNOB_UNUSED_H

#include "launcher/command/parts/recognition.h"

/* All knobs are found: what is left over must not multiply the batch. */
enum command_outcome knob_unused_check(const struct recognition *r);

#endif
