/* Finds the knobs among the arguments of a program. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/knobs/knobs.h"

#include "launcher/command/knobs/advice.h"
#include "launcher/command/knobs/by_class.h"
#include "launcher/command/knobs/candidates.h"
#include "launcher/command/knobs/file_find.h"
#include "launcher/command/knobs/knob_accum.h"
#include "launcher/command/knobs/knob_by_flag.h"
#include "launcher/command/knobs/knob_defaults.h"
#include "launcher/command/knobs/knob_in_file.h"
#include "launcher/command/knobs/knob_pair.h"
#include "launcher/command/knobs/knob_scope.h"
#include "launcher/command/knobs/knob_take.h"
#include "launcher/command/parts/setting_value.h"
#include "launcher/command/parts/token.h"
#include "launcher/command/text/argument.h"
#include "launcher/command/text/names.h"
#include "launcher/command/text/option_class.h"

#include "base/alloc.h"
#include "base/span.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "number of updates in each forward pass" */
static bool is_of_each(const struct source_option *option)
{
	const char *help = option ? option->help : NULL;

	return help && (strcasestr(help, "each ") || strcasestr(help, " per "));
}

static bool steps_are_aside(const struct candidate *candidate)
{
	const char *name = candidate->token.name;

	if (name)
		return option_steps_are_aside(name,
					      candidate->token.name_length);
	name = candidate->option->names.items[0];
	return option_steps_are_aside(name, strlen(name));
}

/*
 * Only the largest count of steps can bound a run: others are those of a pass,
 * a sampler or a rollout, and more of them would be another training.
 */
static const struct candidate *pick_limit(const struct candidates *candidates)
{
	const struct candidate *picked = NULL;
	int64_t count, most = 0;

	for (size_t i = 0; i < candidates->count; i++) {
		const struct candidate *candidate = &candidates->items[i];

		if (!count_parse(candidate->value, &count) || count <= most ||
		    steps_are_aside(candidate))
			continue;
		most = count;
		picked = candidate;
	}
	return picked && is_of_each(picked->option) ? NULL : picked;
}

/* The only one that is typed, where the others are 1 and so change nothing;
 * NULL: it is not so. */
