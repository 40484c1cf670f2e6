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

/*
 * Beside a micro-batch, the larger batch is of each rank or of all. With one
 * rank that is the same; sets the scope where the script tells, else asks.
 */
enum command_outcome knob_scope_of_larger(struct recognition *r,
					  const char *micro, const char *larger,
					  const char *value);
/* A virtual batch of 128 beside a batch of 1024 is a part of that: of a norm,
 * say. */
bool knob_scope_is_part(const char *global, const char *batch);

/* Not recognised where the script computes what the option is to say. */
enum command_outcome knob_overwritten_check(const struct recognition *r,
					    const char *name);

/* Sets the scope of a batch size that is found, unless the user says it. */
void knob_scope_read(struct recognition *r);

#endif
