/* Misfits that are not the training's: of its evaluation, or by mere words. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/session_internal.h"

#include "base/alloc.h"
#include "launcher/options/exitcode.h"

#include <string.h>

/* "--per_device_eval_batch_size" and its like. */
static bool names_evaluation_batch(const char *name)
{
	return name[0] == '-' && strstr(name, "batch") &&
	       (strstr(name, "eval") || strstr(name, "valid") ||
		strstr(name, "test"));
}

/* As the user writes it, else as the framework calls it; NULL. */
static const char *evaluation_flag(const struct command *command)
{
	const struct strlist *lists[] = { &command->argv,
					  &command->preset->decoys };

	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < lists[i]->count; j++)
			if (names_evaluation_batch(lists[i]->items[j]))
				return lists[i]->items[j];
	return NULL;
}

/* An evaluation needs the same whatever the training's size. */
bool session_evaluation_is_too_big(struct session *session,
				   const struct trial *trial)
{
	const char *flag = evaluation_flag(&session->request->command);
	const struct trial *other = NULL;

	for (size_t i = 0; i < session->notes->count; i++) {
		const struct trial *before = &session->notes->items[i].trial;

		if (trial_is_out_of_memory(before) &&
		    before->phase == PHASE_EVAL &&
		    before->micro_batch != trial->micro_batch)
			other = before;
	}
	if (!trial_is_out_of_memory(trial) || trial->phase != PHASE_EVAL ||
	    !other)
		return false;
	session_end(session, OUTCOME_NOTHING_FITS, EXIT_NOTHING_FITS,
		    xasprintf("memory ran out in the evaluation, with "
			      "micro-batch %lld and %lld alike: it is the "
			      "evaluation that does not fit; lower %.*s",
			      (long long)other->micro_batch,
			      (long long)trial->micro_batch,
			      flag ? (int)strcspn(flag, "=") : 100,
			      flag ? flag : "its batch size"));
	return true;
}

void session_note_words(struct session *session,
			const struct probe_report *report)
{
	const struct trial *trial = &report->trial;

	if (!report->survived_line || !trial_is_out_of_memory(trial) ||
	    (session->doubtful_line &&
	     session->doubtful_micro <= trial->micro_batch))
		return;
	session->doubtful_line = report->survived_line;
	session->doubtful_micro = trial->micro_batch;
}

/*
 * The smallest size printed the line as well, and lived: the program may say
 * that whatever happens. Then the words alone are no evidence any more.
 */
bool session_doubts_words(struct session *session)
{
	const struct trial_limits forgotten = { .words_count_no_more = true };
	int64_t smallest = INT64_MAX;

	for (size_t i = 0; i < session->notes->count; i++) {
		const struct trial *trial = &session->notes->items[i].trial;

		if (trial_is_misfit(trial) && trial->micro_batch < smallest)
			smallest = trial->micro_batch;
	}
	if (session->usual_line || !session->doubtful_line ||
	    session->doubtful_micro != smallest)
		return false;
	session->usual_line = session->doubtful_line;
	for (size_t i = 0; i < session->notes->count; i++)
		(void)trial_rejudge(&session->notes->items[i].trial,
				    &forgotten);
	return true;
}
