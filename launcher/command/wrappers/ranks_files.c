/* Files and lists that say where a launcher starts its ranks. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/files/named_files.h"
#include "launcher/command/text/argument.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/command/wrappers/ranks.h"

#include "base/alloc.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Slots of a line are counted up to this; more is a slip of the pen. */
#define SLOTS_MAX 1000000

enum command_outcome launch_file(const struct wrapper *wrapper,
				 const struct launch *launch, const char *path,
				 struct named_file **file)
{
	const char *name = launch->row->names.items[0];
	char *seen = shell_path(wrapper->view->expansion.folder, path);
	char shown[BRIEF_MAX];

	(void)argument_brief(shown, path);
	if (!seen)
		return launch_fail(wrapper, COMMAND_NOT_RECOGNISED,
				   "%s: where %s lies cannot be told, for the "
				   "shell changes the folder: write its whole "
				   "path",
				   name, shown);
	*file = named_files_get(wrapper->texts, seen);
	free(seen);
	if (!*file)
		return launch_fail(wrapper, COMMAND_NOT_RECOGNISED,
				   "%s: %s is one file more than are read",
				   name, shown);
	if ((*file)->error != 0)
		*file = NULL;
	return COMMAND_OK;
}

static int64_t slots_read(const char *text, size_t length)
{
	int64_t slots = 0;

	for (size_t i = 0; i < length && isdigit((unsigned char)text[i]); i++)
		if (slots < SLOTS_MAX)
			slots = slots * 10 + (text[i] - '0');
	return slots;
}

/* The count in "host:4" or "host slots=4"; 0: it does not say. */
static int64_t entry_slots(const char *entry, size_t length, size_t name_length)
{
	static const char key[] = "slots=";
	const char *rest = entry + name_length;
	size_t left = length - name_length;

	if (left > 0 && *rest == ':')
		return slots_read(rest + 1, left - 1);
	for (; left > strlen(key); rest++, left--)
		if (strncmp(rest, key, strlen(key)) == 0)
			return slots_read(rest + strlen(key),
					  left - strlen(key));
	return 0;
}

static size_t name_length_of(const char *entry, size_t length)
{
	size_t i = 0;

	while (i < length && !isspace((unsigned char)entry[i]) &&
	       entry[i] != ':')
		i++;
	return i;
}

static size_t entry_length(const char *text, size_t length,
			   const char *separators)
{
	size_t i = 0;

	while (i < length && text[i] && !strchr(separators, text[i]))
		i++;
	return i;
}

struct host_list host_list_read(const char *text, size_t length,
				const char *separators)
{
	struct host_list hosts = { 0 };
	const char *first = NULL;
	size_t first_length = 0;
	bool is_complete = true;

	while (length > 0) {
		size_t entry = entry_length(text, length, separators);
		size_t blanks = 0, name;
		int64_t slots;

		while (blanks < entry && isspace((unsigned char)text[blanks]))
			blanks++;
		name = name_length_of(text + blanks, entry - blanks);
		if (name > 0 && text[blanks] != '#') {
			slots = entry_slots(text + blanks, entry - blanks,
					    name);
			is_complete = is_complete && slots > 0;
			hosts.slots += slots;
			if (!first || name != first_length ||
			    strncmp(first, text + blanks, name) != 0)
				hosts.count++;
			if (!first) {
				first = text + blanks;
				first_length = name;
			}
		}
		entry += entry < length;
		text += entry;
		length -= entry;
	}
	if (!is_complete)
		hosts.slots = 0;
	return hosts;
}

const char *launch_setting(const struct settings *config, const char *key)
{
	const char *value = NULL;

	for (size_t i = 0; i < config->count; i++)
		if (strcmp(config->items[i].key, key) == 0)
			value = config->items[i].value;
	return value && *value ? value : NULL;
}
