/* A word of the command line that is no option: what was meant instead. */
/* SPDX-License-Identifier: MIT */
#include "launcher/options/options_rows.h"

#include "base/alloc.h"
#include "launcher/command/text/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *option_suggestion(const char *name)
{
	size_t nearest = strlen(name) > 4 ? 3 : 2;
	const char *found = NULL;

	for (const struct option_row *row = option_rows; row->name; row++)
		if (*name && strncmp(row->name, name, strlen(name)) == 0)
			return row->name;
	for (const struct option_row *row = option_rows; row->name; row++) {
		size_t distance = text_distance(name, row->name);

		if (distance >= nearest)
			continue;
		nearest = distance;
		found = row->name;
	}
	return found;
}

void option_unknown(const char *name, struct error *err)
{
	const char *meant = option_suggestion(name);

	if (meant)
		(void)error_set(err, -EINVAL,
				"unknown option --%.64s; did you mean --%s?",
				name, meant);
	else
		(void)error_set(err, -EINVAL,
				"unknown option --%.64s (autofit --help lists "
				"them)",
				name);
}

static void long_misread(const char *word, struct error *err)
{
	size_t length = strcspn(word, "=");
	const struct option_row *row = option_of_name(word, length);
	char *name;

	if (row && word[length]) {
		(void)error_set(err, -EINVAL, "--%s takes no value", row->name);
	} else if (row) {
		(void)error_set(err, -EINVAL, "--%s needs a value: --%s %s",
				row->name, row->name, row->argument);
	} else {
		name = xstrndup(word, length);
		option_unknown(name, err);
		free(name);
	}
}

void option_misread(const char *word, struct error *err)
{
	if (strncmp(word, "--", 2) == 0) {
		long_misread(word + 2, err);
		return;
	}
	for (const char *c = word + 1; *c; c++) {
		if (option_of_key((unsigned char)*c))
			continue;
		(void)error_set(err, -EINVAL,
				"unknown option -%c (autofit --help lists "
				"them)",
				isprint((unsigned char)*c) ? *c : '?');
		return;
	}
	(void)error_set(err, -EINVAL, "cannot read the option %.64s", word);
}
