/* The text of modules of the script's own folder. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_KNOBS_MODULE_TEXTS_H
#define AUTOFIT_LAUNCHER_COMMAND_KNOBS_MODULE_TEXTS_H

#include "launcher/command/parts/recognition.h"

typedef void module_text_visit(void *context, const char *text);
/* Of each module that the script imports and that lies beside it. */
void module_texts_visit(const struct recognition *r, module_text_visit *visit,
			void *context);

#endif
