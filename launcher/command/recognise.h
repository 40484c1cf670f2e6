/* Reads a training command: its framework, its knobs, its batch. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_RECOGNISE_H
#define AUTOFIT_LAUNCHER_COMMAND_RECOGNISE_H

#include "base/error.h"
#include "base/strlist.h"
#include "configs/presets/preset.h"
#include "launcher/command/files/named_files.h"
#include "launcher/command/parts/command.h"
#include "launcher/command/text/command_hints.h"
#include "launcher/command/text/command_outcome.h"

/*
 * Find preset and knobs. The script and the config files come through
 * sources->texts. The command points into these and into argv: they outlive
 * it. The text of python -c is found in argv. The caller releases the command
 * whatever the outcome.
 */
enum command_outcome command_recognise(struct command *command,
				       const struct strlist *argv,
				       const struct command_sources *sources,
				       struct error *err);
void command_release(struct command *command);

#endif
