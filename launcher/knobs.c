/* Finds the knobs among the arguments of a program. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/candidates.h"

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

	(void)snprintf(out, WORDS_MAX, "%s %s", brief(name, typed),
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

/* The candidate that counts, among those of equal value. */
static enum command_outcome pick(const struct recognition *r,
				 enum knob_kind kind,
				 const struct candidates *candidates,
				 const struct candidate **picked)
{
	*picked = NULL;
	for (size_t i = 0; i < candidates->count; i++) {
		const struct candidate *candidate = &candidates->items[i];

		if (kind <= KNOB_GLOBAL &&
		    strcmp(candidate->value, candidates->items[0].value) != 0)
			return ambiguous(r, kind, &candidates->items[0],
					 candidate);
		if (!*picked ||
		    (candidate->token.name && !(*picked)->token.name) ||
		    (candidate->rank < (*picked)->rank &&
		     (candidate->token.name || !(*picked)->token.name)))
			*picked = candidate;
	}
	return COMMAND_OK;
}

/* A config file that comes later may set it again. */
static bool is_overridden(const struct recognition *r,
			  const struct token *token)
{
	return r->command->preset->later_config_wins &&
	       r->config_index != NO_INDEX && r->config_index > token->index;
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

	(void)brief(value, text);
	if (token->form == KNOB_ABSENT)
		return not_recognised(r,
				      "%s is the last of its arguments or "
				      "stands before another option: it has no "
				      "value",
				      name);
	if (!is_overridden(r, token))
		return not_recognised(r,
				      "%s understands %s=%s only, in one "
				      "argument",
				      r->command->preset->description, name,
				      value);
	(void)brief(config, r->command->argv.items[r->config_index]);
	return not_recognised(r,
			      "%s comes after %s %s and may set it again: add "
			      "%s=%s after %s",
			      config, name, value, name, value, config);
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
	if (count_parse(text, &knob->value))
		return COMMAND_OK;
	/* -1, "no limit", is no limit that could be too low. */
	if (kind == KNOB_STEPS) {
		knob->form = KNOB_ABSENT;
		return COMMAND_OK;
	}
	return not_recognised(r,
			      "%s is \"%s\", which is not a plain whole number "
			      "above 0, so the %s is not known: write the "
			      "number",
			      brief(name, knob->name), brief(value, text),
			      knob_words(kind));
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
			outcome = not_usable(r, token, brief(shown, name));
		free(name);
		return outcome;
	}
	knob->form = token->form;
	knob->index = token->value_index;
	knob->offset = token->value_offset;
	knob->name = name;
	knob->evidence = xasprintf("argument %zu", token->value_index);
	outcome = value_take(r, kind, token_value(token, &r->command->argv));
	if (knob->form == KNOB_ABSENT) {
		free(knob->name);
		free(knob->evidence);
		*knob = (struct knob){ .scope = knob->scope };
	}
	return outcome;
}

/* A program that reads what lies in its output folder keeps it. */
static bool output_stays(const struct recognition *r)
{
	const struct command *command = r->command;
	const struct strlist *with = &command->preset->output_keep_with;
	struct token token;

	for (size_t i = command->view.args; i < command->view.end; i++) {
		if (strlist_find(with, command->argv.items[i]) < with->count)
			return true;
		if (token_read(&token, &command->argv, &command->view, i) &&
		    !token.bare &&
		    names_find(with, token.name, token.name_length, false) <
			    with->count)
			return true;
	}
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
	if (picked && picked->weak && kind == KNOB_MICRO &&
	    r->command->knobs[KNOB_ACCUM].form == KNOB_ABSENT) {
		char words[WORDS_MAX];

		candidate_words(words, picked);
		return not_recognised(r, "%s may be the %s, or not: %s", words,
				      knob_words(kind), way_out(kind));
	}
	if (picked && picked->token.name)
		outcome = knob_take(r, kind, &picked->token);
	if (outcome != COMMAND_OK ||
	    r->command->knobs[kind].form != KNOB_ABSENT)
		return outcome;
	return absent_find(r, kind);
}

enum command_outcome knobs_find(struct recognition *r)
{
	/* A weak name of the batch size counts beside an accumulation. */
	static const enum knob_kind order[] = { KNOB_ACCUM, KNOB_GLOBAL,
						KNOB_MICRO, KNOB_STEPS,
						KNOB_OUTPUT };
	enum command_outcome outcome = COMMAND_OK;

	for (size_t i = 0; outcome == COMMAND_OK && i <= KNOB_GLOBAL; i++)
		outcome = hinted_find(r, (enum knob_kind)i);
	for (size_t i = 0; outcome == COMMAND_OK && i < KNOB_KINDS; i++)
		if (r->command->knobs[order[i]].form == KNOB_ABSENT)
			outcome = find_one(r, order[i]);
	return outcome;
}
