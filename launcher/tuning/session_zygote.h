/* Is a probe to be forked from the zygote, or started afresh? */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_SESSION_ZYGOTE_H
#define AUTOFIT_LAUNCHER_TUNING_SESSION_ZYGOTE_H

#include "launcher/tuning/session_internal.h"
#include "launcher/tuning/setup/probe_setup.h"

/*
 * The accumulation that a probe is to have: as planned or, where it will be
 * forked, the least that shows its memory. A fork confirms nothing, so that it
 * need not make whole steps. is_beside: on another GPU than the command's own.
 */
int64_t session_zygote_accum(const struct session *session,
			     const struct plan_step *step, bool is_beside);

/*
 * An answer is confirmed by a start of its own, and a probe that may be it runs
 * on as its confirmation. So what may be the answer is forked only where that
 * is in doubt, and by a zygote that is there already. NULL: a fresh start.
 */
struct zygote *session_zygote_for(struct session *session,
				  const struct plan_step *step,
				  const struct probe_setup *setup);

#endif
