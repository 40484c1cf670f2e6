/* Modules of the script's own folder. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_MODULES_MODULE_FILES_H
#define AUTOFIT_LAUNCHER_COMMAND_MODULES_MODULE_FILES_H

#include "launcher/command/modules/source_imports.h"
#include "launcher/command/parts/recognition.h"

/* Who imports: the script, or a module of it. */
struct module_user {
	const struct recognition *r;
	const char *text;
	const char *path; /* NULL: the script */
};

typedef void module_file_visit(void *context, struct named_file *file,
			       const struct source_import *import);
/* Each module that the script imports and that lies beside it. */
void module_files_visit(const struct recognition *r, module_file_visit *visit,
			void *context);
/* The same of any user. */
void module_files_visit_of(const struct module_user *user,
			   module_file_visit *visit, void *context);

#endif
