/* Whose batch an option counts, in programs that no preset knows. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_KNOBS_KNOB_SCOPE_H
#define AUTOFIT_LAUNCHER_COMMAND_KNOBS_KNOB_SCOPE_H

#include "launcher/command/parts/recognition.h"
#include "launcher/command/text/names.h"

#include <stdbool.h>

/*
 * What the script says of an option: how it divides it, and its words of help.
 * False: nothing.
 */
bool knob_scope_said(const struct recognition *r, const char *name,
		     enum knob_scope *scope);
/* Does it divide the option by an accumulation, which then is part of it? */
bool knob_scope_holds_accum(const struct recognition *r, const char *name);
/* The variable that the script has the option in: batch_size of --batch. */
const char *knob_scope_variable(const struct recognition *r, const char *name,
				char variable[NAME_MAX_BYTES]);
/* Does the script read the option's variable, beside declaring it? */
bool knob_scope_is_read(const struct recognition *r, const char *name);
/* Does it divide the steps of an accumulation among all ranks? */
bool knob_scope_divides_accum(const struct recognition *r);

/* Not recognised where the script computes what the option is to say. */
enum command_outcome knob_overwritten_check(const struct recognition *r,
					    const char *name);

/* Sets the scope of a batch size that is found, unless the user says it. */
void knob_scope_read(struct recognition *r);

#endif
