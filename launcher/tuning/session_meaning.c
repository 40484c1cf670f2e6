/* What a probe shows of the meaning of the command's numbers. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/session_meaning.h"

#include "base/strbuf.h"
#include "launcher/options/exitcode.h"
#include "launcher/request/opened_config.h"
#include "launcher/tuning/effect/meaning.h"
#include "launcher/tuning/session_answer.h"

#include <assert.h>
#include <string.h>

/* What a failure shows: with another value of a guessed number, that it means
 * something else. */
static struct size_meaning meaning_of_failure(const struct session *session,
					      const struct trial *trial)
{
	const struct command *command = &session->given.request->command;
	struct size_meaning meaning = { .state = MEANING_UNSEEN };
	struct proved_sizes proved =
		session_trials_proved(&session->trials, &command->batch);

	if (command->accum_guess == GUESS_MADE && !proved.accum &&
	    trial->grad_accum != command->batch.grad_accum)
		meaning.seen.accum_guess = GUESS_FAILED;
	else if (command->micro_guess == GUESS_MADE && !proved.micro &&
		 trial->micro_batch != command->batch.micro_batch)
		meaning.seen.micro_guess = GUESS_FAILED;
	else
		return meaning;
	meaning.state = MEANING_OTHER;
	return meaning;
}

/* A default was taken as it was seen, which is not so after all. */
static bool is_as_read_first(const struct knob *knob, int64_t seen)
{
	return knob->as_read && knob->as_read == seen;
}

/* What another size has shown speaks against what this one seems to say. */
static bool denies(const struct trial *other, const struct trial *trial,
		   const struct command *command, struct size_meaning meaning)
{
	const struct batch *own = &command->batch;

	/* It made what it was given: then the default does so, too. */
	if (is_as_read_first(&command->knobs[KNOB_MICRO],
			     meaning.seen.micro_default))
		return other->micro_batch != own->micro_batch &&
		       other->input_rows == other->micro_batch;
	if (is_as_read_first(&command->knobs[KNOB_ACCUM],
			     meaning.seen.accum_default))
		return other->grad_accum != own->grad_accum &&
		       other->seen_accum == other->grad_accum;
	return meaning.state == MEANING_OTHER
		       ? meaning_is_proved(other, trial)
		       : meaning.nonsense == NONSENSE_OTHER &&
				 meaning_passes_follow(other, trial);
}

/* Does any size that fits deny it? */
static bool others_deny(const struct session *session,
			const struct trial *trial, struct size_meaning meaning)
{
	const struct command *command = &session->given.request->command;
	const struct probe_notes *notes = session->trials.notes;

	if (command->micro_guess == GUESS_MADE ||
	    command->accum_guess == GUESS_MADE)
		return false;
	for (size_t i = 0; i < notes->count; i++)
		if (trial_fits(&notes->items[i].trial) &&
		    denies(&notes->items[i].trial, trial, command, meaning))
			return true;
	return false;
}

static bool says_otherwise(struct size_meaning meaning)
{
	return meaning.state == MEANING_OTHER ||
	       meaning.state == MEANING_NO_SENSE;
}

/* What a probe shows of the meaning. */
static struct size_meaning meaning_of(const struct session *session,
				      const struct batch *written,
				      const struct trial *trial)
{
	const struct command *command = &session->given.request->command;

	if (trial_fits(trial) ||
	    (command_rows_are_open(command) && trial_is_misfit(trial))) {
		struct size_meaning meaning =
			meaning_judge(command, written, trial);

		if (says_otherwise(meaning) &&
		    others_deny(session, trial, meaning))
			meaning =
				(struct size_meaning){ .state =
							       MEANING_UNSEEN };
		return meaning;
	}
	if (trial->verdict == VERDICT_FAILED ||
	    trial->verdict == VERDICT_TOO_BIG)
		return meaning_of_failure(session, trial);
	return (struct size_meaning){ .state = MEANING_UNSEEN };
}

static struct batch written_of(const struct session *session,
			       const struct trial *trial)
{
	return (struct batch){
		.micro_batch = trial->micro_batch,
		.grad_accum = trial->grad_accum,
		.world_size = session->given.request->command.batch.world_size,
	};
}

bool session_meaning_differs(const struct session *session,
			     const struct trial *trial)
{
	struct batch written = written_of(session, trial);

	return says_otherwise(meaning_of(session, &written, trial));
}

/* A name in a config file that was opened says more than a value alone. */
static void take_opened_config(const struct session *session,
			       const struct trial *trial,
			       const struct strlist *opened,
			       struct size_meaning *meaning)
{
	struct size_meaning found = { .state = MEANING_OTHER };

	/* Where it was read already, it did not help. */
	if (command_rows_are_open(&session->given.request->command) &&
	    opened_config_find(
		    opened, trial->input_rows,
		    count_product(trial->input_rows, trial->seen_accum),
		    &found.seen) &&
	    strcmp(found.seen.config_file,
		   session->given.request->seen.config_file) != 0)
		*meaning = found;
}

bool session_meaning_ends(struct session *session, const struct trial *trial,
			  const struct strlist *opened)
{
	const struct command *command = &session->given.request->command;
	const struct batch written = written_of(session, trial);
	struct strbuf words = STRBUF_INIT;
	struct size_meaning meaning = meaning_of(session, &written, trial);

	take_opened_config(session, trial, opened, &meaning);
	if (!says_otherwise(meaning))
		return false;
	assert(!session->result->message && "an end is said once");
	meaning_add_words(&words, command, &meaning, &written, trial);
	session->result->is_misread = meaning.state == MEANING_OTHER;
	session->result->seen = session->given.request->seen;
	seen_meaning_add(&session->result->seen, &meaning.seen);
	journal_finish(&session->trials.journal);
	(void)session_end(session, OUTCOME_NOT_RECOGNISED, EXIT_NOT_RECOGNISED,
			  strbuf_detach(&words));
	return true;
}

void session_meaning_take_earlier(struct session *session)
{
	const struct command *command = &session->given.request->command;
	const struct probe_notes *earlier = &session->result->earlier.as_given;
	const struct batch *own = &command->batch;
	struct probe_note note;

	if (!earlier->count || session->given.target->may_be_host ||
	    own->micro_batch < 1 || own->grad_accum < 1 ||
	    session_trials_has(&session->trials, own->micro_batch,
			       own->grad_accum))
		return;
	note = earlier->items[0];
	note.trial.micro_batch = own->micro_batch;
	note.trial.grad_accum = own->grad_accum;
	/* It was measured within a step of so many micro-steps. */
	note.trial.pass_seconds = 0;
	if (!says_otherwise(meaning_judge(command, own, &note.trial)))
		(void)session_trials_add(&session->trials, &note);
}
