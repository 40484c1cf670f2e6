/* Options that speak of accumulation and are no knob. Pure. */
/* SPDX-License-Identifier: MIT */
/*
 * An accumulation that is overlooked makes the effective batch wrong without a
 * word. So what sounds like one, and is not 1, is asked about.
 */
#include "launcher/command/knobs/knob_unused.h"

#include "launcher/command/files/source_shares.h"
#include "launcher/command/knobs/by_class.h"
#include "launcher/command/knobs/file_find.h"
#include "launcher/command/knobs/knob_in_file.h"
#include "launcher/command/knobs/knob_scope.h"
#include "launcher/command/parts/token.h"
#include "launcher/command/text/names.h"

#include <string.h>

/* The preset knows it, as whatever. */
static bool knob_unused_is_known(const struct recognition *r, const char *name,
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

/* accum_steps = total // micro: the script makes one, and no option says it. */
static enum command_outcome computed(const struct recognition *r)
{
	const struct knob *knobs = r->command->knobs;
	const struct knob *micro = &knobs[KNOB_MICRO];
	const struct source_option *global;
	char variable[NAME_MAX_BYTES];
	const char *name;
	size_t length;
	unsigned line;

	if (!r->text || command_accumulates(r->command) || !micro->name)
		return COMMAND_OK;
	line = source_accum_computed(r->text, &name, &length);
	if (!line)
		return COMMAND_OK;
	if (source_accum_nominal(&r->command->nominal, r->text,
				 knob_scope_variable(r, micro->name, variable)))
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
		if (knob_unused_is_known(r, name, strlen(name)))
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

enum command_outcome knob_unused_check(const struct recognition *r)
{
	const struct knob *accum = &r->command->knobs[KNOB_ACCUM];
	struct candidates found = { .count = 0 };
	unsigned classes = asked_classes(r);

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
		    knob_unused_is_known(r, name, strlen(name)) ||

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
	if (unused_key(r) != COMMAND_OK || computed(r) != COMMAND_OK ||
	    other_micro(r) != COMMAND_OK)
		return COMMAND_NOT_RECOGNISED;
	return knob_overwritten_check(r, r->command->knobs[KNOB_MICRO].name);
}
