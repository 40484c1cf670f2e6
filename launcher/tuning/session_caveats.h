/* Caveats: what an answer leaves open, in one line each. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_SESSION_CAVEATS_H
#define AUTOFIT_LAUNCHER_TUNING_SESSION_CAVEATS_H

#include "launcher/tuning/session_internal.h"

/* What its split leaves open, and the probe that it rests on: trial, or NULL.
 */
void session_caveats_add(struct session *session, const struct trial *trial);

/* The data loader of a probe gave more rows than were written, on as many ranks
 * as are known: the size may be set elsewhere. trial may be NULL. */
bool session_rows_are_more(const struct command *command,
			   const struct trial *trial);

/* Those of a near match that its check does not answer itself. */
void session_caveats_renew(struct session *session, const struct record *older,
			   const struct trial *check);

#endif
