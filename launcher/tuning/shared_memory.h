/* What probes leave in shared memory, where it is not their own. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_SHARED_MEMORY_H
#define AUTOFIT_LAUNCHER_TUNING_SHARED_MEMORY_H

#include "base/strlist.h"

/* Append this user's entries of /dev/shm, in a form to compare. Bounded. */
void shared_memory_list(struct strlist *entries);

/*
 * One line about those that are there now and were not among before: nobody can
 * tell who made them, so none is removed.
 */
void shared_memory_warn(const struct strlist *before);

#endif
