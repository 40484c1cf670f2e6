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
/* The name of the probe that a process belongs to, and of its folders. */
#define PROBE_VARIABLE "AUTOFIT_PROBE"

static void copy_list(struct strlist *to, const struct strlist *from)
{
	strlist_add_all(to, (const char *const *)from->items, from->count);
}

void preloaded_learn(struct preloaded *preloaded,
		     const struct probe_outcome *outcome,
		     const struct strlist *argv,
		     const struct strlist *environment)
{
	const struct started *started = outcome->started;

	if (outcome->trial.is_forked || !outcome->trial.steps)
		return;
	preloaded->fresh_starts++;
	if (preloaded->imports.count || !outcome->imports->count ||
	    !started->argv.count)
		return;
	copy_list(&preloaded->imports, outcome->imports);
	copy_list(&preloaded->started.argv, &started->argv);
	copy_list(&preloaded->started.environment, &started->environment);
	copy_list(&preloaded->started.traits, &started->traits);
	copy_list(&preloaded->argv, argv);
	copy_list(&preloaded->environment, environment);
	preloaded->launcher_bytes = outcome->launcher_bytes;
}

/* How many words at their ends are the same. */
static size_t common_end(const struct strlist *a, const struct strlist *b)
{
	size_t count = 0;

	while (count < a->count && count < b->count &&
	       strcmp(a->items[a->count - 1 - count],
		      b->items[b->count - 1 - count]) == 0)
		count++;
	return count;
}

/*
 * The interpreter's words for the command's: its own, as far as launchers made
 * them, and then the command's, which may have other sizes. False: the
 * launchers are started otherwise now, or would make something else of a size.
 */
static bool interpreter_words(const struct preloaded *preloaded,
			      const struct preloaded_start *start,
			      struct strlist *words)
{
	const struct strlist *own = &preloaded->started.argv;
	const struct strlist *seen = &preloaded->argv;
	const char *const *now = (const char *const *)start->argv->items;
	size_t same = common_end(own, seen);
	size_t launchers = seen->count - same;

	if (launchers > start->argv->count ||
	    (launchers && start->has_size_in_environment))
		return false;
	for (size_t i = 0; i < launchers; i++)
		if (strcmp(seen->items[i], now[i]) != 0)
			return false;
	strlist_add_all(words, (const char *const *)own->items,
			own->count - same);
	strlist_add_all(words, now + launchers, start->argv->count - launchers);
	return true;
}

/* As if it were another probe's: names of probes are of one length. */
static void rename_probe(struct strlist *environment, const char *from,
			 const char *to)
{
	for (size_t i = 0; i < environment->count; i++)
		for (char *at = strstr(environment->items[i], from); at;
		     at = strstr(at, from))
			for (const char *letter = to; *letter; letter++)
				*at++ = *letter;
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
	const struct {
		const char *name;
		const struct strlist *list;
	} lists[] = { { "argv", start->argv },
		      { "environment", &preloaded->environment },
		      { "imports", &preloaded->imports },
		      { "traits", &preloaded->started.traits } };
	int result = paths_make(folder, err);

	for (size_t i = 0; result == 0 && i < sizeof(lists) / sizeof(*lists);
	     i++)
		result = write_list(folder, lists[i].name, lists[i].list, err);
	if (result == 0)
		result = write_part(folder, LIBRARY_FILE, err);
	return result == 0 ? write_part(start->hook, HOOK_FILE, err) : result;
}

static int start_zygote(struct preloaded *preloaded,
			const struct preloaded_start *start,
			const struct strlist *words, struct error *err)
{
	char *folder = xasprintf("%s/zygote", start->scratch);
	struct strlist *environment = &preloaded->started.environment;
	const char *id = strlist_env_get(start->environment, PROBE_VARIABLE);
	char *before = xstrdup(
		strlist_env_get(&preloaded->environment, PROBE_VARIABLE));
	const struct zygote_spec spec = {
		.argv = words,
		.environment = environment,
		.state = start->state,
	};
	int result;

	assert(!preloaded->zygote && strlen(before) == strlen(id));
	rename_probe(environment, before, id);
	rename_probe(&preloaded->environment, before, id);
	strlist_env_set(environment, VARIABLE, folder);
	result = write_files(folder, preloaded, start, err);
	if (result == 0)
		result = zygote_start(&preloaded->zygote, &spec, err);
	free(before);
	free(folder);
	return result;
}

/* In words; NULL: nothing, and words are the interpreter's. */
static const char *what_is_against(const struct preloaded *preloaded,
				   const struct preloaded_start *start,
				   struct strlist *words)
{
	if (start->why_not)
		return start->why_not;
	if (!preloaded->imports.count)
		return "not one process alone makes steps, or it sets a "
		       "variable before it imports torch";
	return interpreter_words(preloaded, start, words)
		       ? NULL
		       : "its launchers are told the size";
}

struct zygote *preloaded_zygote(struct preloaded *preloaded,
				const struct preloaded_start *start)
{
	enum zygote_state state = ZYGOTE_OVER;
	struct strlist words = STRLIST_INIT;
	struct error err = ERROR_INIT;
	const char *why;

	if (preloaded->fresh_starts < FRESH_STARTS_FIRST)
		return NULL;
	why = what_is_against(preloaded, start, &words);
	if (!preloaded->is_settled) {
		preloaded->is_settled = true;
		if (!why && start_zygote(preloaded, start, &words, &err) < 0)
			why = err.message;
		if (why)
			log_verbose("no zygote: %s", why);
	}
	strlist_release(&words);
	if (why || !preloaded->zygote)
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

bool preloaded_can_serve(const struct preloaded *preloaded)
{
	return preloaded->zygote ||
	       (!preloaded->is_settled && preloaded->imports.count &&
		preloaded->fresh_starts >= FRESH_STARTS_FIRST);
}

void preloaded_release(struct preloaded *preloaded)
{
	zygote_close(preloaded->zygote);
	strlist_release(&preloaded->imports);
	strlist_release(&preloaded->argv);
	strlist_release(&preloaded->environment);
	started_release(&preloaded->started);
	*preloaded = (struct preloaded){ 0 };
}