static const struct candidate *
pick_typed_accum(const struct candidates *candidates)
{
	const struct candidate *typed = NULL;

	for (size_t i = 0; i < candidates->count; i++) {
		const struct candidate *candidate = &candidates->items[i];

		if (!candidate->token.name &&
		    strcmp(candidate->value, "1") == 0)
			continue;
		if (typed || !candidate->token.name)
			return NULL;
		typed = candidate;
	}
	return typed;
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
	if (kind == KNOB_STEPS && by_class_applies(r)) {
		*picked = pick_limit(candidates);
		return COMMAND_OK;
	}
	if (kind == KNOB_ACCUM && candidates->count > 1)
		*picked = pick_typed_accum(candidates);
	if (*picked)
		return COMMAND_OK;
	if (kind <= KNOB_GLOBAL && candidates->count > 1)
		return advise_between(r, kind, &candidates->items[0],
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

/* A config file that comes later does set it again. */
static bool is_set_later(const struct recognition *r, enum knob_kind kind,
			 const struct token *token)
{
	const struct command *command = r->command;

	for (size_t i = 0; i < command->file_count; i++) {
		const struct command_file *file = &command->files[i];
		bool wins = command->preset->files.later_config_wins ||
			    file->settings->format == SETTINGS_ARGS;

		if (wins && file->index != NO_INDEX &&
		    file->index > token->index &&
		    knob_in_file_is_set(r, kind, file))
			return true;
	}
	return false;
}

/* A program that reads what lies in its output folder keeps it. */
static bool output_stays(const struct recognition *r)
{
	const struct command *command = r->command;
	const struct strlist *with = &command->preset->knobs.output_keep_with;
	struct token token;

	if (!with->count)
		return false;
	for (size_t i = command->view.args; i < command->view.end; i++)
		if (strlist_find(with, command_argv(command)->items[i]) <
		    with->count)
			return true;
	for (size_t i = command->view.args; token_next(&token, command, &i);
	     i++)
		if (!token.bare &&
		    names_find(with, token.name, token.name_length, false) <
			    with->count)
			return true;
	return false;
}

/* Of a framework that leaves the name to the user, data.init_args.train.bs say:
 * the one key in a file that speaks of a batch. */
static enum command_outcome key_by_words(struct recognition *r)
{
	const struct preset_knob *micro = &r->command->preset->knobs.micro;
	struct file_keys keys;
	const struct setting *batch;

	if (!r->command->preset_is_certain || r->command->takes_no_options ||
	    micro->default_value || micro->names.count == 0 ||
	    *micro->names.items[0] != '-' || config_is_open(r))
		return COMMAND_OK;
	file_keys_find(&keys, r);
	batch = keys.first[OPTION_BATCH] ? keys.first[OPTION_BATCH]
					 : keys.first[OPTION_MICRO];
	if (keys.count[OPTION_BATCH] + keys.count[OPTION_MICRO] != 1 ||
	    keys.count[OPTION_MICRO_NODE] + keys.count[OPTION_GLOBAL] +
		    keys.count[OPTION_BATCH_LIKE] +
		    keys.count[OPTION_MICRO_LIKE])
		return COMMAND_OK;
	return knob_by_key_find(r, KNOB_MICRO, batch->key);
}

/* "batch_size=2" in "lr=0.1,batch_size=2"; no length: there is none. */
static struct span inner_setting(const char *value)
{
	struct span found = { value, 0 };

	while (*value && !found.length) {
		size_t length = strcspn(value, ", ");
		size_t key = strcspn(value, "=");
		size_t digits = key < length
					? strspn(value + key + 1, "0123456789")
					: 0;

		if (digits && key + 1 + digits == length &&
		    option_class_of(value, key) == OPTION_BATCH)
			found = (struct span){ value, length };
		value += length + (value[length] != '\0');
	}
	return found;
}

/*
 * --hparams=batch_size=2,lr=0.1: which option that is only the program knows.
 * What it says is no default's place to be taken by.
 */
static enum command_outcome check_inner(const struct recognition *r)
{
	const struct command *command = r->command;
	struct token token;

	if (!by_class_applies(r))
		return COMMAND_OK;
	for (size_t i = command->view.args; token_next(&token, command, &i);
	     i++) {
		const char *value = token_value(&token, command_argv(command));
		struct span found = inner_setting(value ? value : "");
		int key = (int)strcspn(found.at, "=");

		/* --name batch=4 only says it. */
		if (token.bare || !found.length ||
		    option_name_is_aside(token.name, token.name_length))
			continue;
		return not_recognised(
			r,
			"%.*s holds %.*s, which may be the batch size: write "
			"%.*s={micro:%.*s} there",
			(int)token.name_length, token.name, (int)found.length,
			found.at, key, found.at, (int)found.length - key - 1,
			found.at + key + 1);
	}
	return COMMAND_OK;
}

/*
 * Of a framework whose sizes stand in its file alone: the program's own loader
 * may go by its own option, whatever the file says.
 */
static enum command_outcome check_beside_file(struct recognition *r)
{
	struct knob *knobs = r->command->knobs;
	const struct knob *said = knobs[KNOB_MICRO].form == KNOB_FILE
					  ? &knobs[KNOB_MICRO]
					  : &knobs[KNOB_GLOBAL];
	struct candidate in_file = { .token = { .name = said->name } };
	struct candidates typed = { .count = 0 };
	enum command_outcome outcome;
	char name[BRIEF_MAX];
	size_t i = 0;

	if (r->command->preset->knobs.micro.names.count ||
	    said->form != KNOB_FILE)
		return COMMAND_OK;
	by_class_collect(&typed, r, CLASSES_MICRO | CLASS_BIT(OPTION_BATCH));
	while (i < typed.count &&
	       (!typed.items[i].token.name ||
		!knob_scope_is_read(r, candidate_name(name, &typed.items[i]))))
		i++;
	if (i == typed.count)
		return COMMAND_OK;
	in_file.token.name_length = strlen(said->name);
	(void)snprintf(in_file.value, sizeof(in_file.value), "%lld",
		       (long long)said->value);
	outcome = advise_between(r, KNOB_MICRO, &typed.items[i], &in_file);
	knob_forget(&knobs[KNOB_MICRO]);
	knob_forget(&knobs[KNOB_GLOBAL]);
	return outcome;
}

static bool knob_is_left_out(const struct recognition *r, enum knob_kind kind)
{
	return kind == KNOB_OUTPUT ? output_stays(r)
	       : kind == KNOB_STEPS
		       ? by_class_applies(r) && knob_accum_is_of_agent(r)
		       : false;
}

static bool is_absent(const struct recognition *r, enum knob_kind kind)
{
	return r->command->knobs[kind].form == KNOB_ABSENT;
}

static enum command_outcome find_one(struct recognition *r, enum knob_kind kind)
{
	struct candidates candidates;
	const struct candidate *picked;
	enum command_outcome outcome;

	if (knob_is_left_out(r, kind))
		return COMMAND_OK;
	candidates_collect(&candidates, r, kind);
	outcome = pick(r, kind, &candidates, &picked);
	if (outcome != COMMAND_OK ||
	    (kind == KNOB_MICRO && command_rows_are_open(r->command)))
		return outcome;
	if (picked && picked->token.name &&
	    is_set_later(r, kind, &picked->token))
		picked = NULL;
	if (picked && picked->weak && kind == KNOB_MICRO &&
	    is_absent(r, KNOB_ACCUM))
		return advise_if_meant(r, kind, picked);
	if (picked && picked->token.name)
		outcome = knob_take(r, kind, &picked->token);
	if (outcome == COMMAND_OK && kind == KNOB_MICRO && is_absent(r, kind))
		outcome = check_inner(r);
	if (outcome == COMMAND_OK && is_absent(r, kind))
		outcome = knob_in_file_find(r, kind);
	if (outcome == COMMAND_OK && kind == KNOB_MICRO && is_absent(r, kind) &&
	    is_absent(r, KNOB_GLOBAL))
		outcome = key_by_words(r);
	/* A file that has the last word needs no default beside it. */
	if (outcome == COMMAND_OK && is_absent(r, kind) &&
	    !knob_in_winning_file_is_set(r, kind))
		outcome = knob_default_find(r, kind);
	return outcome == COMMAND_OK ? knob_in_winning_file_find(r, kind)
				     : outcome;
}

static enum command_outcome find_absent(struct recognition *r,
					enum knob_kind kind)
{
	enum command_outcome outcome = find_one(r, kind);

	return outcome == COMMAND_OK && kind == KNOB_MICRO
		       ? check_beside_file(r)
		       : outcome;
}

/* It may follow from the effective batch, if accumulation can be written. */
static enum command_outcome check_micro(const struct recognition *r)
{
	const struct knob *knobs = r->command->knobs;
	const struct preset *preset = r->command->preset;

	if (knobs[KNOB_MICRO].form != KNOB_ABSENT ||
	    command_rows_are_open(r->command) ||
	    (knobs[KNOB_GLOBAL].form != KNOB_ABSENT &&
	     knobs[KNOB_ACCUM].form != KNOB_ABSENT))
		return COMMAND_OK;
	if (preset->knobs.micro.keys.count)
		return not_recognised(r,
				      "no config file of the command sets %s: "
				      "add it there with its present value, or "
				      "%s",
				      preset->knobs.micro.keys.items[0],
				      way_out(KNOB_MICRO));
	return not_recognised(r, "no batch size is found: %s",
			      way_out(KNOB_MICRO));
}

/* An option that leads needs words of the user's on one side of it: at others
 * nothing can be added. */
static bool is_out_of_reach(const struct command *command,
			    const struct knob *knob)
{
	const struct shell_expansion *expansion = &command->view.expansion;

	if (!expansion->script || knob->form != KNOB_DEFAULT ||
	    knob->index == expansion->append_at)
		return false;
	for (size_t i = knob->index - 1; i <= knob->index; i++)
		if (i < expansion->argv.count &&
		    expansion->words[i].origin == WORD_ARGUMENT &&
		    !expansion->words[i].is_numbered)
			return false;
	return true;
}

/*
 * A script must hand options on, and not behind a "--"; of one that is not
 * understood nobody knows whether it does.
 */
static enum command_outcome check_additions(struct recognition *r)
{
	const struct command *command = r->command;
	const struct command_view *view = &command->view;
	const struct shell_expansion *expansion = &view->expansion;
	struct knob *accum = &r->command->knobs[KNOB_ACCUM];
	bool hands_on = expansion->script
				? expansion->append_at <= view->end
				: !view->has_shell || expansion->argv.count;

	/* What cannot be given, and is 1, is no accumulation to make use of. */
	if (!hands_on && accum->form == KNOB_DEFAULT && accum->value == 1 &&
	    by_class_applies(r))
		knob_forget(accum);
	for (int kind = 0; hands_on && kind <= KNOB_GLOBAL; kind++)
		if (is_out_of_reach(command, &command->knobs[kind]))
			return not_recognised(
				r,
				"%s must stand before %s, where %s takes no "
				"arguments: write %s %lld there",
				command->knobs[kind].name,
				command_argv(command)
					->items[command->knobs[kind].index],
				expansion->script, command->knobs[kind].name,
				(long long)command->knobs[kind].value);
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
					: command_argv(command)
						  ->items[view->program],
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
	for (size_t i = 0; outcome == COMMAND_OK && i < KNOB_KINDS; i++) {
		if (order[i] == KNOB_GLOBAL)
			outcome = knob_pair_find(r);
		if (outcome == COMMAND_OK && is_absent(r, order[i]))
			outcome = find_absent(r, order[i]);
		if (outcome == COMMAND_OK && order[i] == KNOB_ACCUM)
			outcome = knob_accum_find(r);
	}
	if (outcome == COMMAND_OK)
		outcome = check_micro(r);
	if (outcome == COMMAND_OK)
		outcome = knob_accum_check(r);
	knob_scope_read(r);
	return outcome == COMMAND_OK ? check_additions(r) : outcome;
}
