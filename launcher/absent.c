/* Knobs that the arguments do not show: named by the user, or defaults. Pure.
 */
/* SPDX-License-Identifier: MIT */
#include "launcher/command_internal.h"

#include "base/alloc.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static void set_default(struct recognition *r, enum knob_kind kind,
			const char *name, int64_t value, char *evidence)
{
	struct command *command = r->command;
	struct knob *knob = &command->knobs[kind];

	knob->form = KNOB_DEFAULT;
	knob->index = command->view.end;
	knob->value = value;
	knob->name = xstrdup(name);
	knob->evidence = evidence;
	knob->joined_only = preset_knob(command->preset, kind)->joined_only;
}

static char *line_evidence(const struct recognition *r, unsigned line)
{
	return xasprintf("%s:%u", r->source_name, line);
}

/* The spelling to add: one that the preset knows, a long one before -b. */
static const char *spelling(const struct recognition *r, enum knob_kind kind,
			    const struct source_option *option)
{
	const struct preset *preset = r->command->preset;
	const struct strlist *known = &preset_knob(preset, kind)->names;
	const char *best = option->names.items[0];

	for (size_t i = 0; i < option->names.count; i++) {
		const char *name = option->names.items[i];

		if (names_find(known, name, strlen(name), false) <
			    known->count &&
		    strlen(name) > 2)
			return name;
		if (strlen(best) == 2)
			best = name;
	}
	return best;
}

/* A file may have set it: only its reader knows. */
static enum command_outcome from_config(const struct recognition *r,
					enum knob_kind kind, const char *name)
{
	const char *config = r->command->argv.items[r->config_index];
	const struct preset *preset = r->command->preset;
	const char *glue = preset_knob(preset, kind)->joined_only ? "=" : " ";
	char shown[BRIEF_MAX];

	return not_recognised(r,
			      "the %s is not given, and %s may set it: add "
			      "%s%sN with its present value after %s",
			      knob_words(kind), brief(shown, config), name,
			      glue, shown);
}

static enum command_outcome from_option(struct recognition *r,
					enum knob_kind kind,
					const struct source_option *option)
{
	const char *name = spelling(r, kind, option);
	char shown[BRIEF_MAX];
	int64_t value = option->value;

	if (r->config_index != NO_INDEX)
		return from_config(r, kind, name);
	if (option->kind == SOURCE_NONE && kind == KNOB_ACCUM)
		value = 1;
	if (option->kind == SOURCE_OTHER || value < 1)
		return not_recognised(
			r,
			"%s:%u has the option %s, but no plain "
			"number as its default: add %s N with its "
			"present value",
			r->source_name, option->line, brief(shown, name),
			shown);
	set_default(r, kind, name, value, line_evidence(r, option->line));
	return COMMAND_OK;
}

/* A global of a script whose globals are its options. */
static enum command_outcome from_global(struct recognition *r,
					enum knob_kind kind, const char *name,
					const struct source_constant *constant)
{
	if (r->config_index != NO_INDEX)
		return from_config(r, kind, name);
	if (constant->kind != SOURCE_INTEGER || constant->value < 1)
		return not_recognised(r,
				      "%s:%u sets %s to more than a plain "
				      "number: add %s=N with its present value",
				      r->source_name, constant->line,
				      constant->name, name);
	set_default(r, kind, name, constant->value,
		    line_evidence(r, constant->line));
	return COMMAND_OK;
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
		    name_is_decoy(&preset->decoys, constant->name, length))
			continue;
		for (size_t k = 0; k < names->count; k++) {
			const char *entry = names->items[k];

			entry += strspn(entry, "-");
			if (strlen(entry) > 1 &&
			    name_matches(entry, constant->name, length, true))
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

/* Of a framework that is certain: its option and its default. */
static enum command_outcome from_preset(struct recognition *r,
					enum knob_kind kind)
{
	const struct preset *preset = r->command->preset;
	const struct preset_knob *knob = preset_knob(preset, kind);
	const char *name = knob->names.items[0];
	int64_t value = knob->default_value;

	if (kind == KNOB_STEPS || kind == KNOB_GLOBAL)
		return COMMAND_OK;
	if (kind != KNOB_OUTPUT && r->config_index != NO_INDEX)
		return from_config(r, kind, name);
	if (kind == KNOB_ACCUM && value == 0)
		value = 1;
	if (value == 0 && kind == KNOB_MICRO)
		return not_recognised(r,
				      "the batch size is not given, and %s has "
				      "no default for it: add %s N with its "
				      "present value",
				      preset->description, name);
	set_default(r, kind, name, value,
		    xasprintf("default of %s", preset->name));
	return COMMAND_OK;
}

static enum command_outcome nothing_found(const struct recognition *r,
					  enum knob_kind kind)
{
	const struct source_constant *constant = constant_find(r, kind);

	if (constant && (kind == KNOB_MICRO || constant->value > 1))
		return from_constant(r, kind, constant);
	if (kind == KNOB_MICRO)
		return not_recognised(r,
				      "no %s is found among the arguments of "
				      "%s: %s",
				      knob_words(kind), r->source_name,
				      way_out(kind));
	return COMMAND_OK;
}

enum command_outcome absent_find(struct recognition *r, enum knob_kind kind)
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
	if (option && kind <= KNOB_ACCUM)
		return from_option(r, kind, option);
	if (preset->defaults_in_source && kind <= KNOB_ACCUM)
		global = source_global(r->source, name + strspn(name, "-"));
	if (global)
		return from_global(r, kind, name, global);
	if (r->command->preset_is_certain && *name == '-')
		return from_preset(r, kind);
	return kind <= KNOB_ACCUM ? nothing_found(r, kind) : COMMAND_OK;
}

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
			flags[kind], brief(shown, name), flags[kind],
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
static struct token hinted_token(const struct recognition *r, const char *name)
{
	const struct command *command = r->command;
	struct token token, found = { .name = NULL };

	for (size_t i = command->view.args; i < command->view.end; i++)
		if (token_read(&token, &command->argv, &command->view, i) &&
		    token_is_hinted(r, &token, name))
			found = token;
	return found;
}

enum command_outcome hinted_find(struct recognition *r, enum knob_kind kind)
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
	(void)brief(shown, name);
	found = hinted_token(r, name);
	if (found.name && found.form != KNOB_ABSENT &&
	    knob_is_taken(r->command, found.value_index)) {
		(void)error_set(r->err, -EINVAL,
				"two options of autofit name %s: it can be "
				"one of them only",
				shown);
		return COMMAND_USAGE;
	}
	if (found.name)
		return knob_take(r, kind, &found);
	option = *name == '-' ? source_resolve(r->source, name, strlen(name))
			      : NULL;
	if (option && kind <= KNOB_ACCUM)
		return from_option(r, kind, option);
	return not_recognised(r,
			      "the option %s is not in the command: add it "
			      "with its present value, such as %s 1",
			      shown, shown);
}
