/* Landlock: writes refused everywhere but where they are allowed. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_ISOLATION_LANDLOCK_H
#define AUTOFIT_PROBES_ISOLATION_LANDLOCK_H

#include "base/error.h"
#include "probes/isolation/isolation.h"

/*
 * ISOLATION_LANDLOCK of isolation_enter: for the calling thread and all it
 * starts. Writing is left beneath scratch, beneath shared places in which
 * nothing is guarded, and to devices; reading is never restricted. The kernel
 * has no such right for mode, owner, times and extended attributes of a file:
 * those can still be changed, and no bytes.
 */
int landlock_enter(const struct isolation_spec *spec, struct error *err);

#endif
