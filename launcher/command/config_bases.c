/* The config files that a config file is built on. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/config_bases.h"

#include "base/alloc.h"
#include "launcher/command/knobs/knob_in_file.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A base has bases of its own; of so many in all, each time it is named. */
#define BASES_MAX 24

static const char *const base_keys[] = { "_base_", "__include__" };

/* "_base_", "_BASE_", and each entry of such a list. */
static bool names_base(const struct setting *setting)
{
	for (size_t i = 0; i < sizeof(base_keys) / sizeof(*base_keys); i++) {
		size_t length = strlen(base_keys[i]);

		if (strncasecmp(setting->key, base_keys[i], length) == 0 &&
		    (!setting->key[length] || setting->key[length] == '['))
			return true;
	}
	return false;
}

static bool speaks_of_bases(const struct named_file *read)
{
	for (size_t i = 0; i < sizeof(base_keys) / sizeof(*base_keys); i++)
		if (strcasestr(strbuf_text(&read->text), base_keys[i]))
			return true;
	return false;
}

/* Do values alone decide what comes of its bases? {{_base_.x}} is a value. */
static bool bases_are_plain(const struct named_file *read)
{
	const char *text = strbuf_text(&read->text);

	for (const char *at = text; (at = strstr(at, "_base_.")); at++)
		if (at < text + 2 || memcmp(at - 2, "{{", 2) != 0)
			return false;
	return !read->why_not && !strstr(text, "read_base(") &&
	       !strstr(text, "!include");
}

/* The key is set anew as a whole, or "_delete_" is below it: what a base holds
 * there is none of it. */
static void forget_below(struct settings *composed, const char *key)
{
	const char *last = strrchr(key, '.');
	bool is_delete = last && strcmp(last, "._delete_") == 0;
	size_t length = is_delete ? (size_t)(last - key) : strlen(key);

	for (size_t i = 0; i < composed->count; i++)
		if (strncmp(composed->items[i].key, key, length) == 0 &&
		    composed->items[i].key[length] == '.')
			composed->items[i].value = "";
}

/* False: not all of it is known. *left counts the files that may follow. */
static bool based_put(struct recognition *r, const char *path, unsigned *left)
{
	struct named_file *read = named_files_get(r->texts, path);
	const struct settings *settings;
	enum settings_format format;
	bool is_known = true;

	if (!read || read->error || *left == 0 ||
	    !settings_format_of(path, &format))
		return false;
	--*left;
	settings = named_file_settings(read, format);
	if (!bases_are_plain(read))
		return false;
	for (size_t i = 0; i < settings->count && is_known; i++) {
		char *base;

		if (!names_base(&settings->items[i]))
			continue;
		base = path_beside(path, settings->items[i].value);
		is_known = based_put(r, base, left);
		free(base);
	}
	for (size_t i = 0; i < settings->count; i++)
		forget_below(r->command->composed, settings->items[i].key);
	for (size_t i = 0; i < settings->count && is_known; i++) {
		struct setting own = settings->items[i];

		own.path = read->path;
		is_known = names_base(&own) ||
			   settings_put(r->command->composed, "", &own) !=
				   SETTINGS_PUT_FULL;
	}
	return is_known;
}

enum command_outcome config_bases_find(struct recognition *r)
{
	struct command *command = r->command;
	bool is_certain = command->preset_is_certain;
	unsigned left = BASES_MAX;

	if (command->composed || !command->preset->knobs.micro.bare)
		return COMMAND_OK;
	for (size_t i = 0; i < command->file_count; i++) {
		struct command_file *file = &command->files[i];

		/* A size of its own is one that can be written there. */
		if (!speaks_of_bases(file->read) ||
		    (is_certain ? file->index != r->config_index
				: knob_in_file_is_set(r, KNOB_MICRO, file)))
			continue;
		command->composed = xcalloc(1, sizeof(*command->composed));
		if (!based_put(r, file->read->path, &left))
			break;
		settings_put_end(command->composed);
		file->settings = command->composed;
		break;
	}
	return COMMAND_OK;
}
