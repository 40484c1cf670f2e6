/* Which preset speaks for a command. Pure. */
/* SPDX-License-Identifier: MIT */

#include "launcher/command/framework.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "launcher/command/knobs/by_class.h"
#include "launcher/command/parts/token.h"
#include "launcher/command/text/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define JOINER " + "
/* Of options that say a batch size of any kind. */
#define BATCH_CLASSES                                                          \
	(CLASSES_MICRO | CLASS_BIT(OPTION_BATCH) | CLASS_BIT(OPTION_GLOBAL))

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

static bool word_is(const struct command *command, const char *piece)
{
	for (size_t i = command->view.args; i < command->view.end; i++)
		if (strcmp(command_argv(command)->items[i], piece) == 0)
			return true;
	return false;
}

static bool option_is(const struct command *command, const char *piece)
{
	struct token token;

	for (size_t i = command->view.args; token_next(&token, command, &i);
	     i++) {
		char *name;
		bool same;

		if (token.bare)
			continue;
		name = xstrndup(token.name, token.name_length);
		same = name_equal(piece, strlen(piece), name, strlen(name)) ||
		       (strchr(piece, '*') && glob_matches(piece, name));
		free(name);
		if (same)
			return true;
	}
	return false;
}

/* An option among the arguments, or a word. */
static bool argument_is(const void *context, const char *piece)
{
	return *piece == '-' ? option_is(context, piece)
			     : word_is(context, piece);
}

/* path/name as well as name; both may be globs. */
static bool path_is(const void *context, const char *pattern)
{
	const char *path = context;
	char *anywhere;
	bool result;

	if (!strchr(pattern, '/'))
		return glob_matches(pattern, basename(path));
	anywhere = xasprintf("*/%s", pattern);
	result = glob_matches(pattern, path) || glob_matches(anywhere, path);
	free(anywhere);
	return result;
}

static bool module_is(const void *context, const char *pattern)
{
	return glob_matches(pattern, context);
}

static void framework_choose(struct recognition *recognition,
			     const struct preset *preset, bool certain,
			     char *evidence)
{
	recognition->command->preset =
		presets_whole(recognition->presets, preset);
	recognition->command->preset_is_certain = certain;
	recognition->command->preset_evidence = evidence;
}

/* Does the script declare batch sizes, of other names than the framework's? */
static bool names_batch_otherwise(const struct recognition *r,
				  const struct strlist *names, unsigned classes)
{
	bool is_otherwise = false;

	for (size_t i = 0; i < r->source->option_count; i++) {
		const struct source_option *option = &r->source->options[i];

		if (option->is_switch ||
		    !(BATCH_CLASSES & CLASS_BIT(option->class)))
			continue;
		for (size_t k = 0; k < option->names.count; k++)
			if (names_find(names, option->names.items[k],
				       strlen(option->names.items[k]),
				       false) < names->count)
				return false;
		is_otherwise |= (classes & CLASS_BIT(option->class)) != 0;
	}
	return is_otherwise;
}

/* Does its parser know nothing of an option that probes would set? */
static bool has_another_parser(const struct recognition *r,
			       const struct strlist *set)
{
	for (size_t i = 0; r->source->option_count && i < set->count; i++)
		if (strncmp(set->items[i], "--", 2) == 0 &&
		    !source_resolve(r->source, set->items[i],
				    strcspn(set->items[i], " ")))
			return true;
	return false;
}

/* A script that has the name of a framework's, nothing of what that is known
 * by, and another way to its sizes, or other options. */
static bool borrows_name(const struct recognition *recognition,
			 const struct preset *preset)
{
	const struct preset *whole =
		presets_whole(recognition->presets, preset);
	const struct preset_knob *micro = &whole->knobs.micro;

	if (!recognition->text || !whole->signs.sources.count ||
	    rules_find(&whole->signs.sources, source_has, recognition->text))
		return false;
	return (!micro->bare && strstr(recognition->text, "@hydra.main")) ||
	       has_another_parser(recognition, &whole->probe.set) ||
	       names_batch_otherwise(recognition, &micro->names, BATCH_CLASSES);
}

