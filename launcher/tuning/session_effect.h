/* A size counts only once it was seen to take effect: see effect_check.h. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_SESSION_EFFECT_H
#define AUTOFIT_LAUNCHER_TUNING_SESSION_EFFECT_H

#include "launcher/tuning/effect_check.h"
#include "launcher/tuning/session_internal.h"

/* What all trials say so far. words: why there is no answer; NULL: not asked.
 */
enum effect_check_state session_effect_state(const struct session *session,
					     struct strbuf *words);

/*
 * The plan is at its end: is a size to be probed first, to see that sizes take
 * effect at all? Then that is the step.
 */
void session_effect_ask(struct session *session, struct plan_step *step);

/* Sizes were seen to take effect, or the split is the command's own. */
bool session_effect_allows(const struct session *session,
			   const struct plan_step *step);

#endif
