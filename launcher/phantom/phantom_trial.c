/* What a probe on a phantom card can tell, and what it cannot. */
/* SPDX-License-Identifier: MIT */
#include "launcher/phantom/phantom_trial.h"

#include "base/alloc.h"
#include "launcher/phantom/phantom_report.h"

#include <inttypes.h>
#include <stdlib.h>

/* NULL, or why "fits" would be a guess; the caller frees it. */
static char *doubt_of(const struct options_target *target)
{
	struct phantom_seen *seen = xcalloc(1, sizeof(*seen));
	char *doubt = NULL;

	if (phantom_look(target->phantom_folder, seen, NULL) == 0)
		doubt = phantom_report_doubt(seen);
	free(seen);
	return doubt;
}

char *phantom_trial_judge(const struct options_target *target,
			  struct trial *trial)
{
	char *doubt;
	char *message = NULL;

	if (target->device != DEVICE_PHANTOM)
		return NULL;
	trial->step_seconds = 0;
	trial->step_mad_seconds = 0;
	doubt = trial_fits(trial) ? doubt_of(target) : NULL;
	if (doubt)
		message = xasprintf(
			"on a phantom micro-batch %" PRId64
			" takes at least %" PRIu64 " bytes: %s; only probes "
			"on the card itself can tell whether it fits",
			trial->micro_batch, trial->peak_bytes, doubt);
	free(doubt);
	return message;
}

void phantom_trial_add_caveats(const struct options_target *target,
			       struct strlist *caveats)
{
	struct phantom_seen *seen;
	struct strbuf text = STRBUF_INIT;
	uint64_t decisions = 0;

	if (target->device != DEVICE_PHANTOM)
		return;
	seen = xcalloc(1, sizeof(*seen));
	if (phantom_look(target->phantom_folder, seen, NULL) == 0)
		decisions = seen->notes[SIM_NOTE_DECISION].count;
	free(seen);
	strbuf_addf(
		&text,
		"on a phantom %s: by real allocations, not run on the card; "
		"what its driver keeps for the process is taken to be "
		"%" PRIu64 " MiB",
		target->card.name, target->card.context_bytes >> 20);
	strlist_add(caveats, strbuf_text(&text));
	if (decisions)
		strlist_addf(caveats,
			     "%" PRIu64 " times the program asked the card "
			     "whether something holds, and was told that it "
			     "does not: what it would do else was not seen",
			     decisions);
	strbuf_release(&text);
}
