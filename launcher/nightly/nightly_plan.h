/* `autofit nightly --dry-run`: what would run, and cost at most. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_NIGHTLY_NIGHTLY_PLAN_H
#define AUTOFIT_LAUNCHER_NIGHTLY_NIGHTLY_PLAN_H

#include "launcher/nightly/jobs/jobs.h"
#include "launcher/options/options.h"

/* Prints it, and returns the exit code. */
int nightly_plan(const struct jobs *jobs, const struct options *options);

#endif
