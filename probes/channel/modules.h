/* Reads which modules a probe's processes imported and which files of settings
 * they opened, as the step hook tells. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_CHANNEL_MODULES_H
#define AUTOFIT_PROBES_CHANNEL_MODULES_H

#include "base/strlist.h"

#include <time.h>

/*
 * Add the paths of all files folder/modules.<pid> to an empty list: absolute,
 * sorted, each once. A file is paths that each end with a NUL. At most
 * MODULES_FILES_MAX files are read, MODULES_BYTES_MAX of each and
 * MODULES_PATHS_MAX paths; what is no such path is passed over.
 */
#define MODULES_FILES_MAX 64
#define MODULES_BYTES_MAX (1U << 20)
#define MODULES_PATHS_MAX 8000

void modules_read(struct strlist *out, const char *folder);

/*
 * The same of the files folder/opened.<pid>, but for what the command may have
 * written itself: paths that are gone by now, or changed since the probe was
 * started.
 */
void opened_read(struct strlist *out, const char *folder,
		 const struct timespec *started);

/*
 * Add the names in the file folder/imports.<pid> to an empty list, in their
 * order: dotted names of Python's, each ended by a NUL. With more files than
 * one there are none.
 */
void imports_read(struct strlist *out, const char *folder);

#endif
