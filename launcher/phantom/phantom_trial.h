/* What a probe on a phantom card can tell, and what it cannot. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_PHANTOM_PHANTOM_TRIAL_H
#define AUTOFIT_LAUNCHER_PHANTOM_PHANTOM_TRIAL_H

#include "base/strlist.h"
#include "base/trial.h"
#include "launcher/options/options.h"

/*
 * After a probe: on a phantom its steps take no time that means anything, so
 * the trial keeps none. A message that ends the tuning when sizes were seen to
 * depend on values and nothing has shown that this one is too large: "fits"
 * would be a guess. NULL: go on. The caller frees it.
 */
char *phantom_trial_judge(const struct options_target *target,
			  struct trial *trial);

/* "by real allocations, not run on the card", for the record; on other devices
 * nothing. */
void phantom_trial_add_caveats(const struct options_target *target,
			       struct strlist *caveats);

#endif
