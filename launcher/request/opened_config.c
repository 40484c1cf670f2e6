/* Which config file, of those that a probe opened, says the batch size. */
/* SPDX-License-Identifier: MIT */
#include "launcher/request/opened_config.h"

#include "base/textfile.h"
#include "configs/settings/settings.h"
#include "launcher/command/text/argument.h"
#include "launcher/command/text/option_class.h"

#include <string.h>

static bool names_a_batch(const char *key)
{
	switch (option_class_of(key, strlen(key))) {
	case OPTION_BATCH:
	case OPTION_MICRO:
	case OPTION_MICRO_NODE:
	case OPTION_GLOBAL:
		return true;
	case OPTION_OTHER:
	case OPTION_DECOY:
	case OPTION_ACCUM:
	case OPTION_BATCH_LIKE:
	case OPTION_MICRO_LIKE:
	case OPTION_ACCUM_LIKE:
	case OPTION_CLASSES:
		break;
	}
	return false;
}

static bool settings_say(const struct settings *settings, int64_t rows,
			 int64_t whole)
{
	for (size_t i = 0; i < settings->count; i++) {
		const struct setting *setting = &settings->items[i];
		int64_t value;

		if (setting->is_scalar && names_a_batch(setting->key) &&
		    count_parse(setting->value, &value) &&
		    (value == rows || value == whole))
			return true;
	}
	return false;
}

static bool file_says(const char *path, int64_t rows, int64_t whole)
{
	struct settings settings = { .count = 0 };
	struct strbuf text = STRBUF_INIT;
	enum settings_format format;
	bool found = false;

	if (settings_format_of(path, &format) && format != SETTINGS_PYTHON &&
	    textfile_read(path, SETTINGS_BYTES_MAX, &text, NULL) == 0 &&
	    settings_read(&settings, format, path, strbuf_text(&text),
			  text.length, NULL) == 0) {
		found = settings_say(&settings, rows, whole);
		settings_release(&settings);
	}
	strbuf_release(&text);
	return found;
}

bool opened_config_find(const struct strlist *opened, int64_t rows,
			int64_t whole, struct seen_meaning *seen)
{
	const char *only = NULL;

	for (size_t i = 0; rows > 0 && i < opened->count; i++) {
		if (!file_says(opened->items[i], rows, whole))
			continue;
		if (only)
			return false;
		only = opened->items[i];
	}
	if (!only || strlen(only) >= SEEN_PATH_MAX)
		return false;
	memcpy(seen->config_file, only, strlen(only) + 1);
	return true;
}
