/* Knobs that are variables of the environment. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/knobs/knob_variable.h"

#include "base/alloc.h"
#include "launcher/command/knobs/by_class.h"
#include "launcher/command/knobs/knob_take.h"
#include "launcher/command/parts/token.h"
#include "launcher/command/text/names.h"
#include "launcher/command/text/placeholder.h"

#include <string.h>
#include <strings.h>

/* The words of a variable's name say this knob, and no evaluation's. */
static bool variable_says(const struct recognition *r, enum knob_kind kind,
			  const char *name, size_t length)
{
	const unsigned classes =
		by_class_of_knob(kind) & ~CLASS_BIT(OPTION_GLOBAL);

	return (classes & CLASS_BIT(option_class_of(name, length))) &&
	       !name_is_decoy(&r->command->preset->knobs.decoys, name, length);
}

/* The only one whose words say it. */
static const struct source_variable *
variable_by_words(const struct recognition *r, enum knob_kind kind)
{
	const struct source_variable *found = NULL;

	for (size_t i = 0; i < r->source->variable_count; i++) {
		const struct source_variable *variable =
			&r->source->variables[i];

		if (!variable_says(r, kind, variable->name,
				   strlen(variable->name)))
			continue;
		if (found && strcmp(found->name, variable->name) != 0)
			return NULL;
		found = found ? found : variable;
	}
	return found;
}

/* The variable of the environment that the script reads for it, or NULL. */
static const struct source_variable *variable_find(const struct recognition *r,
						   enum knob_kind kind)
{
	const struct preset *preset = r->command->preset;
	const struct strlist *names = &preset_knob(preset, kind)->names;

	for (size_t i = 0; i < r->source->variable_count; i++) {
		const struct source_variable *variable =
			&r->source->variables[i];
		size_t length = strlen(variable->name);

		if (!name_is_decoy(&preset->knobs.decoys, variable->name,
				   length) &&
		    names_find(names, variable->name, length, true) <
			    names->count)
			return variable;
	}
	return by_class_applies(r) ? variable_by_words(r, kind) : NULL;
}

static struct token assignment_token(const char *name, size_t index,
				     size_t length)
{
	return (struct token){ .index = index,
			       .name = name,
			       .name_length = length,
			       .form = KNOB_JOINED,
			       .value_index = index,
			       .value_offset = length + 1 };
}

/* Where the command itself sets it in front of the program: env BS=8, or a
 * shell's BS=8. The last one counts. */
static bool assignment_find(const struct recognition *r, const char *name,
			    struct token *token)
{
	const struct command_view *view = &r->command->view;
	const struct strlist *argv = command_argv(r->command);
	size_t length = strlen(name);

	token->name = NULL;
	if (!strlist_env_get(&view->assignments, name))
		return false;
	for (size_t i = 0; i < view->program && i < argv->count; i++)
		if (strncmp(argv->items[i], name, length) == 0 &&
		    argv->items[i][length] == '=')
			*token = assignment_token(argv->items[i], i, length);
	return token->name != NULL;
}

/* As the environment sets it, else its default in the script. */
static enum command_outcome
from_variable(struct recognition *r, enum knob_kind kind,
	      const struct source_variable *variable)
{
	struct knob *knob = &r->command->knobs[kind];
	const char *set =
		r->hints->environment
			? strlist_env_get(r->hints->environment, variable->name)
			: NULL;
	int64_t value = variable->kind == SOURCE_INTEGER ? variable->value : 0;

	if ((set && !count_parse(set, &value)) || value < 1)
		return not_recognised(
			r,
			"%s:%u reads the %s from the variable "
			"%s, which is no plain number: set it, as "
			"in %s=8 autofit -- ...",
			r->source_name, variable->line, knob_words(kind),
			variable->name, variable->name);
	strlist_addf(&r->command->env_templates, "%s={%s}", variable->name,
		     placeholder_name(kind));
	knob->form = KNOB_ENVIRONMENT;
	knob->value = value;
	knob->name = xstrdup(variable->name);
	knob->evidence = xasprintf("%s:%u", r->source_name, variable->line);
	return variable_check(r, variable->name, strlen(variable->name));
}

/* TRAIN_BATCH_SIZE of the script's batch_size: int = 8. */
static bool variable_ends_in_constant(const struct recognition *r,
				      const char *name, size_t length)
{
	for (size_t i = 0; i < r->source->constant_count; i++) {
		const char *constant = r->source->constants[i].name;
		size_t bytes = strlen(constant);

		if (bytes <= length &&
		    strncasecmp(name + length - bytes, constant, bytes) == 0 &&
		    (bytes == length || name[length - bytes - 1] == '_'))
			return true;
	}
	return false;
}

/*
 * env TRAIN_BATCH_SIZE=32, in front of a script that has such a number and is
 * not seen to read the variable: who sets it means it. One alone, with a whole
 * number.
 */
static bool assignment_by_words(const struct recognition *r,
				enum knob_kind kind, struct token *token)
{
	const struct command_view *view = &r->command->view;
	const struct strlist *argv = command_argv(r->command);

	token->name = NULL;
	for (size_t i = 0; i < view->program && i < argv->count; i++) {
		const char *item = argv->items[i];
		size_t length = strcspn(item, "=");
		int64_t number;

		if (!item[length] ||
		    strlist_find(&view->assignments, item) ==
			    view->assignments.count ||
		    !variable_says(r, kind, item, length) ||
		    !variable_ends_in_constant(r, item, length) ||
		    !count_parse(item + length + 1, &number))
			continue;
		if (token->name &&
		    !name_equal(token->name, token->name_length, item, length))
			return false;
		*token = assignment_token(item, i, length);
	}
	return token->name != NULL;
}

enum command_outcome knob_variable_find(struct recognition *r,
					enum knob_kind kind)
{
	const struct source_variable *variable = variable_find(r, kind);
	struct token token;

	if (variable ? assignment_find(r, variable->name, &token)
		     : by_class_applies(r) &&
			       assignment_by_words(r, kind, &token))
		return knob_take(r, kind, &token);
	return variable ? from_variable(r, kind, variable) : COMMAND_OK;
}
