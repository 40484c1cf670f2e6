/* Defaults for knobs not given. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_KNOBS_KNOB_DEFAULTS_H
#define AUTOFIT_LAUNCHER_COMMAND_KNOBS_KNOB_DEFAULTS_H

#include "launcher/command/parts/recognition.h"

#include <stdint.h>

/* The knob becomes an option that is added; evidence is taken over. */
void knob_set_default(struct recognition *r, enum knob_kind kind,
		      const char *name, int64_t value, char *evidence);
/* The same for an option that the script declares, with its default. */
enum command_outcome
knob_set_option_default(struct recognition *r, enum knob_kind kind,
			const struct source_option *option);
/* The knob is not among the arguments: its default, or why not. */
enum command_outcome knob_default_find(struct recognition *recognition,
				       enum knob_kind kind);

#endif
