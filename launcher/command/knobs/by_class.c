/* Options found by the words of their names, where no list has them. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/knobs/by_class.h"

#include "launcher/command/text/names.h"

#include <stdio.h>
#include <string.h>

bool by_class_applies(const struct recognition *r)
{
	return !r->command->preset_is_certain;
}

unsigned by_class_of_knob(enum knob_kind kind)
{
	if (kind == KNOB_ACCUM)
		return CLASS_BIT(OPTION_ACCUM);
	if (kind == KNOB_MICRO)
		return CLASSES_MICRO | CLASS_BIT(OPTION_BATCH) |
		       CLASS_BIT(OPTION_GLOBAL);
	return 0;
}

static enum option_class class_of_name(const struct recognition *r,
				       const char *name, size_t length)
{
	enum option_class class = option_class_of(name, length);

	if (class != OPTION_OTHER &&
	    name_is_decoy(&r->command->preset->knobs.decoys, name, length))
		return OPTION_DECOY;
	return class;
}

static enum option_class by_class_of_option(const struct recognition *r,
					    const struct source_option *option)
{
	const struct strlist *decoys = &r->command->preset->knobs.decoys;

	if (option->class == OPTION_OTHER)
		return OPTION_OTHER;
	for (size_t i = 0; i < option->names.count; i++) {
		const char *name = option->names.items[i];

		if (name_is_decoy(decoys, name, strlen(name)))
			return OPTION_DECOY;
	}
	return option->class;
}

static enum option_class by_class_of_token(const struct recognition *r,
					   const struct token *token)
{
	const struct source_option *option = option_of_token(r, token);

	return option ? by_class_of_option(r, option)
		      : class_of_name(r, token->name, token->name_length);
}

enum option_class by_class_of_candidate(const struct recognition *r,
					const struct candidate *candidate)
{
	return candidate->option ? by_class_of_option(r, candidate->option)
				 : by_class_of_token(r, &candidate->token);
}

enum option_class by_class_of_key(const struct settings *settings, size_t i)
{
	const char *key = settings->items[i].key;
	const char *next =
		i + 1 < settings->count ? settings->items[i + 1].key : "";
	size_t length = strlen(key);

	if (length > 3 && strcmp(key + length - 3, "[0]") == 0 &&
	    strncmp(next, key, length - 2) != 0)
		length -= 3;
	return option_class_of(key, length);
}

static bool is_same_option(const struct candidate *known,
			   const struct source_option *option,
			   const struct token *token)
{
	if (option || known->option)
		return option == known->option;
	return token->bare == known->token.bare &&
	       name_equal(token->name, token->name_length, known->token.name,
			  known->token.name_length);
}

/* The last occurrence of an option is the one that counts. */
static void by_class_add(struct candidates *candidates,
			 const struct candidate *candidate)
{
	size_t i = 0;

	while (i < candidates->count &&
	       !is_same_option(&candidates->items[i], candidate->option,
			       &candidate->token))
		i++;
	if (i == CANDIDATES_MAX)
		return;
	candidates->items[i] = *candidate;
	candidates->count += i == candidates->count;
}

static void collect_typed(struct candidates *candidates,
			  const struct recognition *r, unsigned classes)
{
	const struct command *command = r->command;
	struct candidate found;
	struct token token;

	for (size_t i = command->view.args; token_next(&token, command, &i);
	     i++) {
		if (token.form == KNOB_ABSENT ||
		    knob_is_taken(command, token.value_index) ||
		    !(classes & CLASS_BIT(by_class_of_token(r, &token))))
			continue;
		found = (struct candidate){
			.token = token,
			.option = option_of_token(r, &token),
		};
		(void)argument_brief(
			found.value,
			token_value(&token, command_argv(command)));
		by_class_add(candidates, &found);
	}
}

bool by_class_is_typed(const struct recognition *r,
		       const struct source_option *option)
{
	const struct command *command = r->command;
	struct token token;

	for (size_t i = command->view.args; token_next(&token, command, &i);
	     i++)
		if (option_of_token(r, &token) == option)
			return true;
	return false;
}

void by_class_collect(struct candidates *candidates,
		      const struct recognition *r, unsigned classes)
{
	struct candidate found;

	collect_typed(candidates, r, classes);
	for (size_t i = 0; i < r->source->option_count; i++) {
		const struct source_option *option = &r->source->options[i];

		if (option->is_switch || option->kind != SOURCE_INTEGER ||
		    option->value < 1 ||
		    !(classes & CLASS_BIT(by_class_of_option(r, option))) ||
		    by_class_is_typed(r, option))
			continue;
		found = (struct candidate){ .option = option };
		(void)snprintf(found.value, sizeof(found.value), "%lld",
			       (long long)option->value);
		by_class_add(candidates, &found);
	}
}

const struct source_option *by_class_declared(const struct recognition *r,
					      unsigned classes)
{
	for (size_t i = 0; i < r->source->option_count; i++) {
		const struct source_option *option = &r->source->options[i];

		if (!option->is_switch && option->kind != SOURCE_NONE &&
		    !option_is_knob(r->command, option) &&
		    !(option->kind == SOURCE_INTEGER && option->value < 1) &&
		    (classes & CLASS_BIT(by_class_of_option(r, option))))
			return option;
	}
	return NULL;
}
