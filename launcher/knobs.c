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

static void candidate_words(char out[2 * BRIEF_MAX],
			    const struct candidate *candidate)
{
	char name[BRIEF_MAX];
	char *typed = candidate->token.name
			      ? xstrndup(candidate->token.name,
					 candidate->token.name_length)
			      : xstrdup(candidate->option->names.items[0]);

	(void)snprintf(out, 2 * BRIEF_MAX, "%s %s", brief(name, typed),
		       candidate->value);
	free(typed);
}

static enum command_outcome ambiguous(const struct recognition *r,
				      enum knob_kind kind,
				      const struct candidate *a,
				      const struct candidate *b)
{
	char first[2 * BRIEF_MAX], second[2 * BRIEF_MAX];

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

static enum command_outcome take_count(struct recognition *r,
				       enum knob_kind kind, struct knob *knob,
				       const char *name, const char *text)
{
	char shown[BRIEF_MAX];

	if (kind == KNOB_STEPS) {
		/* -1, "no limit", is none that could be too low. */
		if (!count_parse(text, &knob->value))
			knob->form = KNOB_ABSENT;
		return COMMAND_OK;
	}
	if (count_parse(text, &knob->value))
		return COMMAND_OK;
	return not_recognised(r,
			      "%s is \"%s\", which is not a plain whole number "
			      "above 0, so the %s is not known: write the "
			      "number",
			      name, brief(shown, text), knob_words(kind));
}

static enum command_outcome check_place(const struct recognition *r,
					enum knob_kind kind,
					const struct token *token,
					const char *name)
{
	const struct preset *preset = r->command->preset;
	const struct preset_knob *knob = preset_knob(preset, kind);
	const char *text = token_value(token, &r->command->argv);
	char value[BRIEF_MAX], config[BRIEF_MAX];

	(void)brief(value, text);
	if (token->form == KNOB_ABSENT)
		return not_recognised(r,
				      "%s is the last of its arguments or "
				      "stands before another option: it has no "
				      "value",
				      name);
	if (knob->joined_only && token->form == KNOB_SEPARATE)
		return not_recognised(r,
				      "%s understands %s=%s only, in one "
				      "argument",
				      preset->description, name, value);
	if (preset->config_file_after_flag_wins &&
	    r->config_index != NO_INDEX && r->config_index > token->index)
		return not_recognised(
			r,
			"%s comes after %s %s and may set it again: add "
			"%s=%s after %s",
			brief(config, r->command->argv.items[r->config_index]),
			name, value, name, value, config);
	return COMMAND_OK;
}

enum command_outcome knob_take(struct recognition *r, enum knob_kind kind,
			       const struct token *token)
{
	struct knob *knob = &r->command->knobs[kind];
	char *name = xstrndup(token->name, token->name_length);
	const char *text = token_value(token, &r->command->argv);
	char shown[BRIEF_MAX];
	enum command_outcome outcome =
		check_place(r, kind, token, brief(shown, name));

	if (outcome != COMMAND_OK) {
		free(name);
		/* Neither is needed: a probe gets its own. */
		return kind >= KNOB_STEPS ? COMMAND_OK : outcome;
	}
	knob->form = token->form;
	knob->index = token->value_index;
	knob->offset = token->value_offset;
	knob->name = name;
	knob->evidence = xasprintf("argument %zu", token->value_index);
	if (kind != KNOB_OUTPUT)
		return take_count(r, kind, knob, shown, text);
	knob->text = xstrdup(text);
	return COMMAND_OK;
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
		char words[2 * BRIEF_MAX];

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
