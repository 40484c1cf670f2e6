/* One turn of a tuning: a probe, or with --parallel several side by side. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_SESSION_LANES_H
#define AUTOFIT_LAUNCHER_TUNING_SESSION_LANES_H

#include "launcher/tuning/session_internal.h"

/* Runs the step's probe alone, and concludes. */
enum session_turn session_lanes_take_one(struct session *session,
					 const struct plan_step *step);

/*
 * The same; with --parallel, once a probe has shown that the command uses one
 * GPU, and where the step is the plan's own, beside it what may be asked after
 * it, each on an idle GPU of the same model.
 */
enum session_turn session_lanes_take(struct session *session,
				     const struct plan_step *step);

#endif
