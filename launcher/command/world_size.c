/* How many ranks a program makes of itself when no launcher does. Pure. */
/* SPDX-License-Identifier: MIT */

#include "launcher/command/effective_batch.h"

#include "base/alloc.h"
#include "launcher/command/parts/recognition.h"
#include "launcher/command/parts/setting_value.h"
#include "launcher/command/parts/token.h"
#include "launcher/command/ranks/ranks_by_words.h"
#include "launcher/command/ranks/ranks_open.h"
#include "launcher/command/text/argument.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/command/text/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The value of the last of these options, else of a config file, else of a
 * variable, "$NAME"; or NULL. */
static const char *last_value(const struct recognition *r,
			      const struct strlist *flags)
{
	const struct command *command = r->command;
	const char *value = NULL;
	struct token token;

	for (size_t i = command->view.args; token_next(&token, command, &i);
	     i++)
		if (names_find(flags, token.name, token.name_length,
			       token.bare) < flags->count)
			value = token_value(&token, command_argv(command));
	for (size_t i = 0; i < flags->count && !value; i++)
		value = *flags->items[i] == '$'
				? variable_value(r, flags->items[i] + 1)
				: setting_value(command, flags->items[i]);
	return value;
}

/* Where that value is the last of a list in a config file, devices: [0, 1], how
 * many that has; else 0. */
static int64_t items_listed(const struct command *command,
			    const struct strlist *flags, const char *value)
{
	const struct setting *found[SETTINGS_SAME_MAX];

	for (size_t i = 0; i < flags->count * command->file_count; i++) {
		size_t count = settings_find_all(
			command->files[i / flags->count].settings,
			flags->items[i % flags->count], found,
			SETTINGS_SAME_MAX);

		if (count && count <= SETTINGS_SAME_MAX &&
		    found[count - 1]->value == value &&
		    strchr(found[count - 1]->key, '['))
			return (int64_t)count;
	}
	return 0;
}

static enum command_outcome several_nodes(const struct recognition *r,
					  const char *name, const char *value)
{
	char shown[BRIEF_MAX];

	(void)error_set(r->err, -EINVAL,
			"%s %s: ranks on several nodes cannot be probed from "
			"one of them: tune on one node, with the effective "
			"batch of one node",
			name, argument_brief(shown, value));
	return COMMAND_REFUSED;
}

static enum command_outcome check_nodes(const struct recognition *r)
{
	const struct preset *preset = r->command->preset;
	const char *nodes = last_value(r, &preset->ranks.node_flags);

	if (!nodes || strcmp(nodes, "1") == 0)
		return COMMAND_OK;
	return several_nodes(r, preset->ranks.node_flags.items[0], nodes);
}

/* The same of a program that nobody knows. */
static enum command_outcome check_words_of_nodes(const struct recognition *r)
{
	struct token token;
	enum command_outcome outcome = COMMAND_OK;

	if (!r->command->view.launcher && ranks_name_nodes(r, &token)) {
		char *name = xstrndup(token.name, token.name_length);

		outcome = several_nodes(
			r, name, token_value(&token, command_argv(r->command)));
		free(name);
	}
	return outcome;
}

/* A key of a config file names another one: accelerate_config of TRL. */
static bool names_another(const struct recognition *r)
{
	const struct command *command = r->command;
	const struct strlist *tokens = &command->preset->files.config_tokens;
	const struct setting *found;

	for (size_t i = 0; i < command->file_count; i++)
		for (size_t k = 0; k < tokens->count; k++) {
			const char *name = tokens->items[k];

			name += strspn(name, "-");
			if (settings_find_all(command->files[i].settings, name,
					      &found, 1) > 0)
				return true;
		}
	return false;
}

/* By its own options, or by what it does with the devices it sees. */
static enum command_outcome ranks_of_itself(const struct recognition *r)
{
	struct command *command = r->command;
	const struct preset *preset = command->preset;
	int64_t visible = command->view.visible_devices;
	const char *list = last_value(r, &preset->ranks.device_lists);
	const char *devices = last_value(r, &preset->ranks.device_flags);
	int64_t items =
		list ? items_listed(command, &preset->ranks.device_lists, list)
		     : items_listed(command, &preset->ranks.device_flags,
				    devices);
	char shown[BRIEF_MAX];

	if (list || items) {
		command->batch.world_size = items ? items : ranks_listed(list);
		return check_nodes(r);
	}
	if (devices && !ranks_of_devices_text(devices, visible,
					      &command->batch.world_size))
		return not_recognised(r,
				      "%s %s is not understood: write the "
				      "number of devices",
				      preset->ranks.device_flags.items[0],
				      argument_brief(shown, devices));
	if (devices || !preset->ranks.uses_visible_devices || visible < 2)
		return check_nodes(r);
	if (preset->ranks.device_flags.count &&
	    *preset->ranks.device_flags.items[0] != '$' &&
	    r->config_index != NO_INDEX &&
	    (config_is_open(r) || names_another(r)))
		return not_recognised(
			r, "%s may say on how many devices to run: add %s N",
			argument_brief(
				shown,
				command_argv(command)->items[r->config_index]),
			preset->ranks.device_flags.items[0]);
	command->batch.world_size = visible;
	return check_nodes(r);
}

enum command_outcome world_size_find(struct recognition *r)
{
	struct command *command = r->command;
	enum command_outcome outcome = COMMAND_OK;

	command->batch.world_size = command->view.world;
	if (!command->preset_is_certain) {
		outcome = check_words_of_nodes(r);
		ranks_by_words(r);
	} else if (!command->view.launcher)
		outcome = ranks_of_itself(r);
	ranks_open(r);
	return outcome == COMMAND_OK ? model_parallel_divide(r) : outcome;
}
