/* What the estimator says of a command: before its probes, and if none fits. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_SESSION_ESTIMATE_H
#define AUTOFIT_LAUNCHER_TUNING_SESSION_ESTIMATE_H

#include "launcher/report/result.h"
#include "launcher/request/memory_target.h"
#include "launcher/tuning/session.h"
#include "search/problem.h"

/*
 * Of a command on a GPU whose model can be read: the bytes of problem, which
 * the search starts from, and result->estimate. Else nothing changes. problem
 * has its limit already.
 */
void session_estimate(const struct request *request,
		      const struct memory_target *target,
		      struct search_problem *problem, struct result *result);

/* Nothing fits: sets result->advice, what would save memory, most first. */
void session_advise(const struct request *request,
		    const struct memory_target *target, struct result *result);

#endif
