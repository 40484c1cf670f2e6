/* One phantom stands for many cards: the largest split on each. */
/* SPDX-License-Identifier: MIT */
#include "launcher/options/exitcode.h"
#include "launcher/tuning/session_answer.h"
#include "launcher/tuning/session_limits.h"

#include "base/alloc.h"

#include <assert.h>

/* Of session_survey(). */
struct card_list {
	struct session_card *cards;
	size_t count;
};

static void take_card(struct session *session, const struct session_card *card)
{
	memory_target_stand_for(session->given.target,
				session->given.request->options,
				card->usable_bytes, card->more_bytes);
	assert(session->given.target->is_phantom);
	session_limits_set(session);
	session_limits_rejudge_all(session);
}

/* On this card; false: the session is at its end. */
static bool survey_card(struct session *session, struct session_card *card)
{
	const struct memory_target *target = session->given.target;
	struct plan_step step = session_run_all(session);

	if (session->result->message || session_loop_must_end(&session->loop) ||
	    step.action == PLAN_PROBE)
		return false;
	if (step.action == PLAN_DONE && !session_is_own(session, &step) &&
	    session_effect_check(session, NULL).state != EFFECT_SHOWN) {
		(void)session_end_without_effect(session);
		return false;
	}
	card->step = step;
	card->headroom_bytes = target->headroom_bytes;
	card->limit_bytes =
		(uint64_t)((int64_t)target->limit_bytes + card->more_bytes);
	if (step.action == PLAN_DONE)
		card->peak_bytes = probe_notes_last(session->trials.notes,
						    step.micro_batch)
					   ->peak_bytes;
	return true;
}

static void survey_cards(struct session *session, void *context)
{
	struct card_list *survey = context;
	bool goes_on = true;

	for (size_t i = 0; i < survey->count && goes_on; i++) {
		take_card(session, &survey->cards[i]);
		goes_on = survey_card(session, &survey->cards[i]);
	}
	if (session_loop_must_end(&session->loop) && !session->result->message)
		(void)session_end(session, OUTCOME_TIME_LIMIT, EXIT_TIME_LIMIT,
				  xstrdup("--time-limit or --max-probes came "
					  "before the last card"));
	journal_finish(&session->trials.journal);
}

void session_survey(const struct session_setup *setup, struct result *result,
		    struct session_card *cards, size_t count)
{
	struct session session = session_of(setup, result);
	struct card_list survey = { cards, count };

	session.confirms_all = true;
	session.phantom_is_settled = true;
	session_run(&session, survey_cards, &survey);
}
