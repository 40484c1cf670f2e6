/* Constraints of a framework: what it refuses or asks of every split. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_CONSTRAINTS_H
#define AUTOFIT_LAUNCHER_COMMAND_CONSTRAINTS_H

#include "launcher/command/parts/recognition.h"

/* Config files that name one of DeepSpeed's, where sizes must not stand. */
enum command_outcome deepspeed_check(struct recognition *r);
/* A sweep is not one training. */
enum command_outcome sweep_check(struct recognition *r);
/* What the preset cannot have in a command, with the way out. */
enum command_outcome refusals_find(struct recognition *r);
/* What the preset asks of every split, and its caveats. */
enum command_outcome constraints_find(struct recognition *r);

#endif
