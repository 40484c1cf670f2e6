/* Accumulations that a script tells by what it does with a number. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/knobs/knob_counted.h"

#include "launcher/command/files/source_counts.h"
#include "launcher/command/knobs/by_class.h"
#include "launcher/command/knobs/knob_defaults.h"
#include "launcher/command/knobs/knob_scope.h"
#include "launcher/command/knobs/knob_take.h"
#include "launcher/command/knobs/module_files.h"
#include "launcher/command/parts/token.h"
#include "launcher/command/text/names.h"

#include <string.h>
#include <strings.h>

/* What the script and its modules do with the accumulation's variable. */
struct counted {
	char variable[NAME_MAX_BYTES];
	unsigned uses;
};

static void counted_of_module(void *context, struct named_file *file)
{
	struct counted *counted = context;

	counted->uses |=
		source_count_uses(strbuf_text(&file->text), counted->variable);
}

static unsigned counted_uses(const struct recognition *r)
{
	const struct knob *accum = &r->command->knobs[KNOB_ACCUM];
	struct counted counted = { .uses = 0 };

	if (!r->text || !accum->name)
		return 0;
	(void)knob_scope_variable(r, accum->name, counted.variable);
	counted.uses = source_count_uses(r->text, counted.variable);
	module_files_visit(r, counted_of_module, &counted);
	return counted.uses;
}

bool knob_counted_splits(const struct recognition *r)
{
	return (counted_uses(r) & (COUNT_SPLITS | COUNT_TIMES)) == COUNT_SPLITS;
}

bool knob_counted_may_split(const struct recognition *r)
{
	const char *name = r->command->knobs[KNOB_ACCUM].name;

	return name && option_counts_pieces(name, strlen(name)) &&
	       !(counted_uses(r) & (COUNT_LOOPS | COUNT_TIMES | COUNT_GUARDS));
}

/* Where an agent acts, an update comes after so many of its steps. */
static bool is_of_agent(const struct recognition *r)
{
	static const char *const words[] = { "replay",        "env.step(",
					     "envs.step(",    "target_update",
					     "target-update", "target_net",
					     "q-network",     "q_network",
					     "reinforcement" };

	for (size_t i = 0; r->text && i < sizeof(words) / sizeof(*words); i++)
		if (strcasestr(r->text, words[i]))
			return true;
	return false;
}

/* The words of the name, of another one of the option's, or of its help. */
static bool accum_is_said(const struct recognition *r, const char *name)
{
	const struct source_option *option =
		source_resolve(r->source, name, strlen(name));

	if (option_class_of(name, strlen(name)) != OPTION_OTHER ||
	    (option && option->class != OPTION_OTHER))
		return true;
	return option && option->help && strcasestr(option->help, "accum");
}

static void accum_forget(struct command *command)
{
	knob_forget(&command->knobs[KNOB_ACCUM]);
	while (command->site_count &&
	       command->sites[command->site_count - 1].kind == KNOB_ACCUM)
		command->site_count--;
}

/* A name without a word of accumulation in it. */
static enum command_outcome vague_check(struct recognition *r)
{
	const struct knob *accum = &r->command->knobs[KNOB_ACCUM];
	char name[BRIEF_MAX];

	if (r->hints->accum_flag || accum->form == KNOB_PLACEHOLDER ||
	    accum_is_said(r, accum->name) ||
	    (counted_uses(r) & (COUNT_DIVIDES | COUNT_TIMES | COUNT_GUARDS)))
		return COMMAND_OK;
	if (accum->form == KNOB_ENVIRONMENT ||
	    (accum->value != 1 && !r->hints->micro_flag && !is_of_agent(r)))
		return not_recognised(
			r,
			"%s %lld may be the gradient accumulation, or not: add "
			"--accum-flag %s if so many micro-batches make a step, "
			"else --micro-flag with the option of the batch size",
			argument_brief(name, accum->name),
			(long long)accum->value, name);
	accum_forget(r->command);
	return COMMAND_OK;
}

/* The option whose variable this is, with a number; NULL: none. */
static const struct source_option *
guarding_option(const struct recognition *r, const char *name, size_t length)
{
	char variable[NAME_MAX_BYTES];

	for (size_t i = 0; i < r->source->option_count; i++) {
		const struct source_option *option = &r->source->options[i];

		(void)knob_scope_variable(r, option->names.items[0], variable);
		if (!option->is_switch && option->class == OPTION_OTHER &&
		    name_equal(variable, strlen(variable), name, length) &&
		    !option_name_is_aside(name, length))
			return option;
	}
	return NULL;
}

static enum command_outcome option_take(struct recognition *r,
					const struct source_option *option)
{
	struct token token, typed = { .name = NULL };

	for (size_t i = r->command->view.args;
	     token_next(&token, r->command, &i); i++)
		if (!token.bare && source_resolve(r->source, token.name,
						  token.name_length) == option)
			typed = token;
	if (typed.name)
		return knob_take(r, KNOB_ACCUM, &typed);
	return option->kind == SOURCE_INTEGER && option->value > 0
		       ? knob_set_option_default(r, KNOB_ACCUM, option)
		       : COMMAND_OK;
}

enum command_outcome knob_counted_find(struct recognition *r)
{
	const struct source_option *option = NULL;
	const char *name = r->text;
	size_t length = 0;

	if (!by_class_applies(r))
		return COMMAND_OK;
	if (r->command->knobs[KNOB_ACCUM].form != KNOB_ABSENT)
		return vague_check(r);
	while (!option && name &&
	       (name = source_step_guard(r->text, name + length, &length)))
		option = guarding_option(r, name, length);
	return option ? option_take(r, option) : COMMAND_OK;
}
