/* Writes sizes into a command; every other byte stays as it is. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/rewrite/rewrite.h"

#include "launcher/command/parts/token.h"
#include "launcher/command/rewrite/rewrite_internal.h"
#include "launcher/command/text/names.h"

#include "base/alloc.h"
#include "base/strbuf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The new flat argv while it is written. */
struct draft {
	const struct command *command;
	const struct command_values *values;
	const struct rewrite *rewrite; /* with its copies */
	struct sets sets;
	struct strlist texts;
	size_t *from; /* of each text: index in the flat argv, or NO_INDEX */
	size_t capacity;
};

static void emit(struct draft *draft, char *text, size_t from)
{
	assert(from == NO_INDEX || from < command_argv(draft->command)->count);
	draft->from = xgrow(draft->from, draft->texts.count, &draft->capacity,
			    sizeof(*draft->from));
	draft->from[draft->texts.count] = from;
	strlist_take(&draft->texts, text);
}

static void emit_all(struct draft *draft, const struct strlist *words)
{
	for (size_t i = 0; i < words->count; i++)
		emit(draft, xstrdup(words->items[i]), NO_INDEX);
}

/* The argument up to the offset, then the value. */
static char *joined(const char *argument, size_t offset, const char *value)
{
	assert(offset <= strlen(argument));
	return xasprintf("%.*s%s", (int)offset, argument, value);
}

/* The argument with the value of a knob in it, or NULL. */
static char *with_knob(const struct command *command,
		       const struct command_values *values, size_t index)
{
	for (size_t kind = 0; kind < KNOB_KINDS; kind++) {
		const struct knob *knob = &command->knobs[kind];
		char *value, *text;

		if ((knob->form != KNOB_SEPARATE &&
		     knob->form != KNOB_JOINED) ||
		    knob->index != index)
			continue;
		value = knob_new_value(command, (enum knob_kind)kind, values);
		text = value ? joined(command_argv(command)->items[index],
				      knob->offset, value)
			     : NULL;
		free(value);
		return text;
	}
	return NULL;
}

char *argument_rewrite(const struct command *command,
		       const struct command_values *values, size_t index)
{
	char *text = with_knob(command, values, index);
	char *replaced;

	assert(index < command_argv(command)->count);
	if (!text)
		text = xstrdup(command_argv(command)->items[index]);
	replaced = placeholders_replace(command, values, text);
	if (!replaced)
		return text;
	free(text);
	return replaced;
}

/* What autofit itself has to say there: a setting, a port, a copy. */
static char *with_addition(const struct draft *draft, size_t index)
{
	const struct command *command = draft->command;
	const char *argument = command_argv(command)->items[index];
	const struct command_view *view = &command->view;
	char port[16];

	for (size_t i = 0; i < command->file_count; i++) {
		const struct command_file *file = &command->files[i];
		const char *path = copy_path(draft->rewrite, file);

		if (path && file->index == index)
			return joined(argument, file->offset, path);
	}
	for (size_t i = 0; i < draft->sets.count; i++)
		if (draft->sets.items[i].index == index &&
		    !knob_is_taken(command, index))
			return joined(argument, draft->sets.items[i].offset,
				      draft->sets.items[i].value);
	(void)snprintf(port, sizeof(port), "%d", draft->values->port);
	for (size_t i = 0; draft->values->port && i < view->port_count; i++)
		if (view->ports[i].index == index && !view->ports[i].option)
			return joined(argument, view->ports[i].offset, port);
	return NULL;
}

static bool is_truth_word(const char *text)
{
	static const char *const words[] = { "true", "false", "yes",
					     "no",   "1",     "0" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcasecmp(words[i], text) == 0)
			return true;
	return false;
}

/* How many arguments from index on a probe does without. */
static size_t dropped_count(const struct command *command, size_t index)
{
	const struct strlist *drop = &command->preset->probe.drop;
	struct token token;

	assert(index < command->view.end);
	if (!token_read(&token, command_argv(command), &command->view, index))
		return 0;
	for (size_t i = 0; i < drop->count; i++) {
		const char *entry = drop->items[i];
		size_t length = strcspn(entry, " =");

		if (token.bare != (entry[length] == '=') ||
		    !name_equal(entry, length, token.name, token.name_length))
			continue;
		if (token.form != KNOB_SEPARATE)
			return 1;
		return entry[length] || is_truth_word(token_value(
						&token, command_argv(command)))
			       ? 2
			       : 1;
	}
	return 0;
}

/* Words that begin with no dash go behind the option of their group. */
static size_t group_end(const struct command *command)
{
	const char *group = command->preset->words.group;
	size_t end = NO_INDEX;

	for (size_t i = command->view.args; group && i < command->view.end;
	     i++) {
		if (strcmp(command_argv(command)->items[i], group) != 0)
			continue;
		for (end = i + 1; end < command->view.end &&
				  command_argv(command)->items[end][0] != '-';)
			end++;
	}
	assert(end == NO_INDEX || end <= command->view.end);
	return end;
}

/* Options that stand before others: see knob.index. */
static void emit_leading(struct draft *draft, size_t index)
{
	const struct command *command = draft->command;
	struct strlist words = STRLIST_INIT;

	for (size_t kind = 0; kind < KNOB_KINDS; kind++)
		if (command->knobs[kind].form == KNOB_DEFAULT &&
		    command->knobs[kind].index == index)
			words_of_knob(command, (enum knob_kind)kind,
				      draft->values, &words);
	emit_all(draft, &words);
	strlist_release(&words);
}

