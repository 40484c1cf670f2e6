/* Defaults for knobs not given, and knobs that the user named. Pure.
 */
/* SPDX-License-Identifier: MIT */

#include "launcher/command/knobs/knob_defaults.h"

#include "base/alloc.h"
#include "launcher/command/files/source_counts.h"
#include "launcher/command/knobs/advice.h"
#include "launcher/command/knobs/by_class.h"
#include "launcher/command/knobs/candidates.h"
#include "launcher/command/knobs/knob_literal.h"
#include "launcher/command/knobs/knob_scope.h"
#include "launcher/command/knobs/knob_variable.h"
#include "launcher/command/parts/setting_value.h"
#include "launcher/command/text/names.h"
#include "launcher/command/text/placeholder.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void knob_set_default(struct recognition *r, enum knob_kind kind,
		      const char *name, int64_t value, char *evidence)
{
	struct command *command = r->command;
	struct knob *knob = &command->knobs[kind];

	knob->form = KNOB_DEFAULT;
	knob->index = command_append_at(command);
	knob->unit = preset_knob(command->preset, kind)->unit;
	knob->value = value;
	knob->name = xstrdup(name);
	knob->evidence = evidence;
	knob->joined_only = preset_knob(command->preset, kind)->joined_only;
}

/* The text says "learning_rate", and "--learning-rate" is typed. */
static bool is_typed_dashed(const char *text, const struct token *token)
{
	char *name = xstrndup(token->name, token->name_length);
	bool is_dashed = strncmp(name, "--", 2) == 0 && strchr(name + 2, '-') &&
			 !strstr(text, name);

	for (char *c = name; *c; c++)
		if (*c == '-' && c > name + 1)
			*c = '_';
	is_dashed = is_dashed && strstr(text, name + 2);
	free(name);
	return is_dashed;
}

static bool dashes_are_typed(const struct recognition *r)
{
	const struct command *command = r->command;
	struct token token;

	for (size_t i = command->view.args; token_next(&token, command, &i);
	     i++)
		if (r->text && is_typed_dashed(r->text, &token))
			return true;
	return false;
}

/* Of two that differ in nothing but dashes: as the others are typed. */
static bool wants_dashes(const struct recognition *r,
			 const struct source_option *option)
{
	const char *const *names = (const char *const *)option->names.items;

	return option->names.count == 2 &&
	       name_equal(names[0], strlen(names[0]), names[1],
			  strlen(names[1])) &&
	       dashes_are_typed(r);
}

/* The spelling to add: one that the preset knows, a long one before -b. */
static const char *spelling(const struct recognition *r, enum knob_kind kind,
			    const struct source_option *option)
{
	const struct preset *preset = r->command->preset;
	const struct strlist *known = &preset_knob(preset, kind)->names;
	const char *best = option->names.items[0];

	if (wants_dashes(r, option))
		return option->names.items[1];
	for (size_t i = 0; i < option->names.count; i++) {
		const char *name = option->names.items[i];

		if (names_find(known, name, strlen(name), false) <
			    known->count &&
		    strlen(name) > 2)
			return name;
		/* -b1 would be read as -b 1. */
		if (best[1] != '-' && (name[1] == '-' || strlen(best) == 2))
			best = name;
	}
	return best;
}

/* What is wrong in the config file; NULL: nothing that is known. */
static const char *config_fault(const struct recognition *r)
{
	const struct command *command = r->command;

	for (size_t i = 0; i < command->file_count; i++)
		if (command->files[i].index == r->config_index)
			return command->files[i].read->why_not;
	return NULL;
}

/* A file may have set it: only its reader knows. */
static enum command_outcome from_config(const struct recognition *r,
					enum knob_kind kind, const char *name)
{
	const char *config = command_argv(r->command)->items[r->config_index];
	const struct preset *preset = r->command->preset;
	const struct preset_knob *knob = preset_knob(preset, kind);
	bool joined = knob->joined_only || *name != '-';
	const char *fault = config_fault(r);
	const char *group = preset->words.group;
	char shown[BRIEF_MAX];