/* By what is started: a script, a module, or a program. */
static bool by_entry(struct recognition *recognition,
		     const struct preset *preset)
{
	const struct command *command = recognition->command;
	const struct command_view *view = &command->view;
	const char *const *argv =
		(const char *const *)command_argv(command)->items;
	char shown[BRIEF_MAX];
	const char *name;

	if (view->module != NO_INDEX) {
		name = argv[view->module];
		if (!rules_find(&preset->signs.modules, module_is, name))
			return false;
		framework_choose(
			recognition, preset, true,
			xasprintf("module %s", argument_brief(shown, name)));
		return true;
	}
	if (view->code != NO_INDEX)
		return false;
	name = argv[view->script != NO_INDEX ? view->script : view->program];
	if (!rules_find(&preset->signs.scripts, path_is, name) ||
	    borrows_name(recognition, preset))
		return false;
	framework_choose(
		recognition, preset, true,
		xasprintf("%s %s",
			  view->script != NO_INDEX ? "script" : "program",
			  argument_brief(shown, name)));
	return true;
}

static bool by_flags(struct recognition *recognition,
		     const struct preset *preset)
{
	const char *text = recognition->text;
	const char *rule = rules_find(&preset->signs.flags, argument_is,
				      recognition->command);

	if (!rule)
		return false;
	/* Somebody's own parser may have borrowed the names. */
	framework_choose(
		recognition, preset,
		!text || rules_find(&preset->signs.sources, source_has, text),
		xasprintf("option %s", rule));
	return true;
}

static size_t piece_count(const char *rule)
{
	size_t count = 1;

	while ((rule = strstr(rule, JOINER))) {
		rule += strlen(JOINER);
		count++;
	}
	return count;
}

/* Is an option declared, or typed, that says a batch size of any kind? */
static bool has_batch_option(const struct recognition *r)
{
	const struct command *command = r->command;
	struct token token;

	for (size_t i = 0; i < r->source->option_count; i++)
		if (BATCH_CLASSES & CLASS_BIT(r->source->options[i].class))
			return true;
	for (size_t i = command->view.args; token_next(&token, command, &i);
	     i++)
		if (!token.bare &&
		    (BATCH_CLASSES &
		     CLASS_BIT(option_class_of(token.name, token.name_length))))
			return true;
	return false;
}

/* A key of a config file that says the batch of a pass. */
static bool has_micro_key(const struct command *command)
{
	for (size_t i = 0; i < command->file_count; i++)
		for (size_t k = 0; k < command->files[i].settings->count; k++)
			if (by_class_of_key(command->files[i].settings, k) ==
			    OPTION_MICRO)
				return true;
	return false;
}

static bool any_is_there(const struct recognition *r,
			 const struct strlist *names)
{
	for (size_t i = 0; i < names->count; i++)
		if (option_is(r->command, names->items[i]))
			return true;
	return false;
}

/* Nothing typed or declared is a batch size by the framework's names, and the
 * script's own parser has one by another: it is a program made of it. */
static bool has_another_batch(const struct recognition *r,
			      const struct preset_knobs *knobs)
{
	if (any_is_there(r, &knobs->micro.names) ||
	    any_is_there(r, &knobs->global.names))
		return false;
	/* What is micro may be a part of its batch. */
	return names_batch_otherwise(r, &knobs->micro.names,
				     CLASS_BIT(OPTION_BATCH) |
					     CLASS_BIT(OPTION_GLOBAL));
}

/*
 * One that reads its sizes from files alone says nothing of a script that
 * makes them of options or of keys of its own; nor does one that reads them
 * from the script's options of a script that has none for them.
 */
static bool lacks_its_sizes(const struct recognition *recognition,
			    const struct preset *preset)
{
	const struct command *command = recognition->command;
	const struct source *source = recognition->source;
	const struct preset_knobs *knobs =
		&presets_whole(recognition->presets, preset)->knobs;
	const struct preset_knob *micro = &knobs->micro;
	const struct setting *found;

	if (preset->knobs.micro.names.count)
		return has_another_batch(recognition, knobs) ||
		       (!micro->bare && !micro->keys.count &&
			!micro->default_value && source->option_count &&
			!has_batch_option(recognition));
	if (!micro->keys.count)
		return false;
	if (command->file_count == 0)
		return has_batch_option(recognition);
	for (size_t k = 0; k < command->file_count; k++)
		if (settings_find_all(command->files[k].settings,
				      micro->keys.items[0], &found, 1) > 0)
			return false;
	for (size_t i = 0; i < source->option_count; i++)
		if (source->options[i].class == OPTION_MICRO ||
		    source->options[i].class == OPTION_GLOBAL)
			return true;
	return has_micro_key(command);
}