/* All words that are added, options or others. */
static void additions(const struct draft *draft, bool options,
		      struct strlist *out)
{
	const struct command *command = draft->command;
	size_t place = command_append_at(command);
	bool joined_only = command->preset->knobs.micro.joined_only;
	struct strlist words = STRLIST_INIT;

	for (size_t kind = 0; kind < KNOB_KINDS; kind++) {
		const struct knob *knob = &command->knobs[kind];

		if (knob->name && (*knob->name == '-') == options &&
		    knob->index == place)
			words_of_knob(command, (enum knob_kind)kind,
				      draft->values, &words);
	}
	for (size_t i = 0; options && i < command->file_count; i++) {
		const struct command_file *file = &command->files[i];
		const char *path = copy_path(draft->rewrite, file);

		if (path && file->option)
			words_of_option(command, file->option, path, false,
					&words);
	}
	for (size_t i = 0; i < draft->sets.count; i++) {
		const struct set *set = &draft->sets.items[i];

		if (set->index == NO_INDEX && (*set->name == '-') == options)
			words_of_option(command, set->name, set->value,
					joined_only, &words);
	}
	strlist_add_all(out, (const char *const *)words.items, words.count);
	strlist_release(&words);
}

/* before: the word that they need before them; NULL: none */
static void emit_added(struct draft *draft, bool is_own, const char *before)
{
	struct strlist words = STRLIST_INIT;

	additions(draft, is_own, &words);
	if (words.count && before)
		emit(draft, xstrdup(before), NO_INDEX);
	emit_all(draft, &words);
	strlist_release(&words);
}

/* What stands behind the arguments of the program, before a "--". */
static void emit_additions(struct draft *draft, bool has_group)
{
	const struct preset *preset = draft->command->preset;

	emit_added(draft, true, NULL);
	if (!has_group)
		emit_added(draft, false, preset->words.group);
	if (draft->values->is_probe && draft->command->preset_is_certain)
		emit_all(draft, &preset->probe.args);
}

static void emit_ports(struct draft *draft, size_t index)
{
	const struct command_view *view = &draft->command->view;

	for (size_t i = 0; draft->values->port && i < view->port_count; i++)
		if (view->ports[i].index == index && view->ports[i].option)
			emit(draft,
			     xasprintf("%s=%d", view->ports[i].option,
				       draft->values->port),
			     NO_INDEX);
}

static void emit_argument(struct draft *draft, size_t index)
{
	char *text = with_addition(draft, index);

	emit(draft,
	     text ? text
		  : argument_rewrite(draft->command, draft->values, index),
	     index);
}

static void write_words(struct draft *draft)
{
	const struct command *command = draft->command;
	const struct command_view *view = &command->view;
	size_t group = group_end(command);
	size_t place = command_append_at(command);
	size_t skip_to = 0;

	for (size_t i = 0; i <= command_argv(command)->count; i++) {
		bool is_own = i >= view->args && i < view->end;

		if (i == group)
			emit_added(draft, false, NULL);
		if (i != place && !command->takes_no_options)
			emit_leading(draft, i);
		if (i == place && !command->takes_no_options)
			emit_additions(draft, group != NO_INDEX);
		if (i == command_argv(command)->count)
			break;
		emit_ports(draft, i);
		if (draft->values->is_probe && is_own && i >= skip_to)
			skip_to = i + dropped_count(command, i);
		if (i >= skip_to)
			emit_argument(draft, i);
	}
}

static void fold(const struct draft *draft, struct strlist *argv)
{
	const struct command *command = draft->command;
	const struct strlist *texts = &draft->texts;
	struct new_word *words;

	if (!command->view.expansion.argv.count) {
		strlist_add_all(argv, (const char *const *)texts->items,
				texts->count);
		return;
	}
	words = xcalloc(texts->count + 1, sizeof(*words));
	for (size_t i = 0; i < texts->count; i++)
		words[i] = (struct new_word){ .text = texts->items[i],
					      .from = draft->from[i] };
	shell_rewrite_fold(&command->view.expansion, command->given, words,
			   texts->count, argv);
	free(words);
}

static void rewrite_environment(const struct command *command,
				const struct command_values *values,
				struct strlist *environment)
{
	const struct strlist *extra = &command->preset->probe.env;

	for (size_t i = 0; i < command->env_templates.count; i++) {
		char *item = placeholders_replace(
			command, values, command->env_templates.items[i]);

		if (item)
			strlist_take(environment, item);
	}
	if (values->is_probe)
		strlist_add_all(environment, (const char *const *)extra->items,
				extra->count);
}

int command_rewrite(const struct command *command,
		    const struct command_values *values,
		    struct rewrite *rewrite, struct error *err)
{
	struct draft draft = { .command = command,
			       .values = values,
			       .rewrite = rewrite };
	int result;

	*rewrite = (struct rewrite){ .copy_count = 0 };
	result = copies_make(command, values, rewrite, err);
	if (result < 0)
		return result;
	sources_make(command, values, rewrite);
	sets_make(&draft.sets, command, values);
	write_words(&draft);
	fold(&draft, &rewrite->argv);
	rewrite_environment(command, values, &rewrite->environment);
	sets_release(&draft.sets);
	strlist_release(&draft.texts);
	free(draft.from);
	return 0;
}

void rewrite_release(struct rewrite *rewrite)
{
	strlist_release(&rewrite->argv);
	strlist_release(&rewrite->environment);
	strlist_release(&rewrite->followers);
	for (size_t i = 0; i < rewrite->copy_count; i++) {
		free(rewrite->copies[i].original);
		free(rewrite->copies[i].path);
		free(rewrite->copies[i].text);
		settings_release(&rewrite->copies[i].settings);
	}
	free(rewrite->copies);
	*rewrite = (struct rewrite){ .copy_count = 0 };
}
