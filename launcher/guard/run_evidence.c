/* What a real run under --guard shows of its end: was it want of memory? */
/* SPDX-License-Identifier: MIT */
#include "launcher/guard/run_evidence.h"

#include "base/alloc.h"
#include "configs/files/paths.h"
#include "probes/channel/last_errors.h"
#include "probes/channel/python_hook.h"
#include "probes/output/lines.h"
#include "probes/process/process_state.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FOLDER "guard"

/* Of this host and process, so that what a killed autofit left is told. */
static char *folder_name(const char *scratch, pid_t pid)
{
	char host[HOST_NAME_MAX + 1] = "";

	(void)gethostname(host, sizeof(host) - 1);
	return xasprintf("%s/" FOLDER "-%s-%d", scratch, host, (int)pid);
}

/* Folders of processes of this host that are gone. */
static void remove_left(const char *scratch)
{
	char *ours = folder_name("", 0);
	DIR *entries = opendir(scratch);
	struct dirent *entry;
	size_t length = strlen(ours) - 1; /* without the 0 */

	while (entries && (entry = readdir(entries))) {
		const char *name = entry->d_name;
		long pid;

		if (strncmp(name, ours + 1, length - 1) != 0)
			continue;
		pid = strtol(name + length - 1, NULL, 10);
		if (pid > 0 && kill((pid_t)pid, 0) < 0 && errno == ESRCH) {
			char *path = xasprintf("%s/%s", scratch, name);

			paths_remove_tree(path);
			free(path);
		}
	}
	if (entries)
		(void)closedir(entries);
	free(ours);
}

/* The value that the run would have, with the hook's folder before it. */
static char *python_path(const struct run_evidence *evidence,
			 const struct request *request,
			 const struct strlist *changes)
{
	struct strlist environment = STRLIST_INIT;
	const char *old;
	char *value;

	strlist_add_all(&environment,
			(const char *const *)request->environment.items,
			request->environment.count);
	strlist_env_change(&environment, changes);
	old = strlist_env_get(&environment, "PYTHONPATH");
	/* An empty piece would be the current folder. */
	value = old && *old ? xasprintf("%s:%s", evidence->hook, old)
			    : xstrdup(evidence->hook);
	strlist_release(&environment);
	return value;
}

char *run_evidence_mark(const struct request *request)
{
	char *folder = folder_name(request->paths.scratch, getpid());
	char *mark = xasprintf("AUTOFIT_LAST_ERRORS=%s", folder);

	free(folder);
	return mark;
}

static int load_signatures(struct run_evidence *evidence,
			   const struct request *request, struct error *err)
{
	char *folder = xasprintf("%s/signatures", request->paths.config);
	int result =
		signatures_load(&evidence->signatures,
				access(folder, R_OK) == 0 ? folder : NULL, err);

	free(folder);
	return result;
}

int run_evidence_open(struct run_evidence *evidence,
		      const struct request *request, struct strlist *changes,
		      struct error *err)
{
	char *path;
	int result;

	remove_left(request->paths.scratch);
	*evidence = (struct run_evidence){
		.folder = folder_name(request->paths.scratch, getpid()),
	};
	/* Of a process that had this number. */
	paths_remove_tree(evidence->folder);
	evidence->hook = xasprintf("%s/hook", evidence->folder);
	result = python_hook_write(&python_hook_steps, evidence->hook, err);
	if (result == 0)
		result = load_signatures(evidence, request, err);
	if (result < 0) {
		run_evidence_close(evidence);
		return result;
	}
	path = python_path(evidence, request, changes);
	strlist_take(changes, run_evidence_mark(request));
	strlist_addf(changes, "PYTHONPATH=%s", path);
	free(path);
	return 0;
}

/* What the last words of one process say. */
struct last_words {
	const struct signatures *signatures;
	struct evidence_output *found;
	/* A launcher's, that its child failed; or because others ended. */
	bool is_of_another;
	bool takes_memory; /* its words of memory are the run's own */
};

