/* What a probe shows of the meaning of the command's numbers. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_SESSION_MEANING_H
#define AUTOFIT_LAUNCHER_TUNING_SESSION_MEANING_H

#include "launcher/tuning/session_internal.h"

#include <stdbool.h>

/*
 * True: the rows and passes that were seen say that a number means something
 * else than it was taken for, or nothing that makes sense, and the session has
 * ended by that. What was seen is in its result, for the next reading. opened:
 * the config files that the probe was seen to open.
 */
bool session_meaning_ends(struct session *session, const struct trial *trial,
			  const struct strlist *opened);

/* Would it end by what was seen in this trial? */
bool session_meaning_differs(const struct session *session,
			     const struct trial *trial);

/*
 * The command was read anew: a probe that ran it as it is given tells of its
 * own sizes as they are read now, and is not run again.
 */
void session_meaning_take_earlier(struct session *session);

#endif