/* Where several presets match, the one that asks for most is taken. */
static bool by_source(struct recognition *recognition,
		      const struct presets *presets)
{
	const struct preset *best = NULL;
	const char *best_rule = NULL;

	for (size_t i = 0; recognition->text && i + 1 < presets->count; i++) {
		const struct preset *preset = &presets->items[i];
		const char *rule = rules_find(&preset->signs.sources,
					      source_has, recognition->text);

		if (!rule || lacks_its_sizes(recognition, preset) ||
		    (best && piece_count(rule) <= piece_count(best_rule)))
			continue;
		best = preset;
		best_rule = rule;
	}
	if (!best)
		return false;
	framework_choose(recognition, best, true,
			 xasprintf("%s contains %s", recognition->source_name,
				   best_rule));
	return true;
}

static enum command_outcome by_name(struct recognition *recognition,
				    const struct presets *presets)
{
	const char *name = recognition->hints->preset;
	const struct preset *preset = presets_find(presets, name);
	char shown[BRIEF_MAX];

	if (preset) {
		/* The usual names are nobody's own. */
		framework_choose(recognition, preset,
				 preset != &presets->items[presets->count - 1],
				 xstrdup("--preset"));
		return COMMAND_OK;
	}
	(void)error_set(recognition->err, -EINVAL,
			"there is no preset %s: autofit presets lists them",
			argument_brief(shown, name));
	return COMMAND_USAGE;
}

/* A program and its first words: "yolo * train". */
static bool entry_is(const struct command *command, const char *entry)
{
	size_t at = command->view.program;
	bool is_program = true;

	while (*entry) {
		size_t length = strcspn(entry, " ");
		char *pattern = xstrndup(entry, length);
		bool same =
			at < command_argv(command)->count &&
			(is_program
				 ? path_is(command_argv(command)->items[at],
					   pattern)
				 : glob_matches(
					   pattern,
					   command_argv(command)->items[at]));

		free(pattern);
		if (!same)
			return false;
		entry += length + (entry[length] == ' ');
		is_program = false;
		at++;
	}
	return true;
}

static bool by_words(struct recognition *recognition,
		     const struct preset *preset)
{
	const struct command_view *view = &recognition->command->view;

	if (view->module != NO_INDEX || view->code != NO_INDEX)
		return false;
	for (size_t i = 0; i < preset->signs.entries.count; i++) {
		const char *entry = preset->signs.entries.items[i];

		if (!entry_is(recognition->command, entry))
			continue;
		framework_choose(recognition, preset, true,
				 xasprintf("program %s", entry));
		return true;
	}
	return false;
}

static bool file_has(const void *context, const char *piece)
{
	const struct command_file *file = context;
	const struct setting *found;

	return settings_find_all(file->settings, piece, &found, 1) > 0;
}

static bool by_config(struct recognition *recognition,
		      const struct preset *preset)
{
	const struct command *command = recognition->command;
	char shown[BRIEF_MAX];

	for (size_t i = 0; i < command->file_count; i++) {
		const struct command_file *file = &command->files[i];
		const char *rule =
			rules_find(&preset->signs.configs, file_has, file);

		if (!rule)
			continue;
		framework_choose(
			recognition, preset, true,
			xasprintf("%s has %s",
				  argument_brief(shown, file->read->path),
				  rule));
		return true;
	}
	return false;
}

enum command_outcome framework_find(struct recognition *recognition)
{
	const struct presets *presets = recognition->presets;
	typedef bool way(struct recognition *, const struct preset *);
	/* What is started says more than what it is told. */
	static way *const ways[] = { by_words, by_entry, by_config };
	size_t last = presets->count - 1;

	if (recognition->hints->preset)
		return by_name(recognition, presets);
	for (size_t k = 0; k < sizeof(ways) / sizeof(*ways); k++)
		for (size_t i = 0; i < last; i++)
			if (ways[k](recognition, &presets->items[i]))
				return COMMAND_OK;
	if (by_source(recognition, presets))
		return COMMAND_OK;
	for (size_t i = 0; i < last; i++)
		if (by_flags(recognition, &presets->items[i]))
			return COMMAND_OK;
	framework_choose(recognition, &presets->items[last], false,
			 xstrdup("no framework known by name"));
	return COMMAND_OK;
}
