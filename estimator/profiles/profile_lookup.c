/* Finds entries of a profile by name. */
/* SPDX-License-Identifier: MIT */
#include "estimator/profiles/profile.h"

#include <errno.h>
#include <string.h>

const struct profile_section *profile_section(const struct profile *profile,
					      enum profile_kind kind,
					      const char *name)
{
	for (size_t i = 0; i < profile->count; i++) {
		const struct profile_section *section = &profile->sections[i];

		if (section->kind == kind &&
		    (!name || strcmp(section->name, name) == 0))
			return section;
	}
	return NULL;
}

const char *profile_key(const struct profile_section *section, const char *key)
{
	const char *text = NULL;

	for (size_t i = 0; i < section->count; i++)
		if (strcmp(section->lines[i].key, key) == 0)
			text = section->lines[i].text;
	return text;
}

size_t profile_fields(const char *line,
		      struct profile_text fields[PROFILE_COLUMNS_MAX])
{
	size_t count = 0;

	while (line && count < PROFILE_COLUMNS_MAX) {
		struct profile_text *field = &fields[count++];
		const char *bar = strchr(line, '|');

		field->text = line;
		field->length = bar ? (size_t)(bar - line) : strlen(line);
		while (field->length && *field->text == ' ') {
			field->text++;
			field->length--;
		}
		while (field->length && field->text[field->length - 1] == ' ')
			field->length--;
		line = bar ? bar + 1 : NULL;
	}
	return count;
}

int profile_band(const struct profile *profile, struct profile_text name,
		 double value, const char **text, struct error *err)
{
	for (size_t i = 0; i < profile->count; i++) {
		const struct profile_section *section = &profile->sections[i];
		const struct profile_line *line = section->lines;

		if (section->kind != PROFILE_BANDS ||
		    strlen(section->name) != name.length ||
		    strncmp(section->name, name.text, name.length) != 0)
			continue;
		/* The last is "else". */
		while (value >= line->at)
			line++;
		*text = line->text;
		return 0;
	}
	return error_set(err, -EINVAL, "there are no bands %.*s",
			 (int)name.length, name.text);
}