	if (fault)
		return not_recognised(
			r,
			"the %s is not given, and %s may set it but is not "
			"understood: mend it, or add %s%sN with the present "
			"value %s %s (%s)",
			knob_words(kind), argument_brief(shown, config), name,
			joined && !preset->words.pairs ? "=" : " ",
			group ? "behind" : "after", group ? group : "it",
			fault);
	return not_recognised(r,
			      "the %s is not given, and %s may set it: add "
			      "%s%sN with its present value %s %s",
			      knob_words(kind), argument_brief(shown, config),
			      name, joined && !preset->words.pairs ? "=" : " ",
			      group ? "behind" : "after",
			      group ? group : shown);
}

/* The micro-batch then follows from it and the accumulation. */
static bool has_global(const struct command *command)
{
	return command->knobs[KNOB_GLOBAL].value > 0 &&
	       command->knobs[KNOB_ACCUM].value > 0;
}

enum command_outcome knob_set_option_default(struct recognition *r,
					     enum knob_kind kind,
					     const struct source_option *option)
{
	const char *name = spelling(r, kind, option);
	char shown[BRIEF_MAX];
	int64_t value = option->value;

	if (config_is_open(r))
		return from_config(r, kind, name);
	if (option->kind == SOURCE_NONE && kind == KNOB_ACCUM)
		value = 1;
	if (kind == KNOB_MICRO && knob_overwritten_check(r, name) != COMMAND_OK)
		return COMMAND_NOT_RECOGNISED;
	/* A size of 0 is none: the script computes it. */
	if (kind == KNOB_MICRO && by_class_applies(r) && value < 1 &&
	    option->kind == SOURCE_INTEGER)
		return has_global(r->command) ? COMMAND_OK
					      : advise_not_found(r);
	if (option->kind == SOURCE_OTHER || value < 1 ||
	    (option->kind == SOURCE_WHOLE &&
	     !preset_knob(r->command->preset, kind)->fraction))
		return not_recognised(
			r,
			"%s:%u has the option %s, but no plain "
			"number as its default: add %s N with its "
			"present value",
			option_file(r, option), option->line,
			argument_brief(shown, name), shown);
	knob_set_default(
		r, kind, name, value,
		xasprintf("%s:%u", option_file(r, option), option->line));
	if (option->leads)
		r->command->knobs[kind].index = option->command
							? r->subcommand + 1
							: r->command->view.args;
	return COMMAND_OK;
}

/* A global of a script whose globals are its options. */
static enum command_outcome
defaults_from_global(struct recognition *r, enum knob_kind kind,
		     const char *name, const struct source_constant *constant)
{
	if (config_is_open(r))
		return from_config(r, kind, name);
	if (constant->kind != SOURCE_INTEGER || constant->value < 1)
		return not_recognised(r,
				      "%s:%u sets %s to more than a plain "
				      "number: add %s=N with its present value",
				      r->source_name, constant->line,
				      constant->name, name);
	knob_set_default(r, kind, name, constant->value,
			 xasprintf("%s:%u", r->source_name, constant->line));
	return COMMAND_OK;
}

/* update_interval = 16, which nothing in the script bears out, is another's. */
static bool counts_no_passes(const struct recognition *r, enum knob_kind kind,
			     const struct source_constant *constant)
{
	const char *name = constant->name;

	return kind == KNOB_ACCUM && r->text &&
	       option_class_of(name, strlen(name)) == OPTION_OTHER &&
	       !source_count_uses(r->text, name);
}

/* The first line that sets what an option should. */
static const struct source_constant *constant_find(const struct recognition *r,
						   enum knob_kind kind)
{
	const struct preset *preset = r->command->preset;
	const struct strlist *names = &preset_knob(preset, kind)->names;

