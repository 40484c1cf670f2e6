/* Words that set what a config file of the command does. Pure. */
/* SPDX-License-Identifier: MIT */
/*
 * A program hands its config file on from the command line in a way of its own:
 * "--options run.batch_size=8 run.seed=1", "-o batch_size=8", "--set a.b=8
 * --set c=4", "run.batch_size 8". What such an option is called says little;
 * how the script declares it, and what the file holds, say it.
 */
#include "launcher/command/parts/setting_options.h"

#include "base/alloc.h"
#include "launcher/command/parts/setting_value.h"
#include "launcher/command/parts/token.h"
#include "launcher/command/text/argument.h"

#include <stdlib.h>
#include <string.h>

/* The key, or, where is_last, one whose last name it is. */
static bool file_names(const struct command *command, const char *key,
		       bool is_last)
{
	const struct setting *found[SETTINGS_SAME_MAX];

	for (size_t i = 0; i < command->file_count; i++) {
		size_t count = settings_find_all(command->files[i].settings,
						 key, found, SETTINGS_SAME_MAX);

		for (size_t k = 0; k < count && k < SETTINGS_SAME_MAX; k++)
			if (is_last || strcmp(found[k]->key, key) == 0)
				return true;
	}
	return false;
}

static bool file_has_key(const struct command *command, const char *key)
{
	return file_names(command, key, false);
}

/* batch_size 8, of a file with TRAIN.batch_size: some go by the last name. */
static bool file_has_size(const struct command *command, const char *key)
{
	enum option_class class = option_class_of(key, strlen(key));

	return (class == OPTION_BATCH || class == OPTION_MICRO ||
		class == OPTION_ACCUM) &&
	       file_names(command, key, true);
}

/* "train.batch_size=8": does a file of the command have that key? */
static bool overrides_file(const struct command *command, const char *word)
{
	size_t length = argument_key_length(word);
	char *key;
	bool result;

	if (!length)
		return false;
	key = xstrndup(word, length);
	result = file_has_key(command, key);
	free(key);
	return result;
}

static bool precedes_settings(const struct recognition *r, const char *option,
			      const char *next)
{
	const struct source_option *declared =
		source_resolve(r->source, option, strlen(option));
	enum settings_format format;

	if (declared)
		return declared->takes_settings || declared->is_switch;
	/* --config batch_size=8: that is the name of no file. */
	return overrides_file(r->command, next) ||
	       (argument_key_length(next) && !strchr(next, ',') &&
		option_sounds_like_config(option, strlen(option)) &&
		!settings_format_of(next, &format));
}

/*
 * "train.batch_size 8" of yacs: whatever takes it, which often is an installed
 * package, a key of the file with a number behind it is no other word.
 */
static void pair_keys_find(struct recognition *r)
{
	struct command_view *view = &r->command->view;
	const struct strlist *argv = command_argv(r->command);
	int64_t number;

	if (r->command->preset_is_certain)
		return;
	for (size_t i = view->args; i + 1 < view->end; i++)
		if (count_parse(argv->items[i + 1], &number) &&
		    (file_has_key(r->command, argv->items[i]) ||
		     file_has_size(r->command, argv->items[i])))
			strlist_add(&view->pair_keys, argv->items[i]);
	view->pairs |= view->pair_keys.count > 0;
}

enum command_outcome setting_options_find(struct recognition *r)
{
	struct command_view *view = &r->command->view;
	const struct strlist *argv = command_argv(r->command);

	pair_keys_find(r);
	for (size_t i = view->args; i + 1 < view->end; i++) {
		const char *option = argv->items[i];

		if (argument_is_option(option) && !strchr(option, '=') &&
		    !argument_is_glued(option) &&
		    strlist_find(&view->setting_options, option) ==
			    view->setting_options.count &&
		    precedes_settings(r, option, argv->items[i + 1]))
			strlist_add(&view->setting_options, option);
	}
	return COMMAND_OK;
}
