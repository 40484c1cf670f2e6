/* A probe whose command failed: whose failure that is, and what follows. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_SESSION_FAILURE_H
#define AUTOFIT_LAUNCHER_TUNING_SESSION_FAILURE_H

#include "launcher/tuning/session_internal.h"
#include "launcher/tuning/session_probe.h"

/*
 * Before the trial is noted: a failure by what autofit had added is marked as
 * such, and one of a larger size than what fits becomes the end of the climb.
 */
void session_failure_place(struct session *session,
			   struct probe_report *report);

/* After it: the command's own failure ends all, with its words. */
enum session_turn session_failure_follow(struct session *session,
					 const struct probe_report *report);

#endif