	for (size_t i = 0; i < r->source->constant_count; i++) {
		const struct source_constant *constant =
			&r->source->constants[i];
		size_t length = strlen(constant->name);

		if (constant->kind != SOURCE_INTEGER ||
		    (kind == KNOB_MICRO && constant->value < 1) ||
		    name_is_decoy(&preset->knobs.decoys, constant->name,
				  length))
			continue;
		for (size_t k = 0; k < names->count; k++) {
			const char *entry = names->items[k];

			entry += strspn(entry, "-");
			if (strlen(entry) > 1 &&
			    name_matches(entry, constant->name, length, true) &&
			    !counts_no_passes(r, kind, constant))
				return constant;
		}
	}
	return NULL;
}

static enum command_outcome
from_constant(const struct recognition *r, enum knob_kind kind,
	      const struct source_constant *constant)
{
	bool is_micro = kind == KNOB_MICRO;

	return not_recognised(
		r,
		"%s:%u sets %s = %lld, which no argument can change: make it "
		"an option, such as parser.add_argument(\"%s\", type=int, "
		"default=%lld), or read int(os.environ[\"%s\"]) there and call "
		"autofit --env %s={%s:%lld}",
		r->source_name, constant->line, constant->name,
		(long long)constant->value,
		is_micro ? "--batch-size" : "--grad-accum-steps",
		(long long)constant->value, is_micro ? "MICRO" : "ACCUM",
		is_micro ? "MICRO" : "ACCUM", is_micro ? "micro" : "accum",
		(long long)constant->value);
}

/*
 * Without the option for the effective batch it is one micro-batch of each
 * rank: to keep that with another micro-batch it must be said.
 */
static enum command_outcome global_from_preset(struct recognition *r)
{
	const struct preset *preset = r->command->preset;
	const struct preset_knob *knob = &preset->knobs.global;
	bool has_accum = preset->knobs.accum.names.count > 0;

	if ((knob->default_value || !has_accum) && config_is_open(r))
		return from_config(r, KNOB_GLOBAL, knob->names.items[0]);
	if (knob->default_value)
		knob_set_default(r, KNOB_GLOBAL, knob->names.items[0],
				 knob->default_value,
				 xasprintf("default of %s", preset->name));
	else if (!has_accum)
		knob_set_default(r, KNOB_GLOBAL, knob->names.items[0], 0,
				 xasprintf("%s derives it", preset->name));
	return COMMAND_OK;
}

/* Beside the file no option is read, so it must stand there. */
static enum command_outcome not_in_file(const struct recognition *r,
					enum knob_kind kind, const char *name)
{
	const char *path = r->command->files[0].read->path;
	const char *fault = NULL;
	char shown[BRIEF_MAX];

	for (size_t i = 0; i < r->command->file_count; i++) {
		if (!r->command->files[i].wins)
			continue;
		path = r->command->files[i].read->path;
		fault = r->command->files[i].read->why_not;
	}
	if (fault)
		return not_recognised(r, "cannot read %s (%s): fix it",
				      argument_brief(shown, path), fault);
	return not_recognised(r,
			      "the %s is not set in %s, beside which no option "
			      "is read: add %s there with its present value",
			      knob_words(kind), argument_brief(shown, path),
			      name + strspn(name, "-"));
}

/* Where the framework is certain: its option and its default. */
static enum command_outcome from_preset(struct recognition *r,
					enum knob_kind kind)
{
	const struct preset *preset = r->command->preset;
	const struct preset_knob *knob = preset_knob(preset, kind);
	const char *name = knob->names.items[0];
	int64_t value = knob->default_value;

	if (kind == KNOB_GLOBAL)
		return global_from_preset(r);
	if (kind == KNOB_STEPS)
		return COMMAND_OK;
	if (r->command->takes_no_options)
		return kind == KNOB_OUTPUT ? COMMAND_OK
					   : not_in_file(r, kind, name);
	if (kind != KNOB_OUTPUT && config_is_open(r))
		return from_config(r, kind, name);
	if (kind == KNOB_ACCUM && value == 0)
		value = 1;
	if (value == 0 && kind == KNOB_MICRO && has_global(r->command))
		return COMMAND_OK;
	if (value == 0 && kind == KNOB_MICRO)
		return not_recognised(
			r,
			"the batch size is not given, and %s has "
			"no default for it: add %s%sN with its "
			"present value",
			preset->description, name,
			*name == '-' || preset->words.pairs ? " " : "=");
	knob_set_default(r, kind, name, value,
			 xasprintf("default of %s", preset->name));
	return COMMAND_OK;
}

