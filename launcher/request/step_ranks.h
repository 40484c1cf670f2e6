/* Ranks that srun starts in this allocation, each behind an autofit. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REQUEST_STEP_RANKS_H
#define AUTOFIT_LAUNCHER_REQUEST_STEP_RANKS_H

#include "base/error.h"
#include "base/strlist.h"
#include "launcher/request/request.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Can the processes that the command starts through srun report to a probe
 * (see probes/nodes/node_report.h)? They can where the words of srun are the
 * command's own, not those of a shell, and there is an allocation for a step.
 */
bool step_ranks_can_report(const struct request *request);

/* How many tasks srun starts. */
int64_t step_ranks_count(const struct request *request);

/*
 * Puts autofit in front of what srun starts, in the words of a probe's command.
 * -EINVAL where these do not begin as the command itself does.
 */
int step_ranks_insert(const struct request *request, struct strlist *argv,
		      struct error *err);

#endif
