/* Knobs that the user names with --micro-flag and its like. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_KNOBS_KNOB_BY_FLAG_H
#define AUTOFIT_LAUNCHER_COMMAND_KNOBS_KNOB_BY_FLAG_H

#include "launcher/command/parts/recognition.h"

/* Looked for before anything else. */
enum command_outcome knob_by_flag_find(struct recognition *recognition,
				       enum knob_kind kind);

#endif
