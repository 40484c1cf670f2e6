/* A run that goes on keeps the split it was started with. */
/* SPDX-License-Identifier: MIT */
#include "launcher/records/first_split.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "configs/files/escape.h"
#include "configs/files/paths.h"
#include "configs/secrets/secrets.h"
#include "launcher/command/parts/knob.h"
#include "launcher/command/parts/token.h"
#include "launcher/command/text/argument.h"
#include "launcher/command/text/knob_kind.h"
#include "launcher/request/surroundings.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

static bool contains_resume(const char *name, size_t length)
{
	static const char word[] = "resume";
	size_t size = sizeof(word) - 1;

	for (size_t i = 0; i + size <= length; i++)
		if (strncasecmp(name + i, word, size) == 0)
			return true;
	return false;
}

/* --no-resume, --resume=, --resume false */
static bool first_split_is_off(const struct token *token, const char *value)
{
	static const char *const words[] = { "false", "no",   "off",
					     "0",     "none", "null" };

	const char *name = token->name + strspn(token->name, "-");

	if (strncasecmp(name, "no", 2) == 0 ||
	    (token->form != KNOB_ABSENT && !*value))
		return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcasecmp(value, words[i]) == 0)
			return true;
	return false;
}

/* --resume, --resume_from_checkpoint DIR, resume=true; init_from=resume */
static bool resumes(const struct command *command, const struct token *token)
{
	const char *value = token_value(token, command_argv(command));

	if (contains_resume(token->name, token->name_length))
		return !first_split_is_off(token, value);
	return token->form == KNOB_JOINED && strcmp(value, "resume") == 0;
}

/* The first argument that resumes; argv.count: none. */
static size_t resuming_argument(const struct command *command)
{
	const struct command_view *view = &command->view;
	struct token token;

	for (size_t i = view->args; token_next(&token, command, &i); i++)
		if (resumes(command, &token))
			return i;
	return command_argv(command)->count;
}

char *first_split_reason(const struct request *request)
{
	const struct command *command = &request->command;
	char *requeued = surroundings_requeued(&request->environment);
	size_t index = resuming_argument(command);
	char shown[BRIEF_MAX];
	char *reason = NULL;

	if (requeued)
		reason = xasprintf("%s was requeued", requeued);
	else if (index < command_argv(command)->count)
		reason = xasprintf(
			"%s resumes a run",
			argument_brief(shown,
				       command_argv(command)->items[index]));
	free(requeued);
	return reason;
}

/* What stays the same when a run is resumed: all but the resuming itself. */
static void first_split_add_arguments(struct strbuf *key,
				      const struct command *command)
{
	const struct command_view *view = &command->view;
	struct strlist argv = STRLIST_INIT;
	struct strlist masked = STRLIST_INIT;
	struct token token;

	for (size_t i = 0; i < command_argv(command)->count; i++) {
		bool option =
			i >= view->args && i < view->end &&
			token_read(&token, command_argv(command), view, i);

		if (option && resumes(command, &token)) {
			i += token.form == KNOB_SEPARATE ? 1 : 0;
			continue;
		}
		if (option && token.form != KNOB_ABSENT &&
		    knob_is_taken(command, token.value_index) &&
		    token.value_index != command->knobs[KNOB_OUTPUT].index) {
			i += token.form == KNOB_SEPARATE ? 1 : 0;
			continue;
		}
		strlist_add(&argv, command_argv(command)->items[i]);
	}
	secrets_mask_argv(&masked, &argv);
	for (size_t i = 0; i < masked.count; i++) {
		escape_add(key, masked.items[i]);
		strbuf_addch(key, '\n');
	}
	strlist_release(&masked);
	strlist_release(&argv);
}

/* A requeued job is known by its number, any other run by its folder. */
static char *make_key(const struct request *request, const char *name,
		      uint64_t script)
{
	struct strbuf key = STRBUF_INIT;
	char folder[PATH_MAX];

	strbuf_addf(&key, "autofit.start/1 %s %016llx\n", name,
		    (unsigned long long)script);
	if (getcwd(folder, sizeof(folder)))
		escape_add(&key, folder);
	strbuf_addf(&key, "\nworld %lld effective %lld\n",
		    (long long)request->command.batch.world_size,
		    (long long)request->asked.effective_batch);
	first_split_add_arguments(&key, &request->command);
	return strbuf_detach(&key);
}

/* The job's own name, on its first start as on the later ones. */
static char *job_key(const struct request *request)
{
	char *name = surroundings_job(&request->environment);
	char *key = name ? make_key(request, name, 0) : NULL;

	free(name);
	return key;
}

/* The split was never tested for a script that was edited meanwhile. */
static char *run_key(const struct request *request)
{
	return make_key(request, "run", request->script_hash);
}

int first_split_find(struct start *start, const struct request *request)
{
	char *requeued = surroundings_requeued(&request->environment);
	char *key = requeued ? job_key(request) : run_key(request);
	int found = 0;

	if (key)
		found = start_read(start, request->paths.starts, key);
	free(key);
	free(requeued);
	return found;
}

static bool first_split_is_kept(const struct request *request,
				const struct start *start, const char *key,
				bool replace)
{
	struct start kept;

	return start_read(&kept, request->paths.starts, key) > 0 &&
	       (!replace ||
		(kept.batch.micro_batch == start->batch.micro_batch &&
		 kept.batch.grad_accum == start->batch.grad_accum &&
		 kept.batch.world_size == start->batch.world_size));
}

/* Most starts are like the one before: a file is synced only for others. */
static void keep(const struct request *request, const struct start *start,
		 char *key, bool replace)
{
	struct error err = ERROR_INIT;

	if (key && !first_split_is_kept(request, start, key, replace) &&
	    start_write(start, request->paths.starts, key, replace, &err) < 0)
		log_verbose("the split is not kept for a resumed run: %s",
			    err.message);
	free(key);
}

void first_split_keep(const struct request *request,
		      const struct result *result)
{
	const struct record *record = &result->record;
	struct start start = {
		.batch = record->batch,
		.peak_bytes = record->peak_bytes,
		.on_host = record->device_kind &&
			   strcmp(record->device_kind, "host") == 0,
		.created = (int64_t)time(NULL),
	};
	char *requeued = surroundings_requeued(&request->environment);
	bool resuming = resuming_argument(&request->command) <
			command_argv(&request->command)->count;

	if (paths_make(request->paths.starts, NULL) == 0) {
		(void)snprintf(start.record_id, sizeof(start.record_id), "%s",
			       record->id ? record->id : "");
		keep(request, &start, job_key(request), !requeued);
		keep(request, &start, run_key(request), !requeued && !resuming);
	}
	free(requeued);
}