static void on_last_word(void *context, const char *line, size_t length)
{
	struct last_words *words = context;
	struct signature_found in_line = { 0 };
	const struct span span = { line, length };
	const struct signature *signature =
		signatures_match(words->signatures, line, length, &in_line);
	struct evidence_output *found = words->found;
	enum signature_class class =
		signature ? signature->class : SIGNATURE_NONE;

	if (signatures_pick(words->signatures, &in_line, SIGNATURE_WRAPPER,
			    span) ||
	    signatures_pick(words->signatures, &in_line, SIGNATURE_CONSEQUENCE,
			    span))
		words->is_of_another = true;
	if (class == SIGNATURE_KILLED && !found->killed_line)
		found->killed_line = signature;
	if (class == SIGNATURE_TOO_BIG && !found->too_big_line)
		found->too_big_line = signature;
	if (class >= SIGNATURE_RMM && class <= SIGNATURE_AMBIGUOUS &&
	    !found->memory_line) {
		char *text = xstrndup(line, length);

		found->memory_line = signature;
		found->asked_bytes = allocations_text_asked(text);
		found->text_is_fragmented =
			allocations_text_is_fragmented(text);
		free(text);
	}
}

/*
 * Processes of a run may fail unseen and no harm done, so that the first error
 * proves nothing. The last one does that is no launcher's, and not there only
 * because another process had ended: it is what the run ended by.
 */
static void read_last_words(const struct run_evidence *evidence,
			    struct evidence_output *output)
{
	struct last_errors errors = LAST_ERRORS_INIT;
	bool is_decided = false;

	last_errors_read(&errors, evidence->folder);
	for (size_t i = errors.count; i > 0 && !is_decided; i--) {
		struct evidence_output found = { 0 };
		struct last_words words = { .signatures = evidence->signatures,
					    .found = &found };
		const char *text = errors.items[i - 1].text;
		struct lines lines = LINES_INIT;

		lines_feed(&lines, text, strlen(text), on_last_word, &words);
		lines_finish(&lines, on_last_word, &words);
		lines_release(&lines);
		is_decided = !words.is_of_another || found.memory_line;
		if (is_decided || found.killed_line) {
			const struct signature *killed = output->killed_line;

			*output = found;
			if (!output->killed_line)
				output->killed_line = killed;
		}
	}
	last_errors_release(&errors);
}

/* What was measured of its size, which the run has at least come to. */
static struct evidence_memory memory_of(const struct guarded_end *end,
					const struct record *record)
{
	bool is_host =
		record->device_kind && strcmp(record->device_kind, "host") == 0;
	uint64_t host_bytes = end->max_bytes;

	if (is_host && record->peak_bytes > host_bytes)
		host_bytes = record->peak_bytes;
	return (struct evidence_memory){
		.device = is_host ? PROBE_HOST : PROBE_CUDA,
		.limit_bytes = is_host ? record->limit_bytes : 0,
		.host_peak_bytes = host_bytes,
		.host_limit_bytes = is_host ? record->limit_bytes : 0,
		.has_address_limit = process_has_address_limit(),
	};
}

/* A shell tells so that its command was killed. */
static bool says_killed(int status)
{
	return WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGKILL;
}

struct judgement run_evidence_judge(const struct run_evidence *evidence,
				    const struct guarded_end *end,
				    const struct record *record)
{
	struct evidence seen = {
		.end = { .ended = true,
			 .wait_status = end->status,
			 .foreign_kills = says_killed(end->status),
			 .oom_kills = end->oom_kills },
		.gpu = { .device_used = true },
		.memory = memory_of(end, record),
		/* Whatever it did: it failed before it was done. */
		.progress = { .steps_asked = 1 },
	};

	read_last_words(evidence, &seen.output);
	return verdict_judge(&seen);
}

void run_evidence_close(struct run_evidence *evidence)
{
	paths_remove_tree(evidence->folder);
	signatures_free(evidence->signatures);
	free(evidence->hook);
	free(evidence->folder);
	memset(evidence, 0, sizeof(*evidence));
}
