/* Scripts that complete autofit's words, from the tables of options. */
/* SPDX-License-Identifier: MIT */
#include "launcher/options/options_completion.h"

#include "configs/files/builtin.h"
#include "configs/presets/preset.h"
#include "launcher/options/options_kinds.h"
#include "search/search.h"

#include <string.h>

static void add_word(struct strbuf *out, const char *word)
{
	if (out->length > 0)
		strbuf_addch(out, ' ');
	strbuf_adds(out, word);
}

/* "cuda:N" and "a whole number" stand for values, they are none. */
static bool is_literal(const char *word)
{
	return word[strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789-")] ==
	       '\0';
}

static void add_presets(struct strbuf *out)
{
	const size_t folder = strlen(PRESETS_BUILTIN);

	for (const struct builtin_file *file = builtin_files; file->path;
	     file++) {
		if (strncmp(file->path, PRESETS_BUILTIN, folder) != 0)
			continue;
		add_word(out, "");
		strbuf_add(out, file->path + folder,
			   strcspn(file->path + folder, "."));
	}
}

static void add_words(struct strbuf *out, const struct option_row *row)
{
	for (size_t i = 0; row->words && row->words[i]; i++)
		if (is_literal(row->words[i]))
			add_word(out, row->words[i]);
	for (size_t i = 0; row->kind == &kind_strategy && search_strategies[i];
	     i++)
		add_word(out, search_strategies[i]->name);
	/* Beside them the user may have his own. */
	if (strcmp(row->name, "preset") == 0)
		add_presets(out);
}

void completion_words(struct strbuf *out, const struct option_row *row)
{
	struct strbuf words = STRBUF_INIT;

	add_words(&words, row);
	strbuf_adds(out, strbuf_text(&words));
	strbuf_release(&words);
}

static bool has_words(const struct option_row *row)
{
	struct strbuf words = STRBUF_INIT;
	bool some;

	add_words(&words, row);
	some = words.length > 0;
	strbuf_release(&words);
	return some;
}

/* The help's name of an argument says what it is. */
enum completion_sort completion_sort(const struct option_row *row)
{
	if (row->kind->is_flag || row->value_optional)
		return COMPLETION_NONE;
	if (has_words(row))
		return COMPLETION_WORDS;
	if (strncmp(row->argument, "FILE", 4) == 0 ||
	    strcmp(row->argument, "PATH") == 0)
		return COMPLETION_FILE;
	if (strcmp(row->argument, "DIR") == 0)
		return COMPLETION_FOLDER;
	return COMPLETION_ANY;
}

enum completion_word completion_word(const struct subcommand_row *row,
				     size_t index)
{
	size_t name = row->formats ? 1 : 0;

	if (row->formats && index == 0)
		return COMPLETION_FORMAT;
	if (row->takes_file && index == 0)
		return COMPLETION_INPUT;
	if (row->takes_preset && index == 0)
		return COMPLETION_PRESET;
	if (row->takes_name && index == name)
		return COMPLETION_RECORD;
	if (row->takes_command && !row->takes_name && index == 0)
		return COMPLETION_DASHES;
	return COMPLETION_NOTHING;
}

void completion_subcommands(struct strbuf *out)
{
	struct strbuf words = STRBUF_INIT;

	for (const struct subcommand_row *row = subcommand_rows; row->word;
	     row++)
		if (!row->reserved)
			add_word(&words, row->word);
	strbuf_adds(out, strbuf_text(&words));
	strbuf_release(&words);
}

void completion_formats(struct strbuf *out)
{
	struct strbuf words = STRBUF_INIT;

	for (const struct subcommand_row *row = subcommand_rows; row->word;
	     row++)
		for (size_t i = 0; row->formats && row->formats[i]; i++)
			add_word(&words, row->formats[i]);
	strbuf_adds(out, strbuf_text(&words));
	strbuf_release(&words);
}

void completion_presets(struct strbuf *out)
{
	struct strbuf words = STRBUF_INIT;

	add_presets(&words);
	strbuf_adds(out, strbuf_text(&words));
	strbuf_release(&words);
}

void completion_valued(struct strbuf *out)
{
	struct strbuf words = STRBUF_INIT;

	for (const struct option_row *row = option_rows; row->name; row++) {
		if (row->kind->is_flag || row->value_optional)
			continue;
		add_word(&words, "--");
		strbuf_adds(&words, row->name);
	}
	strbuf_adds(out, strbuf_text(&words));
	strbuf_release(&words);
}

void completion_quote(struct strbuf *out, const char *text)
{
	strbuf_addch(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			strbuf_adds(out, "'\\''");
		else
			strbuf_addch(out, *text);
	}
	strbuf_addch(out, '\'');
}

void options_completion(struct strbuf *out, const char *shell)
{
	if (strcmp(shell, "zsh") == 0)
		completion_zsh(out);
	else if (strcmp(shell, "fish") == 0)
		completion_fish(out);
	else
		completion_bash(out);
}
