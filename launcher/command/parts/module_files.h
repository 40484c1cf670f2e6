/* Modules of the script's own folder. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_PARTS_MODULE_FILES_H
#define AUTOFIT_LAUNCHER_COMMAND_PARTS_MODULE_FILES_H

#include "launcher/command/parts/recognition.h"
#include "launcher/command/text/command_outcome.h"

typedef void module_file_visit(void *context, struct named_file *file);
/* Each module that the script imports and that lies beside it. */
void module_files_visit(const struct recognition *r, module_file_visit *visit,
			void *context);

/* Where the script declares no options, a module of it may: sets r->source. */
enum command_outcome module_options_find(struct recognition *r);

#endif
