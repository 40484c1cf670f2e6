/* Accumulations that no name says, or that a name says and is no knob. Pure. */
/* SPDX-License-Identifier: MIT */
/*
 * An accumulation that is overlooked makes the effective batch wrong without a
 * word. So what sounds like one, and is not 1, is asked about, unless the
 * script tells by what it does with the number.
 */
#include "launcher/command/knobs/knob_accum.h"

#include "launcher/command/files/source_counts.h"
#include "launcher/command/files/source_shares.h"
#include "launcher/command/knobs/by_class.h"
#include "launcher/command/knobs/file_find.h"
#include "launcher/command/knobs/knob_defaults.h"
#include "launcher/command/knobs/knob_scope.h"
#include "launcher/command/knobs/knob_take.h"
#include "launcher/command/modules/module_files.h"
#include "launcher/command/parts/token.h"
#include "launcher/command/text/names.h"

#include <string.h>
#include <strings.h>

/* What the script and its modules do with the accumulation's variable. */
struct counted {
	char variable[NAME_MAX_BYTES];
	unsigned uses;
};

static void counted_of_module(void *context, struct named_file *file,
			      const struct source_import *import)
{
	struct counted *counted = context;

	(void)import;
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

bool knob_accum_splits(const struct recognition *r)
{
	return (counted_uses(r) & (COUNT_SPLITS | COUNT_TIMES)) == COUNT_SPLITS;
}

bool knob_accum_may_split(const struct recognition *r)
{
	const char *name = r->command->knobs[KNOB_ACCUM].name;

	return name && option_counts_pieces(name, strlen(name)) &&
	       !(counted_uses(r) & (COUNT_LOOPS | COUNT_TIMES | COUNT_GUARDS));
}

/* Where an agent acts, an update comes after so many of its steps. */
bool knob_accum_is_of_agent(const struct recognition *r)
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
	    (accum->value != 1 && !r->hints->micro_flag &&
	     !knob_accum_is_of_agent(r)))
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
		if (option_of_token(r, &token) == option)
			typed = token;
	if (typed.name)
		return knob_take(r, KNOB_ACCUM, &typed);
	return option->kind == SOURCE_INTEGER && option->value > 0
		       ? knob_set_option_default(r, KNOB_ACCUM, option)
		       : COMMAND_OK;
}

/* The first option whose variable a finder of the script's text names. */
static const struct source_option *option_by(
	const struct recognition *r,
	const char *(*find)(const char *text, const char *from, size_t *length))
{
	const struct source_option *option = NULL;
	const char *name = r->text;
	size_t length = 0;

	while (!option && name &&
	       (name = find(r->text, name + length, &length)))
		option = guarding_option(r, name, length);
	return option;
}

enum command_outcome knob_accum_find(struct recognition *r)
{
	const struct source_option *option;

	if (!by_class_applies(r))
		return COMMAND_OK;
	if (r->command->knobs[KNOB_ACCUM].form != KNOB_ABSENT)
		return vague_check(r);
	option = option_by(r, source_step_guard);
	if (!option)
		option = option_by(r, source_pass_loop);
	return option ? option_take(r, option) : COMMAND_OK;
}

/* The preset knows it, as whatever. */
static bool accum_is_known(const struct recognition *r, const char *name,
			   size_t length)
{
	const struct preset *preset = r->command->preset;
	const struct strlist *lists[] = {
		&preset->knobs.micro.names,
		&preset->knobs.accum.names,
		&preset->knobs.global.names,
		&preset->words.neutral_args,
		&preset->probe.drop,
		&preset->split.micro_step_units,
		NULL,
	};

	for (size_t i = 0; lists[i]; i++)
		for (size_t k = 0; k < lists[i]->count; k++) {
			const char *entry = lists[i]->items[k];
			size_t letters;

			entry += strspn(entry, "-");
			letters = strcspn(entry, " ");
			if (length > strspn(name, "-") &&
			    name_equal(entry, letters, name + strspn(name, "-"),
				       length - strspn(name, "-")))
				return true;
		}
	return false;
}

/* Of a known framework its own options are known: only words ask. */
static unsigned asked_classes(const struct recognition *r)
{
	unsigned classes = CLASS_BIT(OPTION_ACCUM);

	/* Who names the knobs himself has looked. */
	if (r->hints->micro_flag || r->hints->accum_flag)
		return 0;
	if (by_class_applies(r))
		classes |= CLASS_BIT(OPTION_ACCUM_LIKE);
	return classes;
}

/* The same of a key in a config file that no knob is. */
static enum command_outcome unused_key(const struct recognition *r)
{
	const struct knob *accum = &r->command->knobs[KNOB_ACCUM];
	const struct setting *key;
	struct file_keys keys;
	char name[BRIEF_MAX];

	if (accum->form != KNOB_ABSENT)
		return COMMAND_OK;
	file_keys_find(&keys, r);
	key = keys.first[OPTION_ACCUM_LIKE];
	if (!key || strcmp(key->value, "1") == 0)
		return COMMAND_OK;
	(void)argument_brief(name, key->key);
	return not_recognised(r,
			      "%s of a config file speaks of accumulation, and "
			      "what it does is not known: add --accum-flag %s "
			      "if so many micro-batches make a step, else "
			      "--micro-flag with the key or the option of the "
			      "batch size",
			      name, name);
}

/*
 * accum_steps = total // micro: the script makes one, and no option says it.
 * Who names the option of the batch size has looked; where it is a number of
 * the script, the name only says which.
 */
