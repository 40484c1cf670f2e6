/* The value at a token becomes that of a knob. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/knobs/knob_take.h"

#include "base/alloc.h"
#include "launcher/command/knobs/knob_literal.h"
#include "launcher/command/text/placeholder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A config file that comes later, and that cannot be read, may set it again. */
static bool is_overridden(const struct recognition *r,
			  const struct token *token)
{
	const struct command *command = r->command;

	if (!command->preset->files.later_config_wins ||
	    r->config_index == NO_INDEX || r->config_index < token->index)
		return false;
	for (size_t i = 0; i < command->file_count; i++)
		if (command->files[i].index == r->config_index &&
		    !command->files[i].read->why_not)
			return false;
	return true;
}

static bool is_usable(const struct recognition *r, enum knob_kind kind,
		      const struct token *token)
{
	const struct preset_knob *knob = preset_knob(r->command->preset, kind);

	return token->form != KNOB_ABSENT &&
	       !(knob->joined_only && token->form == KNOB_SEPARATE) &&
	       !is_overridden(r, token);
}

static enum command_outcome not_usable(const struct recognition *r,
				       const struct token *token,
				       const char *name)
{
	const char *text = token_value(token, command_argv(r->command));
	char value[BRIEF_MAX], config[BRIEF_MAX];

	(void)argument_brief(value, text);
	if (token->form == KNOB_ABSENT)
		return not_recognised(r,
				      "%s is the last of its arguments or "
				      "stands before another option, so it has "
				      "no value: write %s N",
				      name, name);
	if (!is_overridden(r, token))
		return not_recognised(r,
				      "%s understands %s=%s only, in one "
				      "argument",
				      r->command->preset->description, name,
				      value);
	(void)argument_brief(config,
			     command_argv(r->command)->items[r->config_index]);
	return not_recognised(r,
			      "%s comes after %s %s and may set it again: add "
			      "%s=%s after %s",
			      config, name, value, name, value, config);
}

static bool is_computed(const struct command *command, size_t index)
{
	const struct shell_expansion *expansion = &command->view.expansion;

	return index < expansion->argv.count &&
	       expansion->words[index].origin == WORD_SCRIPT &&
	       expansion->words[index].is_opaque;
}

/* $BS, and what sets it is not one line: only what is written in its place
 * wins over that. */
static enum command_outcome not_one_value(const struct recognition *r,
					  enum knob_kind kind, const char *name,
					  const char *value)
{
	bool is_accum = kind == KNOB_ACCUM;
	const char *variable = is_accum ? "TUNED_ACCUM" : "TUNED_MICRO";

	return not_recognised(
		r,
		"%s is \"%s\", and what the script makes of that is not "
		"known, so the %s is not: write ${%s:-%s} there, and add "
		"--env %s={%s:N} with its present value as N",
		name, value, knob_words(kind), variable, value, variable,
		placeholder_name(kind));
}

/* A value that is none leaves the knob absent: then a default may do. */
static enum command_outcome value_take(struct recognition *r,
				       enum knob_kind kind, const char *text)
{
	struct knob *knob = &r->command->knobs[kind];
	char name[BRIEF_MAX], value[BRIEF_MAX];

	if (kind == KNOB_OUTPUT) {
		/* --output 10 counts something; it names no folder. */
		if (text[strspn(text, "0123456789")] == '\0')
			knob->form = KNOB_ABSENT;
		else
			knob->text = xstrdup(text);
		return COMMAND_OK;
	}
	if (count_parse(text, &knob->value) ||
	    (preset_knob(r->command->preset, kind)->fraction &&
	     fraction_parse(text, &knob->value)))
		return COMMAND_OK;
	/* -1, "no limit", is no limit that could be too low. */
	if (kind == KNOB_STEPS) {
		knob->form = KNOB_ABSENT;
		return COMMAND_OK;
	}
	if (strchr(text, ',') && *knob->name != '-')
		return not_recognised(r,
				      "%s=%s is a sweep, one run for each: "
				      "write one of the values",
				      argument_brief(name, knob->name),
				      argument_brief(value, text));
	(void)argument_brief(name, knob->name);
	(void)argument_brief(value, text);
	if (is_computed(r->command, knob->index) && kind <= KNOB_ACCUM &&
	    text[0] == '$' && text[1] != '(')
		return not_one_value(r, kind, name, value);
	if (is_computed(r->command, knob->index))
		return not_recognised(
			r,
			"%s is \"%s\", which the script computes, so the %s "
			"is not known: let it be set, as in %s there, with its "
			"present value",
			name, value, knob_words(kind),
			kind == KNOB_ACCUM ? "ACCUM=${ACCUM:-8}"
					   : "BS=${BS:-8}");
	return not_recognised(r,
			      "%s is \"%s\", which is not a plain whole number "
			      "above 0, so the %s is not known: write the "
			      "number",
			      name, value, knob_words(kind));
}

void knob_forget(struct knob *knob)
{
	free(knob->text);
	free(knob->name);
	free(knob->evidence);
	*knob = (struct knob){ .scope = knob->scope };
}

