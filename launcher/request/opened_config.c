/* Which config file, of those that a probe opened, says the batch size. */
/* SPDX-License-Identifier: MIT */
#include "launcher/request/opened_config.h"

#include "base/textfile.h"
#include "configs/settings/settings.h"
#include "launcher/command/knobs/by_class.h"
#include "launcher/command/text/argument.h"

#include <string.h>

static bool settings_say(const struct settings *settings, int64_t rows,
			 int64_t whole)
{
	for (size_t i = 0; i < settings->count; i++) {
		const struct setting *setting = &settings->items[i];
		unsigned class = CLASS_BIT(by_class_of_key(settings, i));
		int64_t value;

		if (setting->is_scalar &&
		    (class & by_class_of_knob(KNOB_MICRO)) &&
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
	bool found =
		settings_format_of(path, &format) &&
		format != SETTINGS_PYTHON &&
		textfile_read(path, SETTINGS_BYTES_MAX, &text, NULL) == 0 &&
		settings_read(&settings, format, path, strbuf_text(&text),
			      text.length, NULL) == 0 &&
		settings_say(&settings, rows, whole);

	settings_release(&settings);
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
