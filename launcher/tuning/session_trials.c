/* The finished probes of a tuning, and what they teach beside their verdicts.
 */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/session_trials.h"

#include "base/alloc.h"
#include "base/log.h"
#include "launcher/tuning/effect/effect_check.h"
#include "probes/verdict/rejudge.h"

#include <assert.h>
#include <stdlib.h>

int session_trials_open(struct session_trials *trials,
			const struct request *request, struct error *err)
{
	const char *folder = request->paths.journals;
	int result = paths_make(folder, err);

	if (result < 0)
		return result;
	result = journal_open(&trials->journal, folder, request->identity,
			      trials->notes, err);
	if (result < 0 || !request->options->reuse.fresh ||
	    !trials->notes->count)
		return result;
	probe_notes_release(trials->notes);
	journal_finish(&trials->journal);
	return journal_open(&trials->journal, folder, request->identity,
			    trials->notes, err);
}

const struct probe_note *session_trials_add(struct session_trials *trials,
					    const struct probe_note *said)
{
	const struct trial *trial = &said->trial;
	const struct probe_note *note;
	struct error err = ERROR_INIT;

	assert(trial->micro_batch >= 1 && trial->grad_accum >= 1);
	assert(trial->verdict != VERDICT_NONE);
	probe_notes_copy(trials->notes, said);
	note = &trials->notes->items[trials->notes->count - 1];
	/* A probe without verdict is nothing to resume from. */
	if (trial->verdict != VERDICT_DISTURBED &&
	    trial->verdict != VERDICT_FAILED &&
	    journal_add(&trials->journal, note, &err) < 0)
		log_warning("%s", err.message);
	return note;
}

/* A line that says out of memory, where neither driver nor torch saw that. */
static const struct signature *survived_line(const struct evidence *evidence)
{
	bool ended_well = evidence->end.ended && evidence->end.wait_status == 0;

	if (evidence->memory.ooms ||
	    evidence->gpu.allocations.end >= ALLOCATIONS_SURVIVED)
		return NULL;
	return ended_well || evidence->end.stopped == STOP_SIGNATURE
		       ? evidence->output.memory_line
		       : NULL;
}

void session_trials_learn(struct session_trials *trials,
			  const struct trial *trial,
			  const struct evidence *evidence)
{
	const struct signature *line =
		evidence ? survived_line(evidence) : NULL;

	if (trial_fits(trial) && trials->first_fit_seconds <= 0) {
		trials->first_fit_seconds = trial->seconds;
		trials->first_fit_samples =
			(double)trial->micro_batch * (double)trial->grad_accum;
	}
	if (line && trial_is_out_of_memory(trial) &&
	    (!trials->doubtful_line ||
	     trials->doubtful_micro > trial->micro_batch)) {
		trials->doubtful_line = line;
		trials->doubtful_micro = trial->micro_batch;
	}
}

bool session_trials_doubt_words(struct session_trials *trials)
{
	const struct trial_limits forgotten = { .words_count_no_more = true };
	struct probe_notes *notes = trials->notes;
	int64_t smallest = INT64_MAX;

	for (size_t i = 0; i < notes->count; i++)
		if (trial_is_misfit(&notes->items[i].trial) &&
		    notes->items[i].trial.micro_batch < smallest)
			smallest = notes->items[i].trial.micro_batch;
	if (trials->usual_line || !trials->doubtful_line ||
	    trials->doubtful_micro != smallest)
		return false;
	trials->usual_line = trials->doubtful_line;
	assert(smallest < INT64_MAX && "the line is of a misfit");
	for (size_t i = 0; i < notes->count; i++)
		(void)trial_rejudge(&notes->items[i].trial, &forgotten);
	return true;
}

size_t session_trials_disturbed(const struct session_trials *trials,
				int64_t micro)
{
	const struct probe_notes *notes = trials->notes;
	size_t times = 0;

	for (size_t i = 0; i < notes->count; i++)
		times += notes->items[i].trial.micro_batch == micro &&
			 notes->items[i].trial.verdict == VERDICT_DISTURBED;
	return times;
}

bool session_trials_outlive(const struct session_trials *trials,
			    const struct trial *failure)
{
	const struct probe_notes *notes = trials->notes;

	assert(failure->verdict >= VERDICT_THRASHES);
	for (size_t i = 0; i < notes->count; i++) {
		const struct trial *trial = &notes->items[i].trial;

		if (trial->micro_batch < failure->micro_batch &&
		    trial_fits(trial) &&
		    (trial_is_confirmed(trial) ||
		     trial_rounds(trial) > trial_rounds(failure)))
			return true;
	}
	return false;
}

