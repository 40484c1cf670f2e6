/* A near record: one probe at its split tells whether it still holds. */
/* SPDX-License-Identifier: MIT */
#include "launcher/session_internal.h"

#include "base/log.h"
#include "launcher/recall.h"

#include <math.h>

/* The peak may differ by this: on a GPU, and on a CPU, where six runs of one
 * command were measured to spread by 3 to 4%. */
#define CHECK_SHARE_GPU 0.02
#define CHECK_SHARE_HOST 0.04

static const struct trial *confirmed_trial(const struct session *session,
					   int64_t micro)
{
	for (size_t i = session->notes->count; i-- > 0;) {
		const struct trial *trial = &session->notes->items[i].trial;

		if (trial->micro_batch == micro)
			return plan_is_confirmed(trial) ? trial : NULL;
	}
	return NULL;
}

/* The one probe, unless an earlier run of this tuning was cut off behind it. */
static const struct trial *probe_split(struct session *session,
				       const struct record *record)
{
	const struct plan_step step = {
		.action = PLAN_PROBE,
		.micro_batch = record->micro_batch,
		.final_accum = record->grad_accum,
		.probe_accum = record->grad_accum,
		.is_confirmation = true,
	};
	const struct trial *trial =
		confirmed_trial(session, record->micro_batch);
	enum turn turn = TURN_AGAIN;

	while (!trial && turn == TURN_AGAIN)
		turn = session_run(session, &step);
	return confirmed_trial(session, record->micro_batch);
}

static bool is_same_memory(const struct session *session,
			   const struct trial *trial)
{
	const struct record *record = &session->match->record;
	double share = session->target->device == PROBE_HOST ? CHECK_SHARE_HOST
							     : CHECK_SHARE_GPU;
	double recorded = (double)record->peak_bytes;

	return trial_fits(trial) && recorded > 0 &&
	       fabs((double)trial->peak_bytes - recorded) <= share * recorded;
}

bool session_check(struct session *session)
{
	const struct record *record = &session->match->record;
	const struct trial *trial;

	if (!recall_is_checkable(session->match, session->job))
		return false;
	trial = probe_split(session, record);
	if (session->result->message || session_must_end(session) || !trial ||
	    !is_same_memory(session, trial))
		return false;
	session_renew(session, trial);
	return true;
}
