/* Options that may be a knob, typed or known to the script. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/knobs/candidates.h"

#include "base/alloc.h"
#include "launcher/command/knobs/by_class.h"
#include "launcher/command/knobs/knob_scope.h"
#include "launcher/command/text/names.h"
#include "launcher/command/text/text.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In shorter names two letters are too much of the name. */
#define SLIP_NAME_MIN 6
#define SLIP_LETTERS 2

static bool option_is_decoy(const struct preset *preset,
			    const struct source_option *option)
{
	for (size_t i = 0; i < option->names.count; i++) {
		const char *name = option->names.items[i];

		if (name_is_decoy(&preset->knobs.decoys, name, strlen(name)))
			return true;
	}
	return false;
}

/* The best place of an option's spellings in the list, or its count. */
static size_t option_rank(const struct preset *preset,
			  const struct strlist *names,
			  const struct source_option *option)
{
	bool has_word = option->dest != NULL;
	size_t best = names->count;

	for (size_t i = 0; i < option->names.count; i++)
		has_word |= strlen(option->names.items[i]) > 2;
	for (size_t i = 0; i < option->names.count; i++) {
		const char *name = option->names.items[i];
		size_t rank = names_find(names, name, strlen(name), false);

		/* -b means what the long name beside it says. */
		if (strlen(name) > 2 || !has_word)
			best = rank < best ? rank : best;
	}
	for (size_t i = 0; option->dest && i < names->count; i++) {
		const char *entry = names->items[i];

		entry += strspn(entry, "-");
		if (i < best && name_matches(entry, option->dest,
					     strlen(option->dest), false))
			best = i;
	}
	/* Last, for it takes long and a script has many options. */
	return best < names->count && option_is_decoy(preset, option)
		       ? names->count
		       : best;
}

const struct source_option *knob_in_source(const struct recognition *r,
					   enum knob_kind kind, size_t *rank)
{
	const struct preset *preset = r->command->preset;
	const struct strlist *names = &preset_knob(preset, kind)->names;
	const struct source_option *found = NULL;

	*rank = names->count;
	for (size_t i = 0; i < r->source->option_count; i++) {
		const struct source_option *option = &r->source->options[i];
		size_t place =
			option->is_switch || option_is_knob(r->command, option)
				? names->count
				: option_rank(preset, names, option);

		if (place < *rank) {
			*rank = place;
			found = option;
		}
	}
	assert(!found || *rank < names->count);
	return found || !by_class_applies(r)
		       ? found
		       : by_class_declared(r, by_class_of_knob(kind));
}

/*
 * argparse takes the beginning of a name where it is the only one: looked for
 * among all that the preset knows. The one name, or NULL.
 */
static const char *completion(const struct preset *preset, const char *typed,
			      size_t length)
{
	const struct strlist *lists[] = {
		&preset->knobs.micro.names,  &preset->knobs.accum.names,
		&preset->knobs.global.names, &preset->knobs.steps.names,
		&preset->knobs.output.names, &preset->knobs.decoys,
		&preset->words.neutral_args, NULL
	};
	const char *found = NULL;

	for (size_t i = 0; lists[i]; i++) {
		for (size_t k = 0; k < lists[i]->count; k++) {
			const char *name = lists[i]->items[k];

			if (!name_starts(name, typed, length))
				continue;
			if (found && !name_equal(name, strlen(name), found,
						 strlen(found)))
				return NULL;
			found = name;
		}
	}
	return found;
}

/* "--mode" or 'mode' in the script: a name of its own, no short --model_dir. */
static bool script_says(const struct recognition *r, const char *typed,
			size_t length)
{
	size_t dashes = strspn(typed, "-");
	char *name = xstrndup(typed + dashes, length - dashes);
	size_t bytes = length - dashes;
	bool found = false;

	for (const char *at = r->text ? strstr(r->text, name) : NULL;
	     at && !found; at = strstr(at + 1, name))
		found = strchr("\"'", at[bytes]) && at[bytes] && at > r->text &&
			strchr("\"'-", at[-1]);
	free(name);
	return found;
}

