/* What a shell may offer at the cursor, from the tables of options. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/options/options_complete.h"

#include "configs/files/builtin.h"
#include "configs/presets/preset.h"
#include "launcher/options/options_kinds.h"
#include "launcher/options/options_rows.h"
#include "search/search.h"

#include <assert.h>
#include <string.h>

/* Where the cursor is, after the words before it were read. */
struct place {
	const char *at;                   /* what stands there already */
	const struct option_row *valued;  /* whose value it is; NULL */
	const struct subcommand_row *sub; /* the sub-command; NULL: none yet */
	size_t given;                     /* words after it */
	size_t command; /* the word, from 1, with which it begins; 0: none */
};

static void offer(struct strbuf *out, const struct place *place,
		  const char *word, const char *meaning)
{
	if (strncmp(word, place->at, strlen(place->at)) == 0)
		strbuf_addf(out, "%s%s%s\n", word, meaning ? "\t" : "",
			    meaning ? meaning : "");
}

static bool takes_value(const struct option_row *row)
{
	return row && !row->kind->is_flag && !row->value_optional;
}

/* The option of --name or -x; NULL: none. */
static const struct option_row *option_of_word(const char *word)
{
	if (word[0] == '-' && word[1] == '-')
		return option_of_name(word + 2, strcspn(word + 2, "="));
	for (const struct option_row *row = option_rows; row->name; row++)
		if (word[0] == '-' && row->letter == word[1] && !word[2])
			return row;
	return NULL;
}

static const struct subcommand_row *known_subcommand(const char *word)
{
	const struct subcommand_row *row = subcommand_of(word);

	return row && !row->reserved ? row : NULL;
}

static struct place place_find(const struct strlist *words)
{
	size_t last = words->count - 1;
	struct place place = { .at = words->items[last] };

	for (size_t i = 0; i < last; i++) {
		const char *word = words->items[i];
		const struct option_row *row = option_of_word(word);

		if (strcmp(word, "--") == 0) {
			place.command = i + 2;
			return place;
		}
		if (takes_value(row) && !strchr(word, '=')) {
			if (++i == last)
				place.valued = row;
		} else if (*word == '-') {
			continue;
		} else if (place.sub) {
			place.given++;
		} else {
			place.sub = known_subcommand(word);
			if (!place.sub) {
				place.command = i + 1;
				return place;
			}
		}
	}
	if (!place.valued && strncmp(place.at, "--", 2) == 0 &&
	    strchr(place.at, '=')) {
		place.valued = option_of_word(place.at);
		place.at = strchr(place.at, '=') + 1;
	}
	return place;
}

/* "cuda:N" and "a whole number" stand for values, they are none. */
static bool is_literal(const char *word)
{
	return word[strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789-")] ==
	       '\0';
}

static void offer_presets(struct strbuf *out, const struct place *place)
{
	const size_t folder = strlen(PRESETS_BUILTIN);

	for (const struct builtin_file *file = builtin_files; file->path;
	     file++) {
		struct strbuf name = STRBUF_INIT;

		if (strncmp(file->path, PRESETS_BUILTIN, folder) != 0)
			continue;
		strbuf_add(&name, file->path + folder,
			   strcspn(file->path + folder, "."));
		offer(out, place, strbuf_text(&name), NULL);
		strbuf_release(&name);
	}
}

static void offer_values(struct strbuf *out, const struct place *place)
{
	const struct option_row *row = place->valued;
	size_t before = out->length;

	for (size_t i = 0; row->words && row->words[i]; i++)
		if (is_literal(row->words[i]))
			offer(out, place, row->words[i], NULL);
	for (size_t i = 0; row->kind == &kind_strategy && search_strategies[i];
	     i++)
		offer(out, place, search_strategies[i]->name, NULL);
	/* Beside them the user may have his own. */
	if (strcmp(row->name, "preset") == 0)
		offer_presets(out, place);
	/* The help's name of an argument says what it is. */
	if (out->length > before || !row->argument)
		return;
	if (strncmp(row->argument, "FILE", 4) == 0 ||
	    strcmp(row->argument, "PATH") == 0)
		strbuf_adds(out, ":file\n");
	else if (strcmp(row->argument, "DIR") == 0)
		strbuf_adds(out, ":folder\n");
}

static void offer_options(struct strbuf *out, const struct place *place)
{
	offer(out, place, "--", "the command follows");
	for (const struct option_row *row = option_rows; row->name; row++) {
		struct strbuf name = STRBUF_INIT;

		strbuf_addf(&name, "--%s", row->name);
		offer(out, place, strbuf_text(&name), row->doc);
		strbuf_release(&name);
	}
}

/* The words after a sub-command. */
static void offer_arguments(struct strbuf *out, const struct place *place)
{
	const struct subcommand_row *row = place->sub;
	size_t name = row->formats ? 1 : 0;

	for (size_t i = 0; place->given == 0 && row->formats && row->formats[i];
	     i++)
		offer(out, place, row->formats[i], NULL);
	if (place->given == 0 && row->takes_file)
		strbuf_adds(out, ":file\n");
	if (place->given == 0 && row->takes_preset)
		offer_presets(out, place);
	if (place->given == name && row->takes_name)
		strbuf_adds(out, ":record\n");
	else if (place->given == 0 && row->takes_command && !row->takes_name)
		offer(out, place, "--", "the command follows");
}

static void offer_first(struct strbuf *out, const struct place *place)
{
	for (const struct subcommand_row *row = subcommand_rows; row->word;
	     row++)
		if (!row->reserved)
			offer(out, place, row->word, row->doc);
	/* Without -- the command may stand here as well. */
	if (*place->at)
		strbuf_adds(out, ":programs\n");
}

void options_complete(struct strbuf *out, const struct strlist *words)
{
	struct place place;

	if (words->count == 0)
		return;
	place = place_find(words);
	if (place.command)
		strbuf_addf(out, ":command %zu\n", place.command);
	else if (place.valued)
		offer_values(out, &place);
	else if (*place.at == '-')
		offer_options(out, &place);
	else if (place.sub)
		offer_arguments(out, &place);
	else
		offer_first(out, &place);
}

void options_completion(struct strbuf *out, const char *shell)
{
	static const struct {
		const char *shell, *path;
	} scripts[] = {
		{ "bash", "scripts/completion/autofit.bash" },
		{ "zsh", "scripts/completion/_autofit" },
		{ "fish", "scripts/completion/autofit.fish" },
	};

	for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++) {
		const struct builtin_file *file = builtin_find(scripts[i].path);

		assert(file);
		if (strcmp(scripts[i].shell, shell) == 0)
			strbuf_add(out, file->data, file->size);
	}
}