static enum command_outcome computed(const struct recognition *r)
{
	const struct knob *micro = &r->command->knobs[KNOB_MICRO];
	const struct source_option *global;
	char variable[NAME_MAX_BYTES];
	const char *name;
	size_t length;
	unsigned line;

	if (!by_class_applies(r) || !r->text || !micro->name ||
	    command_accumulates(r->command))
		return COMMAND_OK;
	line = source_accum_computed(r->text, &name, &length);
	if (!line ||
	    source_accum_nominal(&r->command->nominal, r->text,
				 knob_scope_variable(r, micro->name, variable)))
		return COMMAND_OK;
	if (micro->form == KNOB_SOURCE)
		return not_recognised(
			r,
			"%s:%u computes %.*s, so the accumulation is not "
			"known: write its number there, or name that of the "
			"effective batch with --global-flag",
			r->source_name, line, (int)length, name);
	if (r->hints->micro_flag)
		return COMMAND_OK;
	global = by_class_declared(r, CLASS_BIT(OPTION_GLOBAL));
	/* One that counts tokens says no samples. */
	if (global && global->help && strcasestr(global->help, "token"))
		global = NULL;
	return not_recognised(
		r,
		"%s:%u computes %.*s, so the accumulation is not known: name "
		"the option of the effective batch that it follows from with "
		"--global-flag %s, or, where it is always 1, add "
		"--micro-flag %s",
		r->source_name, line, (int)length, name,
		global ? global->names.items[0] : "NAME", micro->name);
}

/*
 * A batch size in other words than the framework's, which would go by its
 * default: a program that was made of it has its own.
 */
static enum command_outcome other_batch(const struct recognition *r)
{
	const struct knob *micro = &r->command->knobs[KNOB_MICRO];
	struct candidates found = { .count = 0 };
	char words[CANDIDATE_WORDS_MAX], name[BRIEF_MAX];

	if (r->hints->micro_flag || r->hints->preset ||
	    micro->form != KNOB_DEFAULT || micro->is_said)
		return COMMAND_OK;
	by_class_collect(&found, r, CLASS_BIT(OPTION_GLOBAL));
	for (size_t i = 0; i < found.count; i++) {
		if (!found.items[i].token.name)
			continue;
		(void)candidate_name(name, &found.items[i]);
		if (accum_is_known(r, name, strlen(name)))
			continue;
		candidate_words(words, &found.items[i]);
		return not_recognised(
			r,
			"%s speaks of a batch, and %s knows no such option: "
			"add --preset generic, or, if it is none, --micro-flag "
			"%s with the present value of that",
			words, r->command->preset->name, micro->name);
	}
	return COMMAND_OK;
}

/* What is typed, speaks of a micro-batch, and is not the one that was read. */
static enum command_outcome other_micro(const struct recognition *r)
{
	const struct knob *micro = &r->command->knobs[KNOB_MICRO];
	struct candidates found = { .count = 0 };
	char words[CANDIDATE_WORDS_MAX], name[BRIEF_MAX];

	if (r->hints->micro_flag || micro->form == KNOB_PLACEHOLDER ||
	    !micro->name)
		return COMMAND_OK;
	by_class_collect(&found, r, CLASS_BIT(OPTION_MICRO_LIKE));
	if (found.count == 0 || !found.items[0].token.name)
		return COMMAND_OK;
	(void)candidate_name(name, &found.items[0]);
	candidate_words(words, &found.items[0]);
	return not_recognised(r,
			      "%s speaks of a micro-batch, and what it does "
			      "beside %s is not known: add --micro-flag %s if "
			      "it is the batch of a pass, else --micro-flag %s",
			      words, micro->name, name, micro->name);
}

enum command_outcome knob_accum_check(const struct recognition *r)
{
	const struct knob *accum = &r->command->knobs[KNOB_ACCUM];
	struct candidates found = { .count = 0 };
	unsigned classes = asked_classes(r);

	if (computed(r) != COMMAND_OK)
		return COMMAND_NOT_RECOGNISED;
	if (!classes || accum->form == KNOB_PLACEHOLDER ||
	    accum->form == KNOB_ENVIRONMENT)
		return COMMAND_OK;
	by_class_collect(&found, r, classes);
	for (size_t i = 0; i < found.count; i++) {
		const struct candidate *candidate = &found.items[i];
		char words[CANDIDATE_WORDS_MAX], name[BRIEF_MAX];
		int64_t number;

		(void)candidate_name(name, candidate);
		if (!count_parse(candidate->value, &number) || number == 1 ||
		    accum_is_known(r, name, strlen(name)) ||
		    (candidate->option &&
		     option_is_knob(r->command, candidate->option)))
			continue;
		candidate_words(words, candidate);
		return not_recognised(
			r,
			"%s speaks of accumulation%s%s, and what it does is "
			"not known: add --accum-flag %s if so many "
			"micro-batches make a step, else --micro-flag with "
			"the option of the batch size",
			words, accum->form == KNOB_ABSENT ? "" : " beside ",
			accum->form == KNOB_ABSENT ? "" : accum->name, name);
	}
	if (!by_class_applies(r))
		return other_batch(r);
	if (unused_key(r) != COMMAND_OK || other_micro(r) != COMMAND_OK)
		return COMMAND_NOT_RECOGNISED;
	return knob_overwritten_check(r, r->command->knobs[KNOB_MICRO].name);
}