void session_trials_settle_failures(struct session_trials *trials)
{
	struct probe_notes *notes = trials->notes;

	for (size_t i = 0; i < notes->count; i++) {
		struct trial *trial = &notes->items[i].trial;

		if (trial->verdict == VERDICT_FAILED &&
		    session_trials_outlive(trials, trial))
			trial->verdict = VERDICT_TOO_BIG;
	}
}

bool session_trials_doubt_output(struct session_trials *trials)
{
	struct probe_notes *notes = trials->notes;
	bool found = false;

	for (size_t i = 0; i < notes->count; i++)
		if (notes->items[i].trial.ran_to_end)
			return false;
	for (size_t i = 0; i < notes->count; i++) {
		struct probe_note *note = &notes->items[i];

		if (!effect_check_rests_on_output(&note->trial))
			continue;
		note->trial.verdict = VERDICT_NONE;
		free(note->why);
		note->why = xstrdup("its steps were read from the output, and "
				    "took no notice of the size");
		found = true;
	}
	/* Nor is it known any more how long a good probe takes. */
	trials->first_fit_seconds = 0;
	return found;
}

bool session_trials_has(const struct session_trials *trials,
			int64_t micro_batch, int64_t grad_accum)
{
	for (size_t i = 0; i < trials->notes->count; i++) {
		const struct trial *trial = &trials->notes->items[i].trial;

		if (trial->micro_batch == micro_batch &&
		    (!grad_accum || trial->grad_accum == grad_accum))
			return true;
	}
	return false;
}

int64_t session_trials_largest_fit(const struct session_trials *trials)
{
	const struct probe_notes *notes = trials->notes;
	int64_t largest = 0;

	for (size_t i = 0; i < notes->count; i++)
		if (trial_fits(&notes->items[i].trial) &&
		    notes->items[i].trial.micro_batch > largest)
			largest = notes->items[i].trial.micro_batch;
	return largest;
}

const struct trial *
session_trials_evaluation(const struct session_trials *trials, int64_t micro)
{
	for (size_t i = trials->notes->count; i-- > 0;) {
		const struct trial *trial = &trials->notes->items[i].trial;

		if (trial_is_out_of_memory(trial) &&
		    trial->phase == PHASE_EVAL && trial->micro_batch != micro)
			return trial;
	}
	return NULL;
}

const struct trial *session_trials_alike(const struct session_trials *trials)
{
	const struct probe_notes *notes = trials->notes;
	const struct trial *found = NULL;

	for (size_t i = 0; i < notes->count; i++) {
		const struct trial *trial = &notes->items[i].trial;

		if (trial->steps > 1 && !trial_fits(trial))
			return NULL;
		if (trial->peak_varying || trial->step_growth_bytes)
			return NULL;
		if (trial->alike_after && trial_fits(trial) &&
		    trial->seen_accum == trial->grad_accum &&
		    (!found || trial->alike_after >= found->alike_after))
			found = trial;
	}
	return found;
}

enum steps_source
session_trials_smaller_steps(const struct session_trials *trials, int64_t micro)
{
	enum steps_source found = STEPS_NONE;

	for (size_t i = 0; i < trials->notes->count; i++) {
		const struct trial *trial = &trials->notes->items[i].trial;

		if (trial->micro_batch >= micro || !trial->steps)
			continue;
		if (trial->steps_source == STEPS_HOOK)
			return STEPS_HOOK;
		found = STEPS_LOG;
	}
	return found;
}

struct proved_sizes session_trials_proved(const struct session_trials *trials,
					  const struct batch *own)
{
	struct proved_sizes proved = { false, false };

	for (size_t i = 0; i < trials->notes->count; i++) {
		const struct trial *trial = &trials->notes->items[i].trial;

		if (!trial_fits(trial))
			continue;
		proved.micro |= trial->micro_batch != own->micro_batch &&
				(trial->input_rows == trial->micro_batch ||
				 trial->input_columns == trial->micro_batch);
		proved.accum |= trial->grad_accum != own->grad_accum &&
				trial->seen_accum == trial->grad_accum;
	}
	return proved;
}
