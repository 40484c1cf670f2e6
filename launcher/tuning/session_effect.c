/* A size counts only once it was seen to take effect: see effect_check.h. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/session_effect.h"

#include <stdlib.h>

/* No more multiples of a size are tried for one that is legal. */
#define MULTIPLES_MAX 4096

/* The largest size that may be started, see problem.max_growth. */
static int64_t largest_reach(const struct session *session)
{
	const struct search_problem *problem = &session->plan.problem;
	double most = problem->max_growth *
		      (double)session_trials_largest_fit(&session->trials);

	return problem->max_growth > 0 && most < (double)problem->max_micro
		       ? (int64_t)most
		       : problem->max_micro;
}

/* A witness points into trials, which the caller frees. */
static struct effect_check judge_effect(const struct session *session,
					struct trial **trials)
{
	const struct command *command = &session->given.request->command;
	const struct effect_check_facts facts = {
		.own_micro = command->micro_batch,
		.own_accum = command->grad_accum,
		.world_size = command->world_size,
		.max_micro = largest_reach(session),
	};
	const struct probe_notes *notes = session->trials.notes;

	*trials = probe_notes_trials(notes);
	return effect_check_judge(&facts, *trials, notes->count);
}

enum effect_check_state session_effect_state(const struct session *session,
					     struct strbuf *words)
{
	const struct knob *knobs = session->given.request->command.knobs;
	const struct knob *knob = knobs[KNOB_MICRO].form == KNOB_ABSENT
					  ? &knobs[KNOB_GLOBAL]
					  : &knobs[KNOB_MICRO];
	struct trial *trials;
	struct effect_check check = judge_effect(session, &trials);

	if (words)
		effect_check_words(&check, trials, session->trials.notes->count,
				   knob->name, words);
	free(trials);
	return check.state;
}

static bool is_own_split(const struct session *session,
			 const struct plan_step *step)
{
	const struct command *command = &session->given.request->command;

	return step->micro_batch == command->micro_batch &&
	       step->final_accum == command->grad_accum;
}

bool session_effect_allows(const struct session *session,
			   const struct plan_step *step)
{
	return is_own_split(session, step) ||
	       session_effect_state(session, NULL) == EFFECT_SHOWN;
}

/* The first size from this one on that the framework takes; 0: none. */
static int64_t legal_size(const struct plan *plan, int64_t micro, int64_t most)
{
	int64_t size = problem_ceiling(&plan->problem, micro);
	int64_t divides = plan->constraints.micro_divides;

	for (int i = 0; i < MULTIPLES_MAX && size && size <= most; i++) {
		if (divides <= 0 || divides % size == 0)
			return size;
		size = problem_ceiling(&plan->problem, size + 1);
	}
	return 0;
}

void session_effect_ask(struct session *session, struct plan_step *step)
{
	const struct plan *plan = &session->plan;
	const struct probe_notes *notes = session->trials.notes;
	struct effect_check check;
	struct trial *trials;
	int64_t micro;

	session->effect_check_micro = 0;
	if (step->action == PLAN_PROBE ||
	    !session_trials_largest_fit(&session->trials) ||
	    (step->action == PLAN_DONE && is_own_split(session, step)))
		return;
	check = judge_effect(session, &trials);
	free(trials);
	if (check.state != EFFECT_UNKNOWN || !check.next_micro)
		return;
	micro = legal_size(plan, check.next_micro, largest_reach(session));
	if (!micro)
		return;
	for (size_t i = 0; i < notes->count; i++)
		if (notes->items[i].trial.micro_batch == micro &&
		    notes->items[i].trial.verdict != VERDICT_DISTURBED)
			return;
	*step = plan_probe(plan, micro);
	session->effect_check_micro = micro;
}
