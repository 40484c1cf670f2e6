/* What a session needs to begin: logs, patterns, journal, loop. */
/* SPDX-License-Identifier: MIT */
#include "launcher/session_internal.h"

#include "base/alloc.h"
#include "configs/paths.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define LOG_FOLDERS_KEPT 20

static int open_logs(struct session *session, struct error *err)
{
	const char *logs = session->job->paths.logs;
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
	const struct preset *preset = session->job->command.preset;
	char *folder = xasprintf("%s/signatures", session->job->paths.config);
	int result =
		signatures_load(&session->signatures,
				access(folder, R_OK) == 0 ? folder : NULL, err);

	free(folder);
	if (result == 0 && preset->step_patterns.count)
		result = step_patterns_make(&session->patterns,
					    &preset->step_patterns,
					    &preset->step_ignore, err);
	return result;
}

static int open_journal(struct session *session, struct error *err)
{
	const struct job *job = session->job;
	int result = paths_make(job->paths.journals, err);

	if (result < 0)
		return result;
	result = journal_open(&session->journal, job->paths.journals,
			      job->identity, session->notes, err);
	if (result == 0 && job->options->fresh && session->notes->count) {
		probe_notes_release(session->notes);
		journal_finish(&session->journal);
		result = journal_open(&session->journal, job->paths.journals,
				      job->identity, session->notes, err);
	}
	for (size_t i = 0; i < session->notes->count; i++) {
		struct trial *trial = &session->notes->items[i].trial;

		plan_rejudge(trial, session->target->limit_bytes);
		(void)session_apply_headroom(session, trial);
		session_note_fit(session, trial);
	}
	return result;
}

int session_open(struct session *session, struct error *err)
{
	int result = open_logs(session, err);

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
	free(session->log_folder);
}
