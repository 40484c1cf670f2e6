/* Finds the knobs among the arguments of a program. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/knobs/candidates.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct preset_knob *preset_knob(const struct preset *preset,
				      enum knob_kind kind)
{
	const struct preset_knob *knobs[KNOB_KINDS] = {
		&preset->micro, &preset->accum, &preset->global, &preset->steps,
		&preset->output
	};

	return knobs[kind];
}

const char *knob_words(enum knob_kind kind)
{
	static const char *const words[KNOB_KINDS] = {
		"batch size", "gradient accumulation", "effective batch",
		"number of steps", "output folder"
	};

	return words[kind];
}

const char *way_out(enum knob_kind kind)
{
	static const char *const ways[KNOB_KINDS] = {
		"write {micro} where the value belongs, or name the option "
		"with --micro-flag NAME",
		"write {accum} where the value belongs, or name the option "
		"with --accum-flag NAME",
		"name the option with --global-flag NAME", "", ""
	};

	return ways[kind];
}

enum command_outcome not_recognised(const struct recognition *recognition,
				    const char *format, ...)
{
	char message[sizeof(recognition->err->message)];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	(void)error_set(recognition->err, -EINVAL, "%s", message);
	return COMMAND_NOT_RECOGNISED;
}

#define WORDS_MAX ((size_t)2 * BRIEF_MAX)

static void candidate_words(char out[WORDS_MAX],
			    const struct candidate *candidate)
{
	char name[BRIEF_MAX];
	char *typed = candidate->token.name
			      ? xstrndup(candidate->token.name,
					 candidate->token.name_length)
			      : xstrdup(candidate->option->names.items[0]);

	(void)snprintf(out, WORDS_MAX, "%s %s", argument_brief(name, typed),
		       candidate->value);
	free(typed);
}

static enum command_outcome ambiguous(const struct recognition *r,
				      enum knob_kind kind,
				      const struct candidate *a,
				      const struct candidate *b)
{
	char first[WORDS_MAX], second[WORDS_MAX];

	candidate_words(first, a);
	candidate_words(second, b);
	return not_recognised(r, "both %s and %s may be the %s: %s", first,
			      second, knob_words(kind), way_out(kind));
}

/*
 * The candidate that counts. Two options are two, also where they say the same
 * number: which of them the program goes by shows in neither.
 */
static enum command_outcome pick(const struct recognition *r,
				 enum knob_kind kind,
				 const struct candidates *candidates,
				 const struct candidate **picked)
{
	*picked = NULL;
	if (kind <= KNOB_GLOBAL && candidates->count > 1)
		return ambiguous(r, kind, &candidates->items[0],
				 &candidates->items[1]);
	for (size_t i = 0; i < candidates->count; i++) {
		const struct candidate *candidate = &candidates->items[i];

		if (!*picked ||
		    (candidate->token.name && !(*picked)->token.name) ||
		    (candidate->rank < (*picked)->rank &&
		     (candidate->token.name || !(*picked)->token.name)))
			*picked = candidate;
	}
	return COMMAND_OK;
}

/* A config file that comes later, and that cannot be read, may set it again. */
static bool is_overridden(const struct recognition *r,
			  const struct token *token)
{
	const struct command *command = r->command;

	if (!command->preset->later_config_wins ||
	    r->config_index == NO_INDEX || r->config_index < token->index)
		return false;
	for (size_t i = 0; i < command->file_count; i++)
		if (command->files[i].index == r->config_index &&
		    !command->files[i].read->why_not)
			return false;
	return true;
}

