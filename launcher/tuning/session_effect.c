/* A size counts only once it was seen to take effect: probes, and the end. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/session_internal.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "launcher/options/exitcode.h"
#include "launcher/tuning/effect_check.h"

#include <stdlib.h>

/* No more multiples of a size are tried for one that is legal. */
#define MULTIPLES_MAX 4096
/* More micro-steps show no more. */
#define SHORT_ACCUM 2

/* The trials as they were judged: a witness is one of them. */
struct findings {
	struct trial *trials;
	size_t count;
	struct effect_check check;
};

static int64_t largest_fit(const struct session *session)
{
	int64_t largest = 0;

	for (size_t i = 0; i < session->notes->count; i++) {
		const struct trial *trial = &session->notes->items[i].trial;

		if (trial_fits(trial) && trial->micro_batch > largest)
			largest = trial->micro_batch;
	}
	return largest;
}

/* The largest size that may be started, see problem.max_growth. */
static int64_t reach(const struct session *session)
{
	const struct search_problem *problem = &session->plan.problem;
	double most = problem->max_growth * (double)largest_fit(session);

	return problem->max_growth > 0 && most < (double)problem->max_micro
		       ? (int64_t)most
		       : problem->max_micro;
}

/* The caller frees the trials. */
static struct findings judge(const struct session *session)
{
	const struct command *command = &session->request->command;
	const struct effect_check_facts facts = {
		.own_micro = command->micro_batch,
		.own_accum = command->grad_accum,
		.world_size = command->world_size,
		.max_micro = reach(session),
	};
	struct findings found = {
		.trials = probe_notes_trials(session->notes),
		.count = session->notes->count,
	};

	found.check = effect_check_judge(&facts, found.trials, found.count);
	return found;
}

void session_end_idle(struct session *session)
{
	struct findings found = judge(session);
	const struct knob *knobs = session->request->command.knobs;
	const struct knob *knob = knobs[KNOB_MICRO].form == KNOB_ABSENT
					  ? &knobs[KNOB_GLOBAL]
					  : &knobs[KNOB_MICRO];
	struct strbuf text = STRBUF_INIT;

	effect_check_words(&found.check, found.trials, found.count, knob->name,
			   &text);
	free(found.trials);
	session_end(session, OUTCOME_NOT_RECOGNISED, EXIT_NOT_RECOGNISED,
		    strbuf_detach(&text));
	/* What sets the size instead may be changed in a file that no journal
	 * knows of. */
	journal_finish(&session->journal);
}

bool session_sizes_are_idle(const struct session *session)
{
	struct findings found = judge(session);

	free(found.trials);
	return found.check.state == EFFECT_CONTRADICTED ||
	       found.check.state == EFFECT_NO_EFFECT;
}

static bool is_own(const struct session *session, int64_t micro, int64_t accum)
{
	const struct command *command = &session->request->command;

	return micro == command->micro_batch && accum == command->grad_accum;
}

bool session_may_answer(const struct session *session, int64_t micro,
			int64_t accum)
{
	struct findings found = judge(session);

	free(found.trials);
	return is_own(session, micro, accum) ||
	       found.check.state == EFFECT_SHOWN;
}

static bool was_tried(const struct session *session, int64_t micro)
{
	for (size_t i = 0; i < session->notes->count; i++) {
		const struct trial *trial = &session->notes->items[i].trial;

		if (trial->micro_batch == micro &&
		    trial->verdict != VERDICT_DISTURBED)
			return true;
	}
	return false;
}

/* The first size from this one on that the framework takes; 0: none. */
static int64_t legal_size(const struct session *session, int64_t micro)
{
	const struct plan *plan = &session->plan;
	int64_t most = reach(session);
	int64_t size = problem_ceiling(&plan->problem, micro);

	for (int i = 0; i < MULTIPLES_MAX && size && size <= most; i++) {
		if (plan->micro_divides <= 0 || plan->micro_divides % size == 0)
			return size;
		size = problem_ceiling(&plan->problem, size + 1);
	}
	return 0;
}

void session_ask_canary(struct session *session, struct plan_step *step)
{
	const struct plan *plan = &session->plan;
	struct findings found;
	int64_t micro = 0;

	session->effect_check_micro = 0;
	if (step->action == PLAN_PROBE || !largest_fit(session) ||
	    (step->action == PLAN_DONE &&
	     is_own(session, step->micro_batch, step->final_accum)))
		return;
	found = judge(session);
	if (found.check.state == EFFECT_UNKNOWN && found.check.next_micro)
		micro = legal_size(session, found.check.next_micro);
	free(found.trials);
	if (!micro || was_tried(session, micro))
		return;
	*step = (struct plan_step){
		.action = PLAN_PROBE,
		.micro_batch = micro,
		.final_accum = plan_final_accum(plan, micro),
	};
	step->probe_accum =
		plan->accum_matters || step->final_accum < SHORT_ACCUM
			? step->final_accum
			: SHORT_ACCUM;
	session->effect_check_micro = micro;
}
