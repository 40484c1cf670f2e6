/* What a record of a similar command gives a tuning: a start, or its split. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/session_record.h"

#include "configs/records/record_split.h"
#include "launcher/records/record_answer.h"
#include "launcher/tuning/session_answer.h"
#include "launcher/tuning/session_lanes.h"

#include <assert.h>
#include <math.h>

/* In proportion to its size a recorded misfit must have come this near to the
 * limit. */
#define HINT_MISFIT_SHARE 0.5
/* The peak of a near record may differ by this: on a GPU, and on a CPU, where
 * six runs of one command were measured to spread by 3 to 4%. */
#define CHECK_SHARE_GPU 0.02
#define CHECK_SHARE_HOST 0.04

void session_record_start(struct session *session)
{
	const struct record *hint = &session->given.match->record;
	uint64_t limit = session->given.target->limit_bytes;
	struct search_problem *problem = &session->plan.problem;
	const struct trial *trial;

	assert(session->given.match->grade != RECORD_NONE);
	problem->estimated_bytes_per_sample = 0;
	/* With less room than then: the largest that was seen to fit in it. */
	if (hint->peak_bytes > limit) {
		trial = record_split_find(hint, hint->batch.micro_batch, limit);
		if (trial)
			problem->start = trial->micro_batch;
		return;
	}
	problem->start = hint->batch.micro_batch;
	session->hint_peak_bytes = hint->peak_bytes;
	/* What was too large then is so now, unless there is more room, or it
	 * was too large for another reason than this limit. */
	if (hint->limit_bytes >= limit &&
	    hint->smallest_misfit > hint->batch.micro_batch &&
	    (double)hint->peak_bytes * (double)hint->smallest_misfit /
			    (double)hint->batch.micro_batch >=
		    (double)limit * HINT_MISFIT_SHARE)
		problem->recorded_misfit = hint->smallest_misfit;
}

static bool is_same_memory(const struct session *session,
			   const struct trial *trial)
{
	const struct record *record = &session->given.match->record;
	double share = session->given.target->device == PROBE_HOST
			       ? CHECK_SHARE_HOST
			       : CHECK_SHARE_GPU;
	double recorded = (double)record->peak_bytes;

	/* Seen less exactly there is more headroom: another largest size. */
	return trial->coverage >= record->coverage && trial_fits(trial) &&
	       trial_is_confirmed(trial) && recorded > 0 &&
	       fabs((double)trial->peak_bytes - recorded) <= share * recorded;
}

bool session_record_can_check(const struct session_setup *given)
{
	return record_answer_is_checkable(given->match, given->request) &&
	       given->match->record.peak_bytes <= given->target->limit_bytes;
}

struct plan_step session_record_step(const struct record *record)
{
	return (struct plan_step){
		.action = PLAN_PROBE,
		.micro_batch = record->batch.micro_batch,
		.final_accum = record->batch.grad_accum,
		.probe_accum = record->batch.grad_accum,
		.is_confirmation = true,
	};
}

bool session_record_check(struct session *session)
{
	const struct session_setup *given = &session->given;
	const struct probe_notes *notes = session->trials.notes;
	const struct plan_step step =
		session_record_step(&given->match->record);
	const struct trial *trial;
	enum session_turn turn = SESSION_AGAIN;

	if (!session_record_can_check(given))
		return false;
	assert(step.micro_batch >= 1 && step.probe_accum >= 1);
	trial = probe_notes_last(notes, step.micro_batch);
	while (turn == SESSION_AGAIN &&
	       !session_loop_must_end(&session->loop) &&
	       !(trial &&
		 (trial_is_confirmed(trial) || trial_is_misfit(trial)))) {
		turn = session_lanes_take_one(session, &step);
		trial = probe_notes_last(notes, step.micro_batch);
	}
	if (session->result->message || session_loop_must_end(&session->loop) ||
	    !trial || !is_same_memory(session, trial))
		return false;
	session_answer_renew(session, trial);
	return true;
}
