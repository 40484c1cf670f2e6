/* The value at a token becomes that of a knob. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_KNOBS_KNOB_TAKE_H
#define AUTOFIT_LAUNCHER_COMMAND_KNOBS_KNOB_TAKE_H

#include "launcher/command/parts/recognition.h"
#include "launcher/command/parts/token.h"

/* Take the value at the token for the knob. */
enum command_outcome knob_take(struct recognition *recognition,
			       enum knob_kind kind, const struct token *token);
/* Back to absent, with its scope. */
void knob_forget(struct knob *knob);

#endif
