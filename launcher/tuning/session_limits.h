/* The limits of a tuning, and what moves them on its way. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_SESSION_LIMITS_H
#define AUTOFIT_LAUNCHER_TUNING_SESSION_LIMITS_H

#include "launcher/tuning/session_internal.h"

/* From the target into plan, result and record. */
void session_limits_set(struct session *session);

enum limit_change { LIMIT_SAME, LIMIT_MOVED };

/* trial_rejudge by the limits of now; why a confirmed fit is none, or NULL. */
const char *session_limits_rejudge(const struct session *session,
				   struct trial *trial,
				   enum limit_change change);
/* The same for all that finished, after the limit has moved. */
void session_limits_rejudge_all(struct session *session);

/* --shared: what others left since the last probe is the new bound. */
int session_limits_share_again(struct session *session, struct error *err);

/* auto: the first probe used no GPU, so this is a tuning of host memory. */
int session_limits_become_host(struct session *session, struct error *err);

/*
 * The first limit counts on exact readings. Where this trial shows that they
 * are none, the larger headroom holds for all. True: the limit has moved.
 */
bool session_limits_note_coverage(struct session *session,
				  const struct trial *trial);

#endif
