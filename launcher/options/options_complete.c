/* Completion: the words that may stand at the cursor of a command line. */
/* SPDX-License-Identifier: MIT */
#include "launcher/options/options_complete.h"

#include "base/span.h"
#include "launcher/options/options_kinds.h"
#include "launcher/options/options_rows.h"
#include "search/search.h"

#include <string.h>

/* The answer's first line where candidates follow, or where there are none. */
static const char words_follow[] = "words\n";

static enum completion_names options_complete_command(struct strbuf *out,
						      size_t index)
{
	strbuf_addf(out, "command %zu\n", index);
	return COMPLETION_NO_NAMES;
}

static void add_lines(struct strbuf *out, const char *const *words)
{
	for (; words && *words; words++)
		strbuf_addf(out, "%s\n", *words);
}

static bool is_word(const char *const *words, struct span text)
{
	for (; *words; words++)
		if (span_is(text, *words))
			return true;
	return false;
}

static void add_fixed_words(struct strbuf *out, const struct option_row *row)
{
	static const char literal[] = "abcdefghijklmnopqrstuvwxyz0123456789-";

	/* "a whole number" describes a value, and so does the end of
	 * "phantom:NAME[xN]": nobody types that. */
	for (size_t i = 0; row->words && row->words[i]; i++) {
		const char *word = row->words[i];
		size_t length = strspn(word, literal);

		if (!word[length])
			strbuf_addf(out, "%s\n", word);
		else if (word[length] == ':' &&
			 !is_word(row->words, (struct span){ word, length }))
			strbuf_addf(out, "%.*s\n", (int)length + 1, word);
	}
	for (size_t i = 0; row->kind == &kind_strategy && search_strategies[i];
	     i++)
		strbuf_addf(out, "%s\n", search_strategies[i]->name);
}

/* The name of an argument in the help says what sort of value it is. */
static enum completion_names complete_value(struct strbuf *out,
					    const struct option_row *row)
{
	const char *argument = row->argument ? row->argument : "";

	if (strncmp(argument, "FILE", 4) == 0 ||
	    strcmp(argument, "PATH") == 0) {
		strbuf_adds(out, "files\n");
		return COMPLETION_NO_NAMES;
	}
	if (strcmp(argument, "DIR") == 0) {
		strbuf_adds(out, "folders\n");
		return COMPLETION_NO_NAMES;
	}
	strbuf_adds(out, words_follow);
	if (strcmp(row->name, "preset") == 0)
		return COMPLETION_PRESETS;
	if (row->argument)
		add_fixed_words(out, row);
	return COMPLETION_NO_NAMES;
}

static enum completion_names complete_option(struct strbuf *out,
					     const struct subcommand_row *given)
{
	bool estimates = given && given->subcommand == SUBCOMMAND_ESTIMATE;

	strbuf_adds(out, words_follow);
	strbuf_adds(out, "--\tthe command follows\n");
	for (const struct option_row *row = option_rows; row->name; row++) {
		if (row->group >= GROUP_ESTIMATE && !estimates)
			continue;
		strbuf_addf(out, "--%s\t%s\n", row->name, row->doc);
		if (row->letter)
			strbuf_addf(out, "-%c\t%s\n", row->letter, row->doc);
	}
	return COMPLETION_NO_NAMES;
}

/* The first word: a sub-command, or a command without "--" before it. */
static enum completion_names complete_first(struct strbuf *out,
					    const char *word, size_t index)
{
	bool begins = false;

	strbuf_adds(out, words_follow);
	for (const struct subcommand_row *row = subcommand_rows; row->word;
	     row++) {
		if (row->is_hidden)
			continue;
		strbuf_addf(out, "%s\t%s\n", row->word, row->doc);
		if (strncmp(row->word, word, strlen(word)) == 0)
			begins = true;
	}
	if (begins)
		return COMPLETION_NO_NAMES;
	strbuf_reset(out);
	return options_complete_command(out, index);
}

/* A word after the sub-command, behind `before` other ones. */
static enum completion_names complete_word(struct strbuf *out,
					   const struct subcommand_row *row,
					   size_t before)
{
	size_t name = row->formats ? 1 : 0;

	if (row->takes_file && before == 0) {
		strbuf_adds(out, "files\n");
		return COMPLETION_NO_NAMES;
	}
	strbuf_adds(out, words_follow);
	if (before == 0)
		add_lines(out, row->formats);
	if (row->takes_preset && before == 0)
		return COMPLETION_PRESETS;
	if (row->takes_name && before == name)
		return COMPLETION_RECORDS;
	if (row->takes_command && !row->takes_name && before == 0)
		strbuf_adds(out, "--\tthe command follows\n");
	return COMPLETION_NO_NAMES;
}

/* The word at the cursor, after all words before it were read. */
static enum completion_names complete_last(struct strbuf *out,
					   const struct strlist *words,
					   const struct subcommand_row *given,
					   size_t before)
{
	size_t last = words->count - 1;
	const char *word = words->items[last];
	const struct option_row *row;

	if (strncmp(word, "--", 2) == 0 && strchr(word, '=')) {
		row = option_of_name(word + 2, strcspn(word + 2, "="));
		if (row)
			return complete_value(out, row);
	}
	if (word[0] == '-')
		return complete_option(out, given);
	return given ? complete_word(out, given, before)
		     : complete_first(out, word, last);
}

enum completion_names options_complete(const struct strlist *words,
				       struct strbuf *out)
{
	const struct subcommand_row *given = NULL;
	size_t before = 0;

	for (size_t at = 0; at + 1 < words->count; at++) {
		const char *word = words->items[at];
		const struct option_row *row = NULL;
		const char *value = NULL;

		if (strcmp(word, "--") == 0)
			return options_complete_command(out, at + 1);
		if (strncmp(word, "--", 2) == 0)
			row = option_read(words, &at, &value);
		if (at + 1 == words->count && row && !row->value_optional)
			return complete_value(out, row);
		if (word[0] == '-' && word[1])
			continue;
		if (given) {
			before++;
			continue;
		}
		given = subcommand_of(word);
		if (!given)
			return options_complete_command(out, at);
	}
	return words->count ? complete_last(out, words, given, before)
			    : COMPLETION_NO_NAMES;
}
