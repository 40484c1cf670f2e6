/* Knobs that the user names with --micro-flag and its like. Pure. */
/* SPDX-License-Identifier: MIT */

#include "launcher/command/knobs/knob_by_flag.h"

#include "launcher/command/knobs/knob_defaults.h"
#include "launcher/command/knobs/knob_in_file.h"
#include "launcher/command/knobs/knob_literal.h"
#include "launcher/command/knobs/knob_take.h"
#include "launcher/command/parts/token.h"
#include "launcher/command/text/names.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static const char *hint_of(const struct command_hints *hints,
			   enum knob_kind kind)
{
	switch (kind) {
	case KNOB_MICRO:
		return hints->micro_flag;
	case KNOB_ACCUM:
		return hints->accum_flag;
	case KNOB_GLOBAL:
		return hints->global_flag;
	case KNOB_STEPS:
	case KNOB_OUTPUT:
	case KNOB_KINDS:
		break;
	}
	return NULL;
}

static enum command_outcome check_hint(const struct recognition *r,
				       enum knob_kind kind, const char *name)
{
	static const char *const flags[] = { "--micro-flag", "--accum-flag",
					     "--global-flag" };
	static const char *const examples[] = { "--bs", "--accum", "--bs" };
	const char *letters = name + strspn(name, "-+~");
	char shown[BRIEF_MAX];

	if (r->command->knobs[kind].form != KNOB_ABSENT) {
		(void)error_set(r->err, -EINVAL,
				"both %s and %s say where the %s is: keep one",
				r->command->knobs[kind].name, flags[kind],
				knob_words(kind));
		return COMMAND_USAGE;
	}
	if ((isalpha((unsigned char)*letters) || *letters == '_') &&
	    !strchr(name, '='))
		return COMMAND_OK;
	(void)error_set(r->err, -EINVAL,
			"%s %s: %s takes the option's name, such as %s %s",
			flags[kind], argument_brief(shown, name), flags[kind],
			flags[kind], examples[kind]);
	return COMMAND_USAGE;
}

/* Did the user mean this argument by --micro-flag name? */
static bool token_is_hinted(const struct recognition *r,
			    const struct token *token, const char *name)
{
	size_t length = strlen(name);
	const struct source_option *option;

	if (name_equal(token->name, token->name_length, name, length))
		return true;
	if (*name != '-')
		return name_matches(name, token->name, token->name_length,
				    token->bare);
	if (token->bare)
		return false;
	option = source_resolve(r->source, name, length);
	return option && option == source_resolve(r->source, token->name,
						  token->name_length);
}

/* The last one that it names; without a name when there is none. */
static struct token knob_by_flag_token(const struct recognition *r,
				       const char *name)
{
	const struct command *command = r->command;
	struct token token, found = { .name = NULL };

	for (size_t i = command->view.args; token_next(&token, command, &i);
	     i++)
		if (token_is_hinted(r, &token, name))
			found = token;
	return found;
}

static enum command_outcome flag_not_found(const struct recognition *r,
					   const char *shown)
{
	const struct command *command = r->command;
	char path[BRIEF_MAX];

	if (*shown == '-' || command->file_count == 0)
		return not_recognised(
			r,
			"the option %s is not in the command: add "
			"it with its present value, such as %s 1",
			shown, shown);
	return not_recognised(
		r,
		"%s is neither a word of the command nor a key that is written "
		"in %s%s: name the whole key where its number stands, as in "
		"train.batch_size",
		shown,
		argument_brief(
			path,
			command->files[command->file_count - 1].read->path),
		command->file_count > 1 ? " or another file of it" : "");
}

static enum command_outcome named_twice(const struct recognition *r,
					const char *shown)
{
	(void)error_set(r->err, -EINVAL,
			"two options of autofit name %s, which can be one of "
			"them only: leave the other out",
			shown);
	return COMMAND_USAGE;
}

/* Is what was found in a file or a script already another's? */
static bool place_is_taken(const struct command *command, enum knob_kind kind)
{
	const struct knob *knob = &command->knobs[kind];

	for (int other = 0; other <= KNOB_GLOBAL; other++) {
		const struct knob *taken = &command->knobs[other];

		if (taken != knob && taken->form == knob->form &&
		    (knob->form == KNOB_SOURCE || knob->form == KNOB_FILE) &&
		    strcmp(taken->name, knob->name) == 0 &&
		    strcmp(taken->evidence, knob->evidence) == 0)
			return true;
	}
	return false;
}

enum command_outcome knob_by_flag_find(struct recognition *r,
				       enum knob_kind kind)
{
	const char *name = hint_of(r->hints, kind);
	const struct source_option *option;
	enum command_outcome outcome;
	char shown[BRIEF_MAX];
	struct token found;

	if (!name)
		return COMMAND_OK;
	outcome = check_hint(r, kind, name);
	if (outcome != COMMAND_OK)
		return outcome;
	(void)argument_brief(shown, name);
	found = knob_by_flag_token(r, name);
	if (found.name && found.form != KNOB_ABSENT &&
	    knob_is_taken(r->command, found.value_index))
		return named_twice(r, shown);
	if (found.name)
		return knob_take(r, kind, &found);
	option = *name == '-' ? source_resolve(r->source, name, strlen(name))
			      : NULL;
	if (option && kind <= KNOB_ACCUM)
		return knob_set_option_default(r, kind, option);
	if (*name != '-')
		outcome = knob_by_key_find(r, kind, name);
	if (outcome == COMMAND_OK && *name != '-' &&
	    r->command->knobs[kind].form == KNOB_ABSENT)
		outcome = knob_literal_by_name(r, kind, name);
	if (outcome != COMMAND_OK)
		return outcome;
	if (place_is_taken(r->command, kind))
		return named_twice(r, shown);
	return r->command->knobs[kind].form != KNOB_ABSENT
		       ? COMMAND_OK
		       : flag_not_found(r, shown);
}