/* Behind the other words its option would be none. */
static bool option_leads(const struct recognition *r, const struct knob *knob)
{
	const struct source_option *option =
		source_resolve(r->source, knob->name, strlen(knob->name));

	return option && option->leads;
}

/* A variable to read that the script has not: its own value would win. */
static const char *free_variable(const struct recognition *r,
				 enum knob_kind kind)
{
	static const char *const usual[] = { "BS", "ACCUM", "BS" };
	static const char *const other[] = { "TUNED_MICRO", "TUNED_ACCUM",
					     "TUNED_BATCH" };
	const struct named_file *script =
		named_files_get(r->texts, r->command->view.expansion.script);

	assert(kind <= KNOB_GLOBAL);
	return script && strstr(strbuf_text(&script->text), usual[kind])
		       ? other[kind]
		       : usual[kind];
}

/* A script says it: by a variable, or so that only a later option helps. */
static enum command_outcome knob_of_script(struct recognition *r,
					   enum knob_kind kind)
{
	struct command *command = r->command;
	struct knob *knob = &command->knobs[kind];
	const struct shell_expansion *expansion = &command->view.expansion;
	const struct word *word = &expansion->words[knob->index];
	char name[BRIEF_MAX];

	assert(knob->index < expansion->argv.count);
	if (word->variable && word->variable_offset == knob->offset) {
		strlist_addf(&command->env_templates, "%s={%s}", word->variable,
			     placeholder_name(kind));
		knob->form = KNOB_ENVIRONMENT;
		free(knob->evidence);
		knob->evidence = xasprintf("variable %s", word->variable);
		return variable_check(r, word->variable,
				      strlen(word->variable));
	}
	if (word->origin != WORD_SCRIPT)
		return COMMAND_OK;
	free(knob->evidence);
	knob->evidence = xasprintf("%s:%u", expansion->script, word->line);
	/* A variable that it sets is no option, which a later one replaces. */
	if (expansion->append_at != NO_INDEX &&
	    knob->index > command->view.program && !option_leads(r, knob)) {
		knob->form = KNOB_DEFAULT;
		knob->is_said = true;
		knob->index = expansion->append_at;
		return COMMAND_OK;
	}
	if (kind > KNOB_GLOBAL) {
		knob_forget(knob);
		return COMMAND_OK;
	}
	if (knob_literal_of_shell(r, kind))
		return COMMAND_OK;
	return not_recognised(
		r,
		"%s sets %s %lld and takes no arguments for it: "
		"let it pass on \"$@\" at the end of that line, or "
		"read a variable there, ${%s:-%lld}",
		knob->evidence, argument_brief(name, knob->name),
		(long long)knob->value, free_variable(r, kind),
		(long long)knob->value);
}

/* --batch_size 8 16: of a list, as nargs="+" makes it, none is the size. */
static enum command_outcome list_check(const struct recognition *r,
				       const struct token *token,
				       const char *name)
{
	const struct source_option *option =
		source_resolve(r->source, token->name, token->name_length);
	size_t next = token->value_index + 1;
	const char *first, *second;
	int64_t number;

	if (token->form != KNOB_SEPARATE || !option ||
	    !option->takes_settings || next >= r->command->view.end)
		return COMMAND_OK;
	first = token_value(token, command_argv(r->command));
	second = command_argv(r->command)->items[next];
	if (!count_parse(second, &number))
		return COMMAND_OK;
	return not_recognised(r,
			      "%s is given a list, %s %s: give one value, or "
			      "write {micro} and {accum} where they belong",
			      name, first, second);
}

enum command_outcome knob_take(struct recognition *r, enum knob_kind kind,
			       const struct token *token)
{
	struct knob *knob = &r->command->knobs[kind];
	char *name = xstrndup(token->name, token->name_length);
	enum command_outcome outcome = COMMAND_OK;
	char shown[BRIEF_MAX];

	if (!is_usable(r, kind, token)) {
		/* A probe does without the others. */
		if (kind <= KNOB_GLOBAL)
			outcome = not_usable(r, token,
					     argument_brief(shown, name));
		free(name);
		return outcome;
	}
	assert(token->form == KNOB_SEPARATE || token->form == KNOB_JOINED);
	knob->form = token->form;
	knob->index = token->value_index;
	knob->offset = token->value_offset;
	knob->unit = preset_knob(r->command->preset, kind)->unit;
	knob->joined_only = token->form == KNOB_JOINED;
	knob->name = name;
	knob->evidence = xasprintf("argument %zu", token->value_index);
	if (kind <= KNOB_GLOBAL)
		outcome = list_check(r, token, name);
	if (outcome == COMMAND_OK)
		outcome = value_take(
			r, kind, token_value(token, command_argv(r->command)));
	if (knob->form == KNOB_ABSENT)
		knob_forget(knob);
	else if (outcome == COMMAND_OK && r->command->view.expansion.argv.count)
		outcome = knob_of_script(r, kind);
	return outcome;
}
