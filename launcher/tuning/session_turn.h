/* One turn of a tuning: a probe, and what follows from its outcome. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_SESSION_TURN_H
#define AUTOFIT_LAUNCHER_TUNING_SESSION_TURN_H

#include "launcher/tuning/session_internal.h"

enum session_turn session_turn_take(struct session *session,
				    const struct plan_step *step);

/* The first line of a tuning: device and limits. */
void session_turn_print_start(const struct session *session);

#endif
