/* The values in a config file: reading it, what it refers to. */
/* SPDX-License-Identifier: MIT */
#include "configs/settings/settings.h"

#include "configs/settings/settings_internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct ending {
	const char *text;
	enum settings_format format;
};

static const struct ending endings[] = {
	{ ".yaml", SETTINGS_YAML }, { ".yml", SETTINGS_YAML },
	{ ".json", SETTINGS_JSON }, { ".toml", SETTINGS_TOML },
	{ ".py", SETTINGS_PYTHON }, { ".args", SETTINGS_ARGS },
};

bool settings_format_of(const char *path, enum settings_format *format)
{
	const char *dot = strrchr(path, '.');

	if (!dot || dot == path || dot[-1] == '/')
		return false;
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		if (strcasecmp(dot, endings[i].text) == 0) {
			*format = endings[i].format;
			return true;
		}
	}
	return false;
}

static int read_format(struct settings_reader *reader)
{
	switch (reader->settings->format) {
	case SETTINGS_YAML:
		return settings_read_yaml(reader);
	case SETTINGS_JSON:
		return settings_read_json(reader);
	case SETTINGS_TOML:
		return settings_read_toml(reader);
	case SETTINGS_PYTHON:
		return settings_read_python(reader);
	case SETTINGS_ARGS:
		break;
	}
	return settings_read_args(reader);
}

static int settings_read_text(struct settings_reader *reader)
{
	const char *nul;

	if (reader->length > SETTINGS_BYTES_MAX)
		return settings_fail(reader, 0, "it is too large for a config");
	nul = memchr(reader->text, '\0', reader->length);
	if (nul)
		return settings_fail(reader, (size_t)(nul - reader->text),
				     "there is a NUL byte in it");
	return read_format(reader);
}

int settings_read_all(struct settings_reader *reader)
{
	int result;

	reader->line = 1;
	result = settings_read_text(reader);
	if (result == 0)
		settings_mark_overridden(reader);
	settings_index_names(reader->settings);
	settings_reader_release(reader);
	return result;
}

/* NOLINTNEXTLINE(readability-function-size): settings.h has its parameters. */
int settings_read(struct settings *settings, enum settings_format format,
		  const char *name, const char *text, size_t length,
		  struct error *err)
{
	struct settings_reader reader = {
		.settings = settings,
		.name = name,
		.text = length ? text : "",
		.length = length,
		.err = err,
	};

	*settings = (struct settings){ .format = format };
	return settings_read_all(&reader);
}

void settings_release(struct settings *settings)
{
	free(settings->items);
	pool_release(&settings->texts);
	settings_release_names(settings);
	*settings = (struct settings){ .format = settings->format };
}

/* Keys under which a file is composed of others: Hydra's. */
static bool is_composed(const struct settings *settings)
{
	static const char key[] = "defaults";
	size_t length = sizeof(key) - 1;

	for (size_t i = 0; i < settings->count; i++) {
		const char *found = settings->items[i].key;

		if (strncmp(found, key, length) == 0 &&
		    (found[length] == '\0' || found[length] == '[' ||
		     found[length] == '.'))
			return true;
	}
	return false;
}

/* A value that is the relative path of another config: "base.yaml". */
static bool settings_names_another(const struct settings *settings)
{
	enum settings_format format;

	for (size_t i = 0; i < settings->count; i++) {
		const char *value = settings->items[i].value;

		if (*value != '/' && !strstr(value, "://") &&
		    settings_format_of(value, &format))
			return true;
	}
	return false;
}

/* The first letters of all words below. */
static bool may_begin_reference(char c)
{
	return c == '_' || c == '!' || c == '.' || c == '$' || c == 'f' ||
	       c == 'F' || c == 'r' || c == 'R';
}

/*
 * Looked for in the whole text, comments too: what is found for nothing only
 * puts the copy beside the file.
 */
bool settings_has_references(const struct settings *settings, const char *text,
			     size_t length)
{
	static const char *const words[] = {
		"_base_", "!include",  "./",       "${",
		"from .", "read_base", "__file__", "filedirname",
	};
	const char *end;

	if (is_composed(settings) || settings_names_another(settings))
		return true;
	if (!length)
		return false;
	end = text + length;
	for (const char *at = text; at < end; at++) {
		if (!may_begin_reference(*at))
			continue;
		for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
			size_t width = strlen(words[i]);

			if (width <= (size_t)(end - at) &&
			    strncasecmp(at, words[i], width) == 0)
				return true;
		}
	}
	return false;
}
