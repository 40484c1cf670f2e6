/* Which preset speaks for a command. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command_internal.h"

#include "base/alloc.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define JOINER " + "

/* Does one piece of a rule hold for the command? context as it likes. */
typedef bool piece_holds(const void *context, const char *piece);

/* All pieces of "a + b + c". */
static bool rule_holds(const char *rule, piece_holds *holds,
		       const void *context)
{
	bool result = true;

	while (result && rule) {
		const char *joiner = strstr(rule, JOINER);
		char *piece = joiner ? xstrndup(rule, (size_t)(joiner - rule))
				     : xstrdup(rule);

		result = holds(context, piece);
		free(piece);
		rule = joiner ? joiner + strlen(JOINER) : NULL;
	}
	return result;
}

/* The first rule that holds, or NULL. */
static const char *rules_find(const struct strlist *rules, piece_holds *holds,
			      const void *context)
{
	for (size_t i = 0; i < rules->count; i++)
		if (rule_holds(rules->items[i], holds, context))
			return rules->items[i];
	return NULL;
}

static bool source_has(const void *context, const char *piece)
{
	return strstr(context, piece) != NULL;
}

/* An option among the arguments, or a word. */
static bool argument_is(const void *context, const char *piece)
{
	const struct command *command = context;
	struct token token;

	for (size_t i = command->view.args; i < command->view.end; i++) {
		const char *text = command->argv.items[i];
		char *name;
		bool same;

		if (*piece != '-' && strcmp(text, piece) == 0)
			return true;
		if (*piece != '-' ||
		    !token_read(&token, &command->argv, &command->view, i) ||
		    token.bare)
			continue;
		name = xstrndup(token.name, token.name_length);
		same = name_equal(piece, strlen(piece), name, strlen(name)) ||
		       (strchr(piece, '*') && fnmatch(piece, name, 0) == 0);
		free(name);
		if (same)
			return true;
	}
	return false;
}

/* path/name as well as name; both may be globs. */
static bool path_is(const void *context, const char *pattern)
{
	const char *path = context;
	const char *slash = strrchr(path, '/');
	char *anywhere;
	bool result;

	if (!strchr(pattern, '/'))
		return fnmatch(pattern, slash ? slash + 1 : path, 0) == 0;
	anywhere = xasprintf("*/%s", pattern);
	result = fnmatch(pattern, path, 0) == 0 ||
		 fnmatch(anywhere, path, 0) == 0;
	free(anywhere);
	return result;
}

static bool module_is(const void *context, const char *pattern)
{
	return fnmatch(pattern, context, 0) == 0;
}

static void choose(struct recognition *recognition, const struct preset *preset,
		   bool certain, char *evidence)
{
	recognition->command->preset = preset;
	recognition->command->preset_is_certain = certain;
	recognition->command->preset_evidence = evidence;
}

/* By what is started: a script, a module, or a program. */
static bool by_entry(struct recognition *recognition,
		     const struct preset *preset)
{
	const struct command *command = recognition->command;
	const struct command_view *view = &command->view;
	const char *const *argv = (const char *const *)command->argv.items;
	char shown[BRIEF_MAX];
	const char *name;

	if (view->module != NO_INDEX) {
		name = argv[view->module];
		if (!rules_find(&preset->modules, module_is, name))
			return false;
		choose(recognition, preset, true,
		       xasprintf("module %s", brief(shown, name)));
		return true;
	}
	if (view->code != NO_INDEX)
		return false;
	name = argv[view->script != NO_INDEX ? view->script : view->program];
	if (!rules_find(&preset->scripts, path_is, name))
		return false;
	choose(recognition, preset, true,
	       xasprintf("%s %s",
			 view->script != NO_INDEX ? "script" : "program",
			 brief(shown, name)));
	return true;
}

static bool by_flags(struct recognition *recognition,
		     const struct preset *preset, const char *text)
{
	const char *rule =
		rules_find(&preset->flags, argument_is, recognition->command);

	if (!rule)
		return false;
	/* Somebody's own parser may have borrowed the names. */
	choose(recognition, preset,
	       !text || rules_find(&preset->sources, source_has, text),
	       xasprintf("option %s", rule));
	return true;
}

static bool by_source(struct recognition *recognition,
		      const struct preset *preset, const char *text)
{
	const char *rule =
		text ? rules_find(&preset->sources, source_has, text) : NULL;

	if (!rule)
		return false;
	choose(recognition, preset, true,
	       xasprintf("%s contains %s", recognition->source_name, rule));
	return true;
}

static enum command_outcome by_name(struct recognition *recognition,
				    const struct presets *presets)
{
	const char *name = recognition->hints->preset;
	const struct preset *preset = presets_find(presets, name);
	struct strbuf known = STRBUF_INIT;
	char shown[BRIEF_MAX];

	if (preset) {
		choose(recognition, preset, true, xstrdup("--preset"));
		return COMMAND_OK;
	}
	for (size_t i = 0; i < presets->count; i++)
		strbuf_addf(&known, "%s%s", i > 0 ? ", " : "",
			    presets->items[i].name);
	(void)error_set(recognition->err, -EINVAL,
			"there is no preset %s: write one of %s",
			brief(shown, name), strbuf_text(&known));
	strbuf_release(&known);
	return COMMAND_USAGE;
}

enum command_outcome framework_find(struct recognition *recognition,
				    const struct presets *presets,
				    const char *text)
{
	size_t last = presets->count - 1;

	if (recognition->hints->preset)
		return by_name(recognition, presets);
	for (size_t i = 0; i < last; i++)
		if (by_entry(recognition, &presets->items[i]))
			return COMMAND_OK;
	for (size_t i = 0; i < last; i++)
		if (by_flags(recognition, &presets->items[i], text))
			return COMMAND_OK;
	for (size_t i = 0; i < last; i++)
		if (by_source(recognition, &presets->items[i], text))
			return COMMAND_OK;
	choose(recognition, &presets->items[last], false,
	       xstrdup("no framework known by name"));
	return COMMAND_OK;
}
