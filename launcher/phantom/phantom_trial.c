/* What a probe on a phantom card can tell, and what it cannot. */
/* SPDX-License-Identifier: MIT */
#include "launcher/phantom/phantom_trial.h"

#include "base/alloc.h"
#include "base/units.h"
#include "launcher/phantom/phantom_report.h"

#include <inttypes.h>
#include <stdlib.h>

static bool is_failed(const struct probe_outcome *outcome)
{
	const struct evidence_end *end = &outcome->evidence.end;

	return end->ended && end->wait_status != 0;
}

/* With PyTorch, an error before it came to the card is the program's own. */
static bool is_own_failure(const struct phantom_seen *seen, bool failed)
{
	return failed && seen->notes[SIM_NOTE_PYTORCH].count &&
	       !seen->notes[SIM_NOTE_REFUSED].count &&
	       !seen->notes[SIM_NOTE_FOREIGN].count;
}

/* With what the command said itself, if it ended with an error. Takes why. */
static char *with_own_words(char *why, const struct probe_outcome *outcome)
{
	char *message;

	if (!why || !is_failed(outcome) || !*outcome->first_error)
		return why;
	message = xasprintf("%s\n%s", why, outcome->first_error);
	free(why);
	return message;
}

static char *refusal_of(const struct phantom_seen *seen,
			const struct probe_outcome *outcome)
{
	const struct evidence_end *end = &outcome->evidence.end;
	bool failed = is_failed(outcome);

	if (end->isolation_errno || end->exec_errno ||
	    outcome->trial.verdict == VERDICT_DISTURBED ||
	    is_own_failure(seen, failed))
		return NULL;
	return phantom_report_refusal(seen, failed);
}

/* NULL: a misfit is one whatever the values are. */
static char *doubt_of(const struct phantom_seen *seen,
		      const struct probe_outcome *outcome)
{
	const struct trial *trial = &outcome->trial;
	bool is_misled = trial->verdict == VERDICT_FAILED && is_failed(outcome);
	char *doubt = is_misled || trial_fits(trial)
			      ? phantom_report_doubt(seen)
			      : NULL;
	char peak[BYTES_TEXT_MAX];
	char *message;

	if (!doubt)
		return NULL;
	message = is_misled
			  ? xasprintf("the command fails on a phantom, and it "
				      "may do so only there: %s; only probes "
				      "on the card itself can tell",
				      doubt)
			  : xasprintf("on a phantom micro-batch %" PRId64
				      " takes at least %s: %s: a real card "
				      "needs at least this; only probes on the "
				      "card itself can tell whether it fits",
				      trial->micro_batch,
				      bytes_format(peak, trial->peak_bytes),
				      doubt);
	free(doubt);
	return message;
}

char *phantom_trial_judge(const struct options_target *target,
			  struct probe_outcome *outcome)
{
	struct phantom_seen *seen;
	char *message;

	if (target->device != DEVICE_PHANTOM)
		return NULL;
	outcome->trial.step_seconds = 0;
	outcome->trial.step_mad_seconds = 0;
	/* How often it frees and asks again, and when, moves with every step
	 * and every card. */
	if (outcome->trial.verdict == VERDICT_FITS_BARELY)
		outcome->trial.verdict = VERDICT_THRASHES;
	seen = xcalloc(1, sizeof(*seen));
	(void)phantom_look(target->phantom_folder, seen, NULL);
	message = refusal_of(seen, outcome);
	if (!message)
		message = doubt_of(seen, outcome);
	free(seen);
	return with_own_words(message, outcome);
}

void phantom_trial_add_caveats(const struct options_target *target,
			       struct strlist *caveats)
{
	struct phantom_seen *seen;
	const char *more;

	if (target->device != DEVICE_PHANTOM)
		return;
	seen = xcalloc(1, sizeof(*seen));
	(void)phantom_look(target->phantom_folder, seen, NULL);
	more = phantom_report_more(seen);
	free(seen);
	strlist_addf(caveats,
		     "on a phantom %s: by real allocations, not run on the "
		     "card; what its driver keeps for the process is taken to "
		     "be %" PRIu64 " MiB",
		     target->card.name, target->card.context_bytes >> 20);
	if (more)
		strlist_add(caveats, more);
}
