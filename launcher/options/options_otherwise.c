/* What becomes of a line that cannot be parsed: --otherwise run, if it can. */
/* SPDX-License-Identifier: MIT */
#include "launcher/options/options.h"

#include "launcher/options/options_kinds.h"
#include "launcher/options/options_rows.h"

#include <string.h>

/* What the words before "--" say, misread ones among them. */
struct glance {
	const struct strlist *argv;
	size_t at;             /* the word looked at */
	const char *otherwise; /* the last value; NULL: not given */
	bool starts_nothing;   /* --dry-run, --help, a sub-command */
};

static const char *next_word(const struct glance *glance)
{
	size_t next = glance->at + 1;

	return next < glance->argv->count &&
			       strcmp(glance->argv->items[next], "--") != 0
		       ? glance->argv->items[next]
		       : NULL;
}

static void glance_at_option(struct glance *glance, const char *name)
{
	size_t length = strcspn(name, "=");
	const struct option_row *row = option_of_name(name, length);
	const char *value = name[length] ? name + length + 1 : NULL;

	if (!row) {
		glance->at +=
			!value && option_value_may_be(NULL, next_word(glance));
		return;
	}
	if (row->argument && !value) {
		value = next_word(glance);
		if (row->value_optional && !option_value_may_be(row, value))
			value = NULL;
		glance->at += value != NULL;
	}
	if (row->print || row->kind == &kind_explain)
		glance->starts_nothing = true;
	if (row->kind == &kind_otherwise)
		glance->otherwise = value ? value : "";
}

/* -h and -V stand for more than themselves; no letter takes a value. */
static void glance_at_letters(struct glance *glance, const char *letters)
{
	for (; *letters; letters++) {
		const struct option_row *row =
			option_of_key((unsigned char)*letters);

		if (row && row->print)
			glance->starts_nothing = true;
	}
}

static bool is_dry_run(const struct strlist *environment)
{
	const char *value = strlist_env_get(environment, "AUTOFIT_DRY_RUN");
	bool truth = true;

	return value && *value &&
	       (option_truth(value, &truth, NULL) < 0 || truth);
}

bool options_otherwise(const struct strlist *argv,
		       const struct strlist *environment,
		       struct strlist *command)
{
	struct glance glance = { .argv = argv, .at = 1 };

	for (; glance.at < argv->count; glance.at++) {
		const char *word = argv->items[glance.at];

		if (strcmp(word, "--") == 0)
			break;
		if (strncmp(word, "--", 2) == 0)
			glance_at_option(&glance, word + 2);
		else if (word[0] == '-' && word[1])
			glance_at_letters(&glance, word + 1);
		else
			glance.starts_nothing = true;
	}
	if (!glance.otherwise)
		glance.otherwise =
			strlist_env_get(environment, "AUTOFIT_OTHERWISE");
	if (glance.starts_nothing || glance.at + 1 >= argv->count ||
	    !glance.otherwise || strcmp(glance.otherwise, "run") != 0 ||
	    is_dry_run(environment))
		return false;
	for (size_t i = glance.at + 1; i < argv->count; i++)
		strlist_add(command, argv->items[i]);
	return true;
}
