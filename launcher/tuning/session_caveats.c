/* What is to be known of the answer of a session. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/session_internal.h"

#include <string.h>

/* How much the peak is worth: at most one of these. */
static const char unseen[] =
	"the command ended before its memory was looked at: what it needs was "
	"not seen, only that it ran";
static const char a_pool[] =
	"the program divides a pool of device memory by itself, or nothing "
	"could look at it: what it needs was not seen, the sizes were found by "
	"trying";
static const char without_nvml[] =
	"NVML is not there: what the driver itself takes of device memory may "
	"be missing in the peak";
static const char sampled[] =
	"device memory was sampled from outside (a process of the command did "
	"not load autofit's library, or was too short to compare with): short "
	"peaks may have been missed";

/* How the peak of one probe grew. */
static const char varies[] = "the peak varies from step to step: the data "
			     "vary, a longer batch may need more";
static const char rose[] = "the peak still rose at the end of the confirmation";

static bool is_of_coverage(const char *caveat)
{
	return strcmp(caveat, unseen) == 0 || strcmp(caveat, a_pool) == 0 ||
	       strcmp(caveat, without_nvml) == 0 ||
	       strcmp(caveat, sampled) == 0;
}

static bool is_of_growth(const char *caveat)
{
	return strcmp(caveat, varies) == 0 || strcmp(caveat, rose) == 0;
}

static void add_growth_caveat(struct record *record, const struct trial *trial)
{
	if (trial && trial->peak_varying)
		strlist_add(&record->caveats, varies);
	else if (trial && trial->peak_rising)
		strlist_add(&record->caveats, rose);
}

static void add_coverage_caveat(struct session *session,
				const struct trial *trial)
{
	struct strlist *caveats = &session->result->record.caveats;
	bool is_host = session->target->device == PROBE_HOST;

	if (!trial)
		return;
	if (!trial->peak_bytes)
		strlist_add(caveats, is_host ? unseen : a_pool);
	else if (!is_host && trial->coverage != COVERAGE_EXACT)
		strlist_add(caveats,
			    session->target->nvml ? sampled : without_nvml);
}

/* The run does it, and no probe came to it. */
static bool is_left_out(const struct session *session, const char *what,
			const struct trial *trial)
{
	const struct command *command = &session->request->command;
	const struct {
		const char *name;
		enum phase phase;
		bool does;
	} phases[] = {
		{ "evaluation", PHASE_EVAL, command->evaluates },
		{ "saving", PHASE_SAVE, command->saves },
	};

	for (size_t i = 0; i < sizeof(phases) / sizeof(*phases); i++)
		if (strcmp(phases[i].name, what) == 0)
			return phases[i].does &&
			       !(trial && trial->phase == phases[i].phase);
	return true;
}

/* What the preset says that probes leave out, less what they did come to. */
static void add_not_exercised(struct session *session,
			      const struct trial *trial)
{
	const struct strlist *list =
		&session->request->command.preset->not_exercised;

	for (size_t i = 0; i < list->count; i++)
		if (is_left_out(session, list->items[i], trial))
			strlist_add(&session->result->record.not_exercised,
				    list->items[i]);
}

/* What is not the same with another micro-batch, although E is. */
static void add_split_caveats(struct session *session)
{
	const struct command *command = &session->request->command;
	struct record *record = &session->result->record;

	if (record->micro_batch != command->micro_batch)
		strlist_add_all(&record->caveats,
				(const char *const *)command->caveats.items,
				command->caveats.count);
}

void session_add_caveats(struct session *session, const struct trial *trial)
{
	struct record *record = &session->result->record;

	add_not_exercised(session, trial);
	add_split_caveats(session);
	add_coverage_caveat(session, trial);
	add_growth_caveat(record, trial);
	if (trial && trial->steps_source == STEPS_TIME)
		strlist_add(&record->caveats,
			    "no step was seen: judged by time without growth");
	if (session->without_hook || session->without_args)
		strlist_add(&record->caveats,
			    "probes ran without autofit's additions, which "
			    "the command does not take");
}

/* What was sampled from outside may have varied by when it was looked at. */
void session_renew_caveats(struct session *session, const struct record *older,
			   const struct trial *check)
{
	struct record *record = &session->result->record;
	bool sees_more = check->coverage == COVERAGE_EXACT &&
			 older->coverage != COVERAGE_EXACT;

	for (size_t i = 0; i < older->caveats.count; i++) {
		const char *caveat = older->caveats.items[i];

		if (!is_of_coverage(caveat) &&
		    !(sees_more && is_of_growth(caveat)))
			strlist_add(&record->caveats, caveat);
	}
	if (sees_more)
		add_growth_caveat(record, check);
	add_coverage_caveat(session, check);
}
