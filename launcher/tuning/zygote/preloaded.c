/* The zygote of a tuning: started when it pays, with what was seen imported. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/zygote/preloaded.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/textfile.h"
#include "configs/files/builtin.h"
#include "configs/files/paths.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HOOK_FILE "probes/python/autofit_zygote.py"
#define LIBRARY_FILE "probes/keeper/libautofit_zygote.so"
#define VARIABLE "AUTOFIT_ZYGOTE"
/* Between two looks at what signals bring. */
#define LOOK_MS 50
#define FRESH_STARTS_FIRST 2

void preloaded_learn(struct preloaded *preloaded,
		     const struct probe_outcome *outcome)
{
	if (outcome->trial.is_forked || !outcome->trial.steps)
		return;
	preloaded->fresh_starts++;
	if (!preloaded->imports.count)
		strlist_add_all(&preloaded->imports,
				(const char *const *)outcome->imports->items,
				outcome->imports->count);
}

static int write_list(const char *folder, const char *name,
		      const struct strlist *list, struct error *err)
{
	char *path = xasprintf("%s/%s", folder, name);
	struct strbuf text = STRBUF_INIT;
	int result;

	for (size_t i = 0; i < list->count; i++)
		strbuf_add(&text, list->items[i], strlen(list->items[i]) + 1);
	result =
		textfile_make(path, 0600, strbuf_text(&text), text.length, err);
	strbuf_release(&text);
	free(path);
	return result;
}

static int write_part(const char *folder, const char *part, struct error *err)
{
	const struct builtin_file *file = builtin_find(part);
	char *path = xasprintf("%s/%s", folder, strrchr(part, '/') + 1);
	int result =
		file ? textfile_make(path, 0700, file->data, file->size, err)
		     : error_set(err, -ENOENT, "%s is not built in", part);

	free(path);
	return result;
}

/* What probes/python/autofit_zygote.py reads. */
static int write_files(const char *folder, const struct preloaded *preloaded,
		       const struct preloaded_start *start, struct error *err)
{
	int result = paths_make(folder, err);

	if (result == 0)
		result = write_list(folder, "argv", start->argv, err);
	if (result == 0)
		result = write_list(folder, "environment", start->environment,
				    err);
	if (result == 0)
		result =
			write_list(folder, "imports", &preloaded->imports, err);
	if (result == 0)
		result = write_part(folder, LIBRARY_FILE, err);
	return result == 0 ? write_part(start->hook, HOOK_FILE, err) : result;
}

static int start_zygote(struct preloaded *preloaded,
			const struct preloaded_start *start, struct error *err)
{
	char *folder = xasprintf("%s/zygote", start->scratch);
	struct strlist environment = STRLIST_INIT;
	const struct zygote_spec spec = {
		.argv = start->argv,
		.environment = &environment,
		.state = start->state,
	};
	int result = write_files(folder, preloaded, start, err);

	assert(!preloaded->zygote);
	strlist_add_all(&environment,
			(const char *const *)start->environment->items,
			start->environment->count);
	strlist_env_set(&environment, VARIABLE, folder);
	if (result == 0)
		result = zygote_start(&preloaded->zygote, &spec, err);
	strlist_release(&environment);
	free(folder);
	return result;
}

struct zygote *preloaded_zygote(struct preloaded *preloaded,
				const struct preloaded_start *start)
{
	enum zygote_state state = ZYGOTE_OVER;
	struct error err = ERROR_INIT;

	if (!preloaded->imports.count ||
	    preloaded->fresh_starts < FRESH_STARTS_FIRST)
		return NULL;
	if (!preloaded->was_started) {
		preloaded->was_started = true;
		if (start_zygote(preloaded, start, &err) < 0)
			log_verbose("no zygote: %s", err.message);
	}
	if (!preloaded->zygote)
		return NULL;
	do
		state = zygote_look(preloaded->zygote, LOOK_MS);
	while (state == ZYGOTE_IMPORTS && !start->must_end(start->context));
	if (state == ZYGOTE_SERVES)
		return preloaded->zygote;
	log_verbose("no zygote: %s", zygote_refusal(preloaded->zygote));
	zygote_close(preloaded->zygote);
	preloaded->zygote = NULL;
	return NULL;
}

void preloaded_release(struct preloaded *preloaded)
{
	zygote_close(preloaded->zygote);
	strlist_release(&preloaded->imports);
	*preloaded = (struct preloaded){ 0 };
}
