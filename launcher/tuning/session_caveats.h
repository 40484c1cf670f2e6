/* Caveats: what an answer leaves open, in one line each. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_SESSION_CAVEATS_H
#define AUTOFIT_LAUNCHER_TUNING_SESSION_CAVEATS_H

#include "launcher/tuning/session_internal.h"

/* What its split leaves open, and the probe that it rests on: trial, or NULL.
 */
void session_caveats_add(struct session *session, const struct trial *trial);

/* A probe took more rows or fewer than were written: what other sizes take does
 * not follow from it. trial may be NULL. */
bool session_rows_differ(const struct command *command,
			 const struct trial *trial);

/* Those of a near match that its check does not answer itself. */
void session_caveats_renew(struct session *session, const struct record *older,
			   const struct trial *check);

#endif
