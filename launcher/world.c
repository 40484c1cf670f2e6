/* How many ranks a program makes of itself when no launcher does. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command_internal.h"

#include <errno.h>
#include <string.h>

/* The value of the last of these options, or NULL. */
static const char *last_value(const struct command *command,
			      const struct strlist *flags)
{
	const char *value = NULL;
	struct token token;

	for (size_t i = command->view.args; i < command->view.end; i++)
		if (token_read(&token, &command->argv, &command->view, i) &&
		    names_find(flags, token.name, token.name_length,
			       token.bare) < flags->count)
			value = token_value(&token, &command->argv);
	return value;
}

/* "2", "0,1", "[0,1]", "auto", "-1" */
static bool devices_count(const char *text, int64_t visible, int64_t *count)
{
	size_t length = strlen(text);

	if (strcmp(text, "auto") == 0 || strcmp(text, "-1") == 0) {
		*count = visible > 0 ? visible : 1;
		return true;
	}
	if (count_parse(text, count))
		return true;
	if (length == 0 || text[strspn(text, "0123456789,[] ")] != '\0')
		return false;
	*count = 1;
	for (; *text; text++)
		*count += *text == ',' && text[1] && text[1] != ']';
	return true;
}

static enum command_outcome check_nodes(const struct recognition *r)
{
	const struct preset *preset = r->command->preset;
	const char *nodes = last_value(r->command, &preset->node_flags);
	char shown[BRIEF_MAX];

	if (!nodes || strcmp(nodes, "1") == 0)
		return COMMAND_OK;
	(void)error_set(r->err, -EINVAL,
			"%s %s: ranks on several nodes cannot be probed from "
			"one of them: tune on one node, with the effective "
			"batch of one node",
			preset->node_flags.items[0], brief(shown, nodes));
	return COMMAND_REFUSED;
}

enum command_outcome world_find(struct recognition *r)
{
	struct command *command = r->command;
	const struct preset *preset = command->preset;
	int64_t visible = command->view.visible_devices;
	const char *devices;
	char shown[BRIEF_MAX];

	command->world_size = command->view.world;
	if (command->view.launcher || !command->preset_is_certain ||
	    !preset->uses_visible_devices)
		return COMMAND_OK;
	devices = last_value(command, &preset->device_flags);
	if (devices && !devices_count(devices, visible, &command->world_size))
		return not_recognised(r,
				      "%s %s is not understood: write the "
				      "number of devices",
				      preset->device_flags.items[0],
				      brief(shown, devices));
	if (!devices && visible > 1 && preset->device_flags.count &&
	    r->config_index != NO_INDEX)
		return not_recognised(
			r, "%s may say on how many devices to run: add %s N",
			brief(shown, command->argv.items[r->config_index]),
			preset->device_flags.items[0]);
	if (!devices && visible > 1)
		command->world_size = visible;
	return check_nodes(r);
}
