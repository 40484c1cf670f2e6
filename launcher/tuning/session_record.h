/* What a record of a similar command gives a tuning: a start, or its split. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_SESSION_RECORD_H
#define AUTOFIT_LAUNCHER_TUNING_SESSION_RECORD_H

#include "launcher/tuning/session_internal.h"

#include <stdbool.h>

/* A record of a similar command knows better than the estimate. */
void session_record_start(struct session *session);

/* A near record has a split that one probe may confirm. */
bool session_record_can_check(const struct session_setup *given);

/* That probe. */
struct plan_step session_record_step(const struct record *record);

/*
 * One probe at the split of a near record, unless an earlier run of this tuning
 * was cut off behind it. True: the answer is renewed. False: its probe is a
 * trial like any, or the session must end.
 */
bool session_record_check(struct session *session);

#endif
