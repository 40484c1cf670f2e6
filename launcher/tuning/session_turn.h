/* One turn of a tuning: a probe, or several, and what follows from it. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_SESSION_TURN_H
#define AUTOFIT_LAUNCHER_TUNING_SESSION_TURN_H

#include "launcher/tuning/session_internal.h"
#include "launcher/tuning/session_probe.h"

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

/* A probe is over: limits, verdict, note; and what is to be done next. */
enum session_turn session_turn_conclude(struct session *session,
					struct probe_report *report);

/* It could not be run to its end, by autofit's own failure: SESSION_END. */
enum session_turn session_turn_fail(struct session *session,
				    const struct probe_report *report,
				    const struct error *err);

/* It wrote where a probe must not, or called what works elsewhere: the result
 * says so, and all is over. */
bool session_turn_has_left(struct session *session,
			   const struct probe_report *report);

/*
 * True: the rows and passes that were seen say that a number means something
 * else than it was taken for, or nothing that makes sense, and the session has
 * ended by that. What was seen is in its result, for the next reading.
 */
bool session_meaning_ends(struct session *session, const struct trial *trial);

/* The first line of a tuning: device and limits. */
void session_turn_print_start(const struct session *session);

#endif
