/* What follows from the outcome of a probe. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_SESSION_TURN_H
#define AUTOFIT_LAUNCHER_TUNING_SESSION_TURN_H

#include "launcher/tuning/session_internal.h"
#include "launcher/tuning/session_probe.h"

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

/* The first line of a tuning: device and limits. */
void session_turn_print_start(const struct session *session);

#endif
