/* DeepSpeed's own config file, where sizes must not stand. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_FILES_DEEPSPEED_FILE_H
#define AUTOFIT_LAUNCHER_COMMAND_FILES_DEEPSPEED_FILE_H

#include "configs/settings/settings.h"

/* What is wrong with sizes in such a file, and the way out; NULL: nothing. The
 * caller frees. */
char *deepspeed_fault(const struct settings *settings, const char *path);

#endif
