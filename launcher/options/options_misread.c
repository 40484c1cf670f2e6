/* Lines that cannot be parsed: what was meant, and what becomes of them. */
/* SPDX-License-Identifier: MIT */
#include "launcher/options/options_rows.h"

#include "base/alloc.h"
#include "launcher/command/text/text.h"
#include "launcher/options/options_kinds.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *option_nearest(const char *name)
{
	size_t nearest = strlen(name) > 4 ? 3 : 2;
	const char *found = NULL;

	for (const struct option_row *row = option_rows; row->name; row++) {
		size_t distance = text_distance(name, row->name);

		if (distance >= nearest)
			continue;
		nearest = distance;
		found = row->name;
	}
	return found;
}

const char *option_suggestion(const char *name)
{
	for (const struct option_row *row = option_rows; row->name; row++)
		if (*name && strncmp(row->name, name, strlen(name)) == 0)
			return row->name;
	return option_nearest(name);
}

const char *subcommand_suggestion(const char *word)
{
	size_t nearest = strlen(word) > 3 ? 3 : 2;
	const char *found = NULL;

	for (const struct subcommand_row *row = subcommand_rows; row->word;
	     row++) {
		size_t distance = text_distance(word, row->word);

		if (distance >= nearest)
			continue;
		nearest = distance;
		found = row->word;
	}
	return found;
}

/* What other programs call it. */
static const char *words_of_others(const char *name)
{
	static const struct {
		const char *name, *words;
	} rows[] = {
		{ "model", "a model stands without one: autofit estimate "
			   "llama-3.1-8b" },
		{ "qlora", "write --quantize nf4" },
		{ "load-in-4bit", "write --quantize nf4" },
		{ "load-in-8bit", "write --quantize int8" },
		{ "seq-len", "write --sequence" },
		{ "max-model-len", "write --sequence" },
		{ "gradient-checkpointing", "write --checkpointing" },
		{ "tensor-parallel-size", "write --tensor-parallel" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (strcmp(rows[i].name, name) == 0)
			return rows[i].words;
	return NULL;
}

void option_unknown(const char *name, struct error *err)
{
	const char *meant = option_suggestion(name);
	const char *words = words_of_others(name);

	if (words)
		(void)error_set(err, -EINVAL, "unknown option --%.64s: %s",
				name, words);
	else if (meant)
		(void)error_set(err, -EINVAL,
				"unknown option --%.64s; did you mean --%s?",
				name, meant);
	else
		(void)error_set(err, -EINVAL,
				"unknown option --%.64s (autofit --help lists "
				"them)",
				name);
}

void subcommand_unknown(const char *word, struct error *err)
{
	const char *meant = subcommand_suggestion(word);

	if (meant)
		(void)error_set(err, -EINVAL,
				"no sub-command is called '%.64s'; did you "
				"mean %s?",
				word, meant);
	else
		(void)error_set(err, -EINVAL,
				"no sub-command is called '%.64s' (autofit "
				"help lists them)",
				word);
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
	const struct option_row *meant;

	if (strncmp(word, "--", 2) == 0) {
		long_misread(word + 2, err);
		return;
	}
	meant = option_of_name(word + 1, strcspn(word + 1, "="));
	if (meant) {
		(void)error_set(err, -EINVAL,
				"unknown option %.64s; did you mean --%s?",
				word, meant->name);
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

const struct option_row *option_read(const struct strlist *words, size_t *at,
				     const char **value)
{
	const char *name = words->items[*at] + 2;
	size_t length = strcspn(name, "=");
	const struct option_row *row = option_of_name(name, length);
	const char *next =
		*at + 1 < words->count ? words->items[*at + 1] : NULL;

	*value = name[length] ? name + length + 1 : NULL;
	if (*value || !next || strcmp(next, "--") == 0 ||
	    (row && !row->argument))
		return row;
	if ((row && !row->value_optional) || option_value_may_be(row, next)) {
		*value = next;
		++*at;
	}
	return row;
}

/* --otherwise as the words before "--" say it, misread ones among them. */
struct otherwise {
	const char *value;   /* the last one; NULL: not given */
	bool starts_nothing; /* --dry-run, --help, a sub-command */
};

/* The letters -h and -V start nothing; none takes a value. */
static void otherwise_see_letters(struct otherwise *otherwise,
				  const char *letters)
{
	for (; *letters; letters++) {
		const struct option_row *row =
			option_of_key((unsigned char)*letters);

		if (row && row->print)
			otherwise->starts_nothing = true;
	}
}

static void otherwise_see_option(struct otherwise *otherwise,
				 const struct strlist *argv, size_t *at)
{
	const char *value;
	const struct option_row *row = option_read(argv, at, &value);

	if (!row)
		return;
	if (row->print || row->kind == &kind_explain)
		otherwise->starts_nothing = true;
	if (row->field == offsetof(struct options, reuse.otherwise_run))
		otherwise->value = value ? value : "";
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
	struct otherwise otherwise = { .value = NULL };
	size_t at = 1;

	for (; at < argv->count && strcmp(argv->items[at], "--") != 0; at++) {
		const char *word = argv->items[at];

		if (strncmp(word, "--", 2) == 0)
			otherwise_see_option(&otherwise, argv, &at);
		else if (word[0] == '-' && word[1])
			otherwise_see_letters(&otherwise, word + 1);
		else
			otherwise.starts_nothing = true;
	}
	if (!otherwise.value)
		otherwise.value =
			strlist_env_get(environment, "AUTOFIT_OTHERWISE");
	if (otherwise.starts_nothing || at + 1 >= argv->count ||
	    !otherwise.value || strcmp(otherwise.value, "run") != 0 ||
	    is_dry_run(environment))
		return false;
	strlist_add_all(command, (const char *const *)argv->items + at + 1,
			argv->count - at - 1);
	return true;
}