/* A config file that comes later does set it again. */
static bool is_set_later(const struct recognition *r, enum knob_kind kind,
			 const struct token *token)
{
	const struct command *command = r->command;

	if (!command->preset->later_config_wins)
		return false;
	for (size_t i = 0; i < command->file_count; i++)
		if (command->files[i].index > token->index &&
		    knob_in_file_is_set(r, kind, &command->files[i]))
			return true;
	return false;
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
	const char *text = token_value(token, &r->command->argv);
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
	(void)argument_brief(config, r->command->argv.items[r->config_index]);
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

/* A script says it: by a variable, or so that only a later option helps. */
static enum command_outcome knob_of_script(struct recognition *r,
					   enum knob_kind kind)
{
	struct command *command = r->command;
	struct knob *knob = &command->knobs[kind];
	const struct shell_expansion *expansion = &command->view.expansion;
	const struct word *word = &expansion->words[knob->index];
	char name[BRIEF_MAX];

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
	if (expansion->append_at != NO_INDEX) {
		knob->form = KNOB_DEFAULT;
		knob->index = expansion->append_at;
		return COMMAND_OK;
	}
	if (kind > KNOB_GLOBAL) {
		knob_forget(knob);
		return COMMAND_OK;
	}
	return not_recognised(
		r,
		"%s sets %s %lld and takes no arguments for it: "
		"let it pass on \"$@\" at the end of that line, or "
		"read a variable there, ${BS:-%lld}",
		knob->evidence, argument_brief(name, knob->name),
		(long long)knob->value, (long long)knob->value);
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
	knob->form = token->form;
	knob->index = token->value_index;
	knob->offset = token->value_offset;
	knob->unit = preset_knob(r->command->preset, kind)->unit;
	knob->joined_only = token->form == KNOB_JOINED;
	knob->name = name;
	knob->evidence = xasprintf("argument %zu", token->value_index);
	outcome = value_take(r, kind, token_value(token, &r->command->argv));
	if (knob->form == KNOB_ABSENT)
		knob_forget(knob);
	else if (outcome == COMMAND_OK && r->command->view.expansion.argv.count)
		outcome = knob_of_script(r, kind);
	return outcome;
}

/* A program that reads what lies in its output folder keeps it. */
static bool output_stays(const struct recognition *r)
{
	const struct command *command = r->command;
	const struct strlist *with = &command->preset->output_keep_with;
	struct token token;

	if (!with->count)
		return false;
	for (size_t i = command->view.args; i < command->view.end; i++)
		if (strlist_find(with, command->argv.items[i]) < with->count)
			return true;
	for (size_t i = command->view.args; token_next(&token, command, &i);
	     i++)
		if (!token.bare &&
		    names_find(with, token.name, token.name_length, false) <
			    with->count)
			return true;
	return false;
}

static enum command_outcome find_one(struct recognition *r, enum knob_kind kind)
{
	struct candidates candidates;
	const struct candidate *picked;
	enum command_outcome outcome;

	if (kind == KNOB_OUTPUT && output_stays(r))
		return COMMAND_OK;
	candidates_collect(&candidates, r, kind);
	outcome = pick(r, kind, &candidates, &picked);
	if (outcome != COMMAND_OK)
		return outcome;
	if (picked && picked->token.name &&
	    is_set_later(r, kind, &picked->token))
		picked = NULL;
	if (picked && picked->weak && kind == KNOB_MICRO &&
	    r->command->knobs[KNOB_ACCUM].form == KNOB_ABSENT) {
		char words[WORDS_MAX];

		candidate_words(words, picked);
		return not_recognised(r, "%s may be the %s, or not: %s", words,
				      knob_words(kind), way_out(kind));
	}
	if (picked && picked->token.name)
		outcome = knob_take(r, kind, &picked->token);
	if (outcome == COMMAND_OK &&
	    r->command->knobs[kind].form == KNOB_ABSENT)
		outcome = knob_in_file_find(r, kind);
	/* A file that has the last word needs no default beside it. */
	if (outcome == COMMAND_OK &&
	    r->command->knobs[kind].form == KNOB_ABSENT &&
	    !knob_in_winning_file_is_set(r, kind))
		outcome = knob_default_find(r, kind);
	return outcome == COMMAND_OK ? knob_in_winning_file_find(r, kind)
				     : outcome;
}

/* It may follow from the effective batch, if accumulation can be written. */
static enum command_outcome check_micro(const struct recognition *r)
{
	const struct knob *knobs = r->command->knobs;
	const struct preset *preset = r->command->preset;

	if (knobs[KNOB_MICRO].form != KNOB_ABSENT ||
	    (knobs[KNOB_GLOBAL].form != KNOB_ABSENT &&
	     knobs[KNOB_ACCUM].form != KNOB_ABSENT))
		return COMMAND_OK;
	if (preset->micro.keys.count)
		return not_recognised(r,
				      "no config file of the command sets %s: "
				      "add it there with its present value, or "
				      "%s",
				      preset->micro.keys.items[0],
				      way_out(KNOB_MICRO));
	return not_recognised(r, "no batch size is found: %s",
			      way_out(KNOB_MICRO));
}

/*
 * A script must hand options on, and not behind a "--"; of one that is not
 * understood nobody knows whether it does.
 */
static enum command_outcome check_additions(const struct recognition *r)
{
	const struct command *command = r->command;
	const struct command_view *view = &command->view;
	const struct shell_expansion *expansion = &view->expansion;
	bool hands_on = expansion->script
				? expansion->append_at <= view->end
				: !view->has_shell || expansion->argv.count;

	for (int kind = 0; !hands_on && kind <= KNOB_GLOBAL; kind++)
		if (command->knobs[kind].form == KNOB_DEFAULT)
			return not_recognised(
				r,
				"%s takes no arguments for the %s, as far as "
				"can be told: let it pass on \"$@\" at the end "
				"of the line that trains, or put that command "
				"itself after --",
				expansion->script
					? expansion->script
					: command->argv.items[view->program],
				knob_words((enum knob_kind)kind));
	return COMMAND_OK;
}

enum command_outcome knobs_find(struct recognition *r)
{
	/* A weak name of the batch size counts beside an accumulation. */
	static const enum knob_kind order[] = { KNOB_ACCUM, KNOB_GLOBAL,
						KNOB_MICRO, KNOB_STEPS,
						KNOB_OUTPUT };
	enum command_outcome outcome = COMMAND_OK;

	for (size_t i = 0; i < KNOB_KINDS; i++)
		if (r->command->knobs[i].form != KNOB_ABSENT)
			r->command->knobs[i].unit =
				preset_knob(r->command->preset,
					    (enum knob_kind)i)
					->unit;
	for (size_t i = 0; outcome == COMMAND_OK && i <= KNOB_GLOBAL; i++)
		outcome = knob_by_flag_find(r, (enum knob_kind)i);
	for (size_t i = 0; outcome == COMMAND_OK && i < KNOB_KINDS; i++)
		if (r->command->knobs[order[i]].form == KNOB_ABSENT)
			outcome = find_one(r, order[i]);
	if (outcome == COMMAND_OK)
		outcome = check_micro(r);
	return outcome == COMMAND_OK ? check_additions(r) : outcome;
}
