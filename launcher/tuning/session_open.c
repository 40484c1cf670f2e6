/* What a session needs to begin: logs, patterns, journal, loop. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/session_internal.h"

#include "base/alloc.h"
#include "base/log.h"
#include "configs/files/paths.h"
#include "configs/secrets/secrets.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define LOG_FOLDERS_KEPT 20

static int open_logs(struct session *session, struct error *err)
{
	const char *logs = session->request->paths.logs;
	struct timespec now;
	int result = paths_make(logs, err);

	if (result < 0)
		return result;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	session->log_folder = xasprintf("%s/%lld-%d", logs,
					(long long)now.tv_sec, (int)getpid());
	result = paths_make(session->log_folder, err);
	paths_prune(logs, LOG_FOLDERS_KEPT);
	return result;
}

static int open_patterns(struct session *session, struct error *err)
{
	const struct preset *preset = session->request->command.preset;
	char *folder =
		xasprintf("%s/signatures", session->request->paths.config);
	int result =
		signatures_load(&session->signatures,
				access(folder, R_OK) == 0 ? folder : NULL, err);

	free(folder);
	if (result == 0 && preset->step_patterns.count)
		result = step_patterns_make(&session->patterns,
					    &preset->step_patterns,
					    &preset->step_ignore, err);
	if (result == 0 && preset->printed_sizes_patterns.count)
		result = printed_sizes_patterns_make(
			&session->echoes, &preset->printed_sizes_patterns, err);
	return result;
}

static int open_journal(struct session *session, struct error *err)
{
	const struct request *request = session->request;
	int result = paths_make(request->paths.journals, err);

	if (result < 0)
		return result;
	result = journal_open(&session->journal, request->paths.journals,
			      request->identity, session->notes, err);
	if (result == 0 && request->options->fresh && session->notes->count) {
		probe_notes_release(session->notes);
		journal_finish(&session->journal);
		result =
			journal_open(&session->journal, request->paths.journals,
				     request->identity, session->notes, err);
	}
	for (size_t i = 0; i < session->notes->count; i++) {
		struct trial *trial = &session->notes->items[i].trial;

		(void)session_rejudge(session, trial,
				      session->target->limit_bytes);
		session_note_fit(session, trial);
	}
	return result;
}

/* The note in the locks stands meanwhile: a killed start is cleaned up after.
 */
static int try_isolation(struct session *session, struct error *err)
{
	struct probe_isolation *shelter = &session->shelter;
	char id[PROBE_ID_MAX];
	char *folder;
	int result = session_make_id(id, err);

	if (result == 0)
		result = device_locks_note_probe(session->guard, id,
						 shelter->space.folder, err);
	if (result < 0)
		return result;
	folder = xasprintf("%s/%s", shelter->space.folder, id);
	result = paths_make(folder, err);
	if (result == 0)
		result = probe_isolation_choose(shelter, session->request,
						folder, err);
	paths_remove_tree(folder);
	free(folder);
	if (device_locks_note_probe(session->guard, "", "", NULL) < 0)
		log_verbose("the lock's note cannot be cleared");
	return result;
}

int session_reserve(struct session *session, struct error *err)
{
	uint64_t budget = session->target->host.budget_bytes;

	if (!session->shelter.space.is_memory)
		return 0;
	session->scratch_reserve_bytes = scratch_space_reserve(budget);
	return memory_target_reserve(session->target,
				     session->scratch_reserve_bytes, err);
}

static int open_shelter(struct session *session, struct error *err)
{
	struct probe_isolation *shelter = &session->shelter;
	struct record *record = &session->result->record;
	int result = probe_isolation_open(shelter, session->request, err);

	if (result == 0)
		result = try_isolation(session, err);
	if (result < 0)
		return result;
	free(record->isolation);
	record->isolation = xstrdup(isolation_name(shelter->choice.kind));
	if (shelter->choice.why_not[0])
		log_verbose("probes: %s (%s)",
			    isolation_words(shelter->choice.kind),
			    shelter->choice.why_not);
	return session_reserve(session, err);
}

int session_open(struct session *session, struct error *err)
{
	int result = open_logs(session, err);

	secrets_values(&session->secrets, &session->request->command.given,
		       &session->request->environment);
	secrets_values(&session->secrets,
		       &session->request->options->probe_args,
		       &session->request->options->probe_env);
	if (result == 0)
		result = open_shelter(session, err);

	if (result == 0)
		result = open_patterns(session, err);
	if (result == 0)
		result = open_journal(session, err);
	if (result == 0)
		result = session_open_loop(session, err);
	return result;
}

void session_release(struct session *session)
{
	session_close_loop(session);
	journal_close(&session->journal);
	signatures_free(session->signatures);
	step_patterns_free(session->patterns);
	printed_sizes_patterns_free(session->echoes);
	free(session->log_folder);
	probe_isolation_release(&session->shelter);
	strlist_release(&session->secrets);
}