/* The place among the names that the token means, or their count. */
static size_t token_rank(const struct recognition *r,
			 const struct strlist *names, const struct token *token,
			 const struct source_option **option)
{
	const struct preset *preset = r->command->preset;
	size_t length = token->name_length;
	size_t rank = names_find(names, token->name, length, token->bare);
	const char *full;

	*option = option_of_token(r, token);
	/* Names of a framework are its own; usual names are the script's. */
	if (rank < names->count && strncmp(names->items[rank], "--", 2) == 0)
		return rank;
	if (*option)
		return option_rank(preset, names, *option);
	if (rank < names->count || token->bare ||
	    !preset->words.abbreviations || length < 5 ||
	    strncmp(token->name, "--", 2) != 0 ||
	    script_says(r, token->name, length))
		return rank;
	full = completion(preset, token->name, length);
	return full ? names_find(names, full, strlen(full), false)
		    : names->count;
}

/* -b alone, "batch size for the loader". */
static bool help_speaks_of_it(const struct source_option *option)
{
	return option && option->help && strcasestr(option->help, "batch");
}

static bool candidate_read(const struct recognition *r, enum knob_kind kind,
			   const struct token *token,
			   struct candidate *candidate)
{
	const struct command *command = r->command;
	const struct preset_knob *knob = preset_knob(command->preset, kind);

	*candidate = (struct candidate){ .token = *token };
	if ((token->bare && !knob->bare) ||
	    (token->form != KNOB_ABSENT &&
	     knob_is_taken(command, token->value_index)))
		return false;
	candidate->rank =
		token_rank(r, &knob->names, token, &candidate->option);
	if (candidate->rank == knob->names.count ||
	    name_is_decoy(&command->preset->knobs.decoys, token->name,
			  token->name_length))
		return false;
	/* One letter among usual names; a framework's own are certain. */
	assert(candidate->rank < knob->names.count);
	candidate->weak = knob->names.items[0][0] != '-' &&
			  knob->names.items[candidate->rank][0] == '-' &&
			  !help_speaks_of_it(candidate->option);
	(void)argument_brief(candidate->value,
			     token_value(token, command_argv(command)));
	return true;
}

static bool same_option(const struct candidate *a, const struct candidate *b)
{
	if (a->option || b->option)
		return a->option == b->option;
	return a->token.bare == b->token.bare &&
	       name_equal(a->token.name, a->token.name_length, b->token.name,
			  b->token.name_length);
}

/* The last occurrence of an option is the one that counts. */
static void candidate_keep(struct candidates *candidates,
			   const struct candidate *candidate)
{
	assert(candidates->count <= CANDIDATES_MAX);
	for (size_t i = 0; i < candidates->count; i++) {
		if (same_option(&candidates->items[i], candidate)) {
			candidates->items[i] = *candidate;
			return;
		}
	}
	if (candidates->count < CANDIDATES_MAX)
		candidates->items[candidates->count++] = *candidate;
}

/* "batch_size=64" is a field of that name where the words set fields. */
static bool sets_field(const struct token *token,
		       const struct source_option *option)
{
	const char *name = option->names.items[0];

	name += strspn(name, "-");
	return token->name && token->bare &&
	       name_equal(token->name, token->name_length, name, strlen(name));
}

/* Options with a default that the command leaves at that. */
static void collect_defaults(const struct recognition *r, enum knob_kind kind,
			     struct candidates *candidates)
{
	const struct preset *preset = r->command->preset;
	const struct strlist *names = &preset_knob(preset, kind)->names;

	for (size_t i = 0; i < r->source->option_count; i++) {
		const struct source_option *option = &r->source->options[i];
		struct candidate candidate = { .option = option };
		bool is_typed = false;

		for (size_t k = 0; k < candidates->count; k++)
			is_typed |=
				candidates->items[k].option == option ||
				sets_field(&candidates->items[k].token, option);
		if (is_typed || option->kind != SOURCE_INTEGER ||
		    option->value < 1 || option->is_switch ||
		    option_is_knob(r->command, option))
			continue;
		candidate.rank = option_rank(preset, names, option);
		if (candidate.rank == names->count ||
		    names->items[candidate.rank][0] == '-')
			continue;
		(void)snprintf(candidate.value, sizeof(candidate.value), "%lld",
			       (long long)option->value);
		candidate_keep(candidates, &candidate);
	}
}

static void drop_weak(struct candidates *candidates)
{
	size_t kept = 0;

	for (size_t i = 0; i < candidates->count; i++)
		if (!candidates->items[i].weak)
			candidates->items[kept++] = candidates->items[i];
	candidates->count = kept;
}

