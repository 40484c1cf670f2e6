/* What a probe on a phantom card can tell, and what it cannot. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_SESSION_PHANTOM_H
#define AUTOFIT_LAUNCHER_TUNING_SESSION_PHANTOM_H

#include "launcher/tuning/session_internal.h"

/*
 * After a probe: on a phantom its steps take no time that means anything, so
 * the trial keeps none. A message that ends the tuning when sizes were seen to
 * depend on values and nothing has shown that this one is too large: "fits"
 * would be a guess. NULL: go on. The caller frees it.
 */
char *session_phantom_judge(const struct session *session, struct trial *trial);

/* "by real allocations, not run on the card", for the record. */
void session_phantom_add_caveat(const struct session *session,
				struct strlist *caveats);

#endif
