/* What probes left in shared memory, where nothing keeps them from it. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_ISOLATION_MEMORY_LEFT_H
#define AUTOFIT_LAUNCHER_TUNING_ISOLATION_MEMORY_LEFT_H

#include "base/strlist.h"

/* Appends what is there of this user. */
void memory_left_list(struct strlist *entries);

/* Names on stderr what has come since that list was made. */
void memory_left_warn(const struct strlist *before);

#endif
