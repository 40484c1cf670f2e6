/* Accumulations that no name says, or that a name says and is no knob. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_KNOBS_KNOB_ACCUM_H
#define AUTOFIT_LAUNCHER_COMMAND_KNOBS_KNOB_ACCUM_H

#include "launcher/command/parts/recognition.h"
#include "launcher/command/text/command_outcome.h"

#include <stdbool.h>

/*
 * Where no name says an accumulation: the option of the script that guards its
 * optimizer's step, whatever it is called. And where the name alone does not
 * say it (update_freq, which may count steps of an environment): kept if the
 * script bears it out, forgotten if it speaks of such an environment, else
 * asked about.
 */
enum command_outcome knob_accum_find(struct recognition *r);

/* The accumulation counts pieces of the batch: x.chunk(n). */
bool knob_accum_splits(const struct recognition *r);
/* Its name may mean that too ("num_microbatches"), and the script does not
 * say that it does not. */
bool knob_accum_may_split(const struct recognition *r);

/* An agent acts in an environment: its steps are not those of an optimizer. */
bool knob_accum_is_of_agent(const struct recognition *r);

/* All knobs are found: what is left over must not multiply the batch. */
enum command_outcome knob_accum_check(const struct recognition *r);

#endif
