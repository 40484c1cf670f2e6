/* What a probe on a phantom card can tell, and what it cannot. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_PHANTOM_PHANTOM_TRIAL_H
#define AUTOFIT_LAUNCHER_PHANTOM_PHANTOM_TRIAL_H

#include "base/strlist.h"
#include "launcher/options/options.h"
#include "probes/probe.h"

/*
 * After a probe: on a phantom its steps take no time that means anything, so
 * the trial keeps none; and a size at which allocations were refused before the
 * allocator gave back what it kept does not fit. A message that ends the tuning
 * when nothing can be said of the command (it used no card, or asked for what a
 * phantom has not), or when what it does was seen to depend on values and
 * nothing has shown that this size is too large: "fits" would be a guess, and
 * "the command fails" as well. NULL: go on. The caller frees it.
 */
char *phantom_trial_judge(const struct options_target *target,
			  struct probe_outcome *outcome);

/* "by real allocations, not run on the card", for the record; on other devices
 * nothing. */
void phantom_trial_add_caveats(const struct options_target *target,
			       struct strlist *caveats);

#endif
