/* The config files that a script names itself. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_SCRIPT_FILES_H
#define AUTOFIT_LAUNCHER_COMMAND_SCRIPT_FILES_H

#include "launcher/command/parts/recognition.h"

/*
 * Of a program that no preset knows, and whose words name no config file: the
 * default of an option that is not given, and what the script opens or loads by
 * its name, where these are config files that are there. Adds to command->files
 * with index NO_INDEX. A script that declares a batch size as an option of its
 * own has that. Where a probe saw which file is opened, it is that one.
 */
enum command_outcome script_files_find(struct recognition *r);

#endif
