/* The answer of a tuning: split, evidence, caveats, record. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_SESSION_ANSWER_H
#define AUTOFIT_LAUNCHER_TUNING_SESSION_ANSWER_H

#include "launcher/tuning/effect/effect_check.h"
#include "launcher/tuning/session_internal.h"

#include <stdbool.h>

/*
 * How it ended; message is taken. A later end replaces an earlier one. Returns
 * SESSION_END, for the caller to return.
 */
enum session_turn session_end(struct session *session, enum outcome outcome,
			      int exit_code, char *message);

/* The largest size that may be started, see problem.max_growth. */
int64_t session_largest_reach(const struct session *session);

/*
 * What all trials say so far of whether sizes take effect; without a witness.
 * words: why there is no answer; NULL: not asked.
 */
struct effect_check session_effect_check(const struct session *session,
					 struct strbuf *words);

/* The command's own sizes: nothing is written for them. */
bool session_is_own(const struct session *session,
		    const struct plan_step *step);

/* Sizes have no effect, or nothing shows it: the end, without an answer. */
enum session_turn session_end_without_effect(struct session *session);

/* The record of a near match holds for this command too: result, file. */
void session_answer_renew(struct session *session, const struct trial *check);

/* What the plan's last step and all trials mean: result, record on disk. */
void session_answer_conclude(struct session *session,
			     const struct plan_step *step);

#endif
