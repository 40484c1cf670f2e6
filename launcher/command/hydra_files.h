/* The config files that Hydra puts together. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_HYDRA_FILES_H
#define AUTOFIT_LAUNCHER_COMMAND_HYDRA_FILES_H

#include "launcher/command/parts/recognition.h"

/*
 * Of a program that no preset knows: the primary config that @hydra.main()
 * names, or --config-name, and below it what its list of defaults chooses of
 * each group, or the words of the command. All of it becomes one of
 * command->files, over which KEY=VALUE words win. Only what is plain is
 * followed; where anything else decides, r->is_open says so and no file is
 * added. Files that Hydra's options name are none of their own any more.
 */
enum command_outcome hydra_files_find(struct recognition *r);

#endif
