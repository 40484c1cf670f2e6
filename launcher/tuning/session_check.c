/* A near record: one probe at its split tells whether it still holds. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/session_internal.h"

#include "launcher/records/record_answer.h"

#include <math.h>

/* The peak may differ by this: on a GPU, and on a CPU, where six runs of one
 * command were measured to spread by 3 to 4%. */
#define CHECK_SHARE_GPU 0.02
#define CHECK_SHARE_HOST 0.04

static const struct trial *last_trial(const struct session *session,
				      int64_t micro)
{
	for (size_t i = session->notes->count; i-- > 0;)
		if (session->notes->items[i].trial.micro_batch == micro)
			return &session->notes->items[i].trial;
	return NULL;
}

/* Finished, one way or the other: not to be repeated. */
static bool is_answer(const struct trial *trial)
{
	return trial && (trial_is_confirmed(trial) || trial_is_misfit(trial));
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
	enum turn turn = TURN_AGAIN;

	while (turn == TURN_AGAIN && !session_must_end(session) &&
	       !is_answer(last_trial(session, record->micro_batch)))
		turn = session_run(session, &step);
	return last_trial(session, record->micro_batch);
}

static bool is_same_memory(const struct session *session,
			   const struct trial *trial)
{
	const struct record *record = &session->match->record;
	double share = session->target->device == PROBE_HOST ? CHECK_SHARE_HOST
							     : CHECK_SHARE_GPU;
	double recorded = (double)record->peak_bytes;

	/* Seen less exactly there is more headroom: another largest size. */
	if (trial->coverage < record->coverage)
		return false;
	return trial_fits(trial) && trial_is_confirmed(trial) && recorded > 0 &&
	       fabs((double)trial->peak_bytes - recorded) <= share * recorded;
}

bool session_check(struct session *session)
{
	const struct record *record = &session->match->record;
	const struct trial *trial;

	if (!record_answer_is_checkable(session->match, session->request) ||
	    record->peak_bytes > session->target->limit_bytes)
		return false;
	trial = probe_split(session, record);
	if (session->result->message || session_must_end(session) || !trial ||
	    !is_same_memory(session, trial))
		return false;
	session_renew(session, trial);
	return true;
}
