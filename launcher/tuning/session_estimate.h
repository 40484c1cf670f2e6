/* Asks the estimator about a command: before its probes, and if none fits. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_SESSION_ESTIMATE_H
#define AUTOFIT_LAUNCHER_TUNING_SESSION_ESTIMATE_H

#include "launcher/tuning/session.h"
#include "search/problem.h"

/*
 * Of a command on a GPU whose model can be read: the bytes of problem, which
 * the search starts from, and result->estimate. Else nothing changes.
 */
void session_estimate_start(const struct session_setup *given,
			    struct search_problem *problem,
			    struct result *result);

/* Nothing fits: sets result->advice, what would save memory, most first. */
void session_estimate_advise(const struct session_setup *given,
			     struct result *result);

#endif
