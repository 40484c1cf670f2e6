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

/* Sets world_size: by the launcher, by what the preset knows, by words. */
enum command_outcome world_size_find(struct recognition *recognition);
/* Divides it by the ranks that share one batch, or sets command->open_ranks. */
enum command_outcome
model_parallel_divide(const struct recognition *recognition);

#endif