/* Where it may stand instead, as far as that is known. */
static enum command_outcome no_micro_found(const struct recognition *r)
{
	const struct command *command = r->command;

	for (size_t i = 0; i < command->file_count; i++) {
		const struct command_file *file = &command->files[i];
		char shown[BRIEF_MAX];

		if (file->read->why_not)
			return not_recognised(
				r,
				"no batch size is found among the arguments of "
				"%s, and %s, which may set it, is not "
				"understood: mend it, or %s (%s)",
				r->source_name,
				argument_brief(shown, file->read->path),
				way_out(KNOB_MICRO), file->read->why_not);
	}
	if (r->is_open)
		return not_recognised(
			r,
			"no batch size is found among the arguments of %s, and "
			"what Hydra composes is not known: add its key with "
			"the present value, as in train.batch_size=8, and the "
			"accumulation's, if there is one",
			r->source_name);
	return advise_not_found(r);
}

static enum command_outcome nothing_found(struct recognition *r,
					  enum knob_kind kind)
{
	const struct source_constant *constant = constant_find(r, kind);
	enum command_outcome outcome;
	bool all_of_other = false, ignored;

	if (kind == KNOB_MICRO && has_global(r->command))
		return COMMAND_OK;
	outcome = knob_variable_find(r, kind);
	if (outcome != COMMAND_OK ||
	    r->command->knobs[kind].form != KNOB_ABSENT)
		return outcome;
	outcome = knob_literal_find(r, kind, &all_of_other);
	if (outcome == COMMAND_OK && kind == KNOB_MICRO &&
	    r->command->knobs[KNOB_MICRO].form == KNOB_SOURCE &&
	    r->command->knobs[KNOB_ACCUM].form == KNOB_ABSENT)
		outcome = knob_literal_find(r, KNOB_ACCUM, &ignored);
	if (outcome != COMMAND_OK ||
	    r->command->knobs[kind].form != KNOB_ABSENT)
		return outcome;
	if (constant && !all_of_other &&
	    (kind == KNOB_MICRO || constant->value > 1))
		return from_constant(r, kind, constant);
	return kind == KNOB_MICRO ? no_micro_found(r) : COMMAND_OK;
}

/* Its batch size is an option of the script's own parser. */
static bool has_own_parser(const struct recognition *r)
{
	const struct knob *micro = &r->command->knobs[KNOB_MICRO];

	return micro->name && *micro->name == '-' &&
	       source_resolve(r->source, micro->name, strlen(micro->name));
}

enum command_outcome knob_default_find(struct recognition *r,
				       enum knob_kind kind)
{
	const struct preset *preset = r->command->preset;
	const struct preset_knob *knob = preset_knob(preset, kind);
	const struct source_constant *global = NULL;
	const struct source_option *option;
	const char *name;
	size_t rank;

	if (knob->names.count == 0)
		return COMMAND_OK;
	name = knob->names.items[0];
	option = knob_in_source(r, kind, &rank);
	if (option && kind <= KNOB_ACCUM &&
	    candidates_slip_check(r, option) != COMMAND_OK)
		return COMMAND_NOT_RECOGNISED;
	if (option && kind <= KNOB_ACCUM)
		return knob_set_option_default(r, kind, option);
	/* It would refuse what it does not declare. */
	if (!option && kind == KNOB_OUTPUT && has_own_parser(r))
		return COMMAND_OK;
	if (preset->files.defaults_in_source && kind <= KNOB_ACCUM)
		global = source_global(r->source, name + strspn(name, "-"));
	if (global)
		return defaults_from_global(r, kind, name, global);
	if (r->command->preset_is_certain &&
	    (*name == '-' || knob->bare || preset->words.pairs))
		return from_preset(r, kind);
	return kind <= KNOB_ACCUM ? nothing_found(r, kind) : COMMAND_OK;
}
