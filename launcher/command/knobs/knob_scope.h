/* Whose batch an option counts, in programs that no preset knows. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_KNOBS_KNOB_SCOPE_H
#define AUTOFIT_LAUNCHER_COMMAND_KNOBS_KNOB_SCOPE_H

#include "launcher/command/parts/recognition.h"

/* Sets the scope of a batch size that is found, unless the user says it. */
void knob_scope_read(struct recognition *r);

#endif
