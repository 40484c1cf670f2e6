/* What the knobs of a command amount to: micro, accumulation, world, effective
 * batch. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_EFFECTIVE_BATCH_H
#define AUTOFIT_LAUNCHER_COMMAND_EFFECTIVE_BATCH_H

#include "launcher/command/parts/recognition.h"

/* Scopes of the knobs, then micro, accum, world and effective batch. */
enum command_outcome knob_scopes_set(struct recognition *r);
enum command_outcome effective_batch_derive(struct recognition *r);
/* Sets command->assumption. */
enum command_outcome effective_batch_describe(struct recognition *r);

/* Sets world_size: by the launcher, or by what the preset knows. */
enum command_outcome world_size_find(struct recognition *recognition);

#endif
