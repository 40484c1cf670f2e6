/* Sizes that a script takes by their place. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_KNOBS_POSITIONAL_H
#define AUTOFIT_LAUNCHER_COMMAND_KNOBS_POSITIONAL_H

#include "launcher/command/parts/recognition.h"

/* An argument of the command and the name that the script gives it. */
struct positional {
	const char *name;
	const char *word;
};

/*
 * The first whose name says this knob, and whose word is a whole number.
 * False: there is none, or what stands before it is not known.
 */
bool positional_find(const struct recognition *r, enum knob_kind kind,
		     struct positional *found);

#endif
