/* The value of a setting in a command, by argument or file. Pure. */
/* SPDX-License-Identifier: MIT */

#include "launcher/command/parts/setting_value.h"

#include "base/alloc.h"
#include "launcher/command/parts/token.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define JOINER " + "

/* A key of the config files: of the last that has it, its last value. */
static const char *file_value(const struct command *command, const char *name)
{
	const struct setting *found[SETTINGS_SAME_MAX];
	const char *value = NULL;

	name += strspn(name, "-");
	for (size_t i = 0; i < command->file_count; i++) {
		size_t count =
			settings_find_all(command->files[i].settings, name,
					  found, SETTINGS_SAME_MAX);

		if (count > SETTINGS_SAME_MAX)
			count = SETTINGS_SAME_MAX;
		if (count)
			value = found[count - 1]->value;
	}
	return value;
}

const char *setting_value(const struct command *command, const char *name)
{
	struct token token;

	if (token_find(command, name, &token))
		return token.form == KNOB_ABSENT
			       ? "true"
			       : token_value(&token, command_argv(command));
	return file_value(command, name);
}

const char *setting_or_default(const struct command *command, const char *entry,
			       char name[NAME_MAX_BYTES])
{
	size_t length = strcspn(entry, " ");
	const char *value;

	if (length >= NAME_MAX_BYTES)
		return NULL;
	memcpy(name, entry, length);
	name[length] = '\0';
	value = setting_value(command, name);
	if (value)
		return value;
	return entry[length] ? entry + length + 1 : NULL;
}

const char *variable_value(const struct recognition *r, const char *name)
{
	const struct strlist *around = r->hints->environment;
	const char *value =
		strlist_env_get(&r->command->view.assignments, name);

	return value || !around ? value : strlist_env_get(around, name);
}

static bool is_on(const char *value)
{
	static const char *const words[] = { "false", "no",   "off", "0",
					     "none",  "null", "" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcasecmp(words[i], value) == 0)
			return false;
	return true;
}

bool uses_hydra(const struct recognition *r)
{
	return r->text && strstr(r->text, "hydra");
}

/* "text", with its quotes. */
static bool script_contains(const struct recognition *r, const char *quoted)
{
	size_t length = strlen(quoted);
	char *text;
	bool result;

	if (!r->text || length < 3)
		return false;
	text = xstrndup(quoted + 1, length - 2);
	result = strstr(r->text, text) != NULL;
	free(text);
	return result;
}

static bool piece_holds(const struct recognition *r, const char *piece)
{
	const char *equals = strchr(piece, '=');
	char name[NAME_MAX_BYTES];
	const char *value;
	size_t length = equals ? (size_t)(equals - piece) : strlen(piece);

	if (*piece == '"')
		return script_contains(r, piece);
	if (*piece == '$')
		return variable_value(r, piece + 1) != NULL;
	if (length >= NAME_MAX_BYTES)
		return false;
	memcpy(name, piece, length);
	name[length] = '\0';
	value = *name == '@' ? file_value(r->command, name + 1)
			     : setting_value(r->command, name);
	if (!value)
		return false;
	return equals ? strcasecmp(equals + 1, value) == 0 : is_on(value);
}

bool condition_holds(const struct recognition *r, const char *condition)
{
	bool result = true;

	while (result && condition) {
		const char *joiner = strstr(condition, JOINER);
		char *piece = joiner ? xstrndup(condition,
						(size_t)(joiner - condition))
				     : xstrdup(condition);

		result = *piece == '!' ? !piece_holds(r, piece + 1)
				       : piece_holds(r, piece);
		free(piece);
		condition = joiner ? joiner + strlen(JOINER) : NULL;
	}
	return result;
}

bool any_condition_holds(const struct recognition *r,
			 const struct strlist *conditions)
{
	for (size_t i = 0; i < conditions->count; i++)
		if (condition_holds(r, conditions->items[i]))
			return true;
	return false;
}

/* A key of this name at the beginning of a line: name: or "name" = */
static bool has_key(const char *text, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = strstr(text, name); at;
	     at = strstr(at + 1, name)) {
		const char *before = at, *after = at + length;

		while (before > text && strchr(" \t\"'{,", before[-1]))
			before--;
		after += strspn(after, " \t\"'");
		if ((before == text || before[-1] == '\n' ||
		     before[-1] == '(') &&
		    (*after == ':' || *after == '='))
			return true;
	}
	return false;
}

/* Does it take in other files, which are not read here? */
static bool includes_others(const struct command_file *file)
{
	static const char *const keys[] = { "_base_", "_BASE_" };
	static const char hydra[] = "defaults:";
	const char *text = strbuf_text(&file->read->text);

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (has_key(text, keys[i]))
			return true;
	return strstr(text, "!include") || strstr(text, "read_base(") ||
	       strncmp(text, hydra, strlen(hydra)) == 0 ||
	       strstr(text, "\ndefaults:");
}

bool config_is_open(const struct recognition *r)
{
	const struct command *command = r->command;

	if (r->config_index == NO_INDEX)
		return false;
	for (size_t i = 0; i < command->file_count; i++) {
		const struct command_file *file = &command->files[i];

		if (file->index == r->config_index)
			return file->read->why_not ||
			       (file->settings != command->composed &&
				includes_others(file));
	}
	return true;
}
