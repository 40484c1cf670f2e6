/* Files that a training would resume from, known by their names. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_ISOLATION_CHECKPOINT_NAME_H
#define AUTOFIT_PROBES_ISOLATION_CHECKPOINT_NAME_H

#include <stdbool.h>
#include <sys/types.h>

/* Of the path of a file or folder with this mode. */
bool checkpoint_is_named(const char *path, mode_t mode);

#endif