/* The words of a name say more than -b. */
static void add_by_class(struct candidates *candidates,
			 const struct recognition *r, enum knob_kind kind)
{
	struct candidates found = { .count = 0 };

	by_class_collect(&found, r, by_class_of_knob(kind));
	if (found.count)
		*candidates = found;
}

/* A smaller batch beside the one batch, mini_batch_size say, that the script
 * reads as well: it may be what a pass takes. */
static void add_smaller(struct candidates *candidates,
			const struct recognition *r)
{
	struct candidates others = { .count = 0 };
	char name[BRIEF_MAX];
	int64_t batch, part;

	if (candidates->count != 1 ||
	    !count_parse(candidates->items[0].value, &batch))
		return;
	by_class_collect(&others, r, CLASS_BIT(OPTION_BATCH));
	for (size_t i = 0; i < others.count; i++)
		if (!same_option(&candidates->items[0], &others.items[i]) &&
		    count_parse(others.items[i].value, &part) && part < batch &&
		    knob_scope_is_read(r,
				       candidate_name(name, &others.items[i])))
			candidate_keep(candidates, &others.items[i]);
}

void candidates_collect(struct candidates *candidates,
			const struct recognition *r, enum knob_kind kind)
{
	const struct command *command = r->command;
	struct candidate candidate;
	struct token token;
	bool has_strong = false;

	candidates->count = 0;
	for (size_t i = command->view.args; token_next(&token, command, &i);
	     i++)
		if (candidate_read(r, kind, &token, &candidate))
			candidate_keep(candidates, &candidate);
	/* The names of a known framework are known; of another the usual ones
	 * count. */
	if (preset_knob(command->preset, kind)->bare)
		collect_defaults(r, kind, candidates);
	for (size_t i = 0; i < candidates->count; i++)
		has_strong |= !candidates->items[i].weak;
	if (has_strong)
		drop_weak(candidates);
	else if (by_class_applies(r))
		add_by_class(candidates, r, kind);
	if (has_strong && by_class_applies(r) && kind == KNOB_MICRO)
		add_smaller(candidates, r);
}

const char *candidate_name(char out[BRIEF_MAX],
			   const struct candidate *candidate)
{
	char *name = candidate->token.name
			     ? xstrndup(candidate->token.name,
					candidate->token.name_length)
			     : xstrdup(candidate->option->names.items[0]);

	(void)argument_brief(out, name);
	free(name);
	return out;
}

void candidate_words(char out[CANDIDATE_WORDS_MAX],
		     const struct candidate *candidate)
{
	char name[BRIEF_MAX];

	(void)snprintf(out, CANDIDATE_WORDS_MAX, "%s %s",
		       candidate_name(name, candidate), candidate->value);
}

static bool is_slip_of(const char *word, const char *name)
{
	size_t distance;

	if (strncmp(name, "--", 2) != 0 || strlen(word) < SLIP_NAME_MIN ||
	    strncmp(word, name, strlen(word)) == 0)
		return false;
	distance = text_distance(word, name);
	return distance > 0 && distance <= SLIP_LETTERS;
}

/* The name among those of the option that the word was meant to be; NULL. */
static const char *meant_name(const struct recognition *r,
			      const struct source_option *option,
			      const char *word)
{
	if (source_resolve(r->source, word, strlen(word)))
		return NULL;
	for (size_t i = 0; i < option->names.count; i++)
		if (is_slip_of(word, option->names.items[i]))
			return option->names.items[i];
	return NULL;
}

enum command_outcome candidates_slip_check(const struct recognition *r,
					   const struct source_option *option)
{
	const struct command *command = r->command;
	struct token token;

	for (size_t i = command->view.args; token_next(&token, command, &i);
	     i++) {
		char word[TEXT_NAME_MAX + 1];
		const char *name;

		if (token.name_length >= sizeof(word) || token.bare)
			continue;
		memcpy(word, token.name, token.name_length);
		word[token.name_length] = '\0';
		name = meant_name(r, option, word);
		if (name)
			return not_recognised(
				r,
				"%s:%u has the option %s, and none called %s: "
				"did you mean %s? Else add %s %lld, its "
				"default there",
				option_file(r, option), option->line, name,
				word, name, name, (long long)option->value);
	}
	return COMMAND_OK;
}
