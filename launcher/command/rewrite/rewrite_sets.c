/* Options that a run gets beside its knobs: of probes, and rescaled. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/parts/knob.h"
#include "launcher/command/parts/setting_value.h"
#include "launcher/command/parts/token.h"
#include "launcher/command/rewrite/rewrite.h"
#include "launcher/command/rewrite/rewrite_internal.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/command/text/names.h"

#include "base/alloc.h"
#include "base/strbuf.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define HALF "{half}"

static struct set *sets_find(const struct sets *sets, const char *name)
{
	for (size_t i = 0; i < sets->count; i++)
		if (name_equal(sets->items[i].name, strlen(sets->items[i].name),
			       name, strlen(name)))
			return &sets->items[i];
	return NULL;
}

/* Where several have one name the last counts. */
static void sets_add(struct sets *sets, const struct command *command,
		     char *name, char *value)
{
	struct set *set = sets_find(sets, name);
	struct token token;

	if (set) {
		free(set->value);
		free(name);
		set->value = value;
		return;
	}
	sets->items =
		xrealloc(sets->items, sets->count + 1, sizeof(*sets->items));
	set = &sets->items[sets->count++];
	*set = (struct set){ .name = name, .value = value, .index = NO_INDEX };
	if (!token_find(command, name, &token) || token.form == KNOB_ABSENT)
		return;
	set->index = token.value_index;
	set->offset = token.value_offset;
}

/* "--eval_steps {half}" */
static char *set_value(const char *text, const struct command_values *values)
{
	const char *half = strstr(text, HALF);
	int64_t steps = (values->confirm_steps + 1) / 2;

	if (!half)
		return xstrdup(text);
	return xasprintf("%.*s%lld%s", (int)(half - text), text,
			 (long long)steps, half + strlen(HALF));
}

/* "?NAME VALUE" is for a command that says NAME itself. */
static bool is_wanted(const struct command *command, const char *entry,
		      size_t length)
{
	char *name;
	bool wanted;

	if (*entry != '?')
		return true;
	name = xstrndup(entry + 1, length - 1);
	wanted = setting_value(command, name) != NULL;
	free(name);
	return wanted;
}

/* Entries "NAME VALUE" of a preset. */
static void add_entries(struct sets *sets, const struct command *command,
			const struct command_values *values,
			const struct strlist *entries)
{
	for (size_t i = 0; i < entries->count; i++) {
		const char *entry = entries->items[i];
		size_t length = strcspn(entry, " ");
		size_t mark = *entry == '?';

		if (entry[length] && is_wanted(command, entry, length))
			sets_add(sets, command,
				 xstrndup(entry + mark, length - mark),
				 set_value(entry + length + 1, values));
	}
}

static void add_phase(struct sets *sets, const struct command *command,
		      const struct command_values *values,
		      const struct preset_phase *phase, bool does)
{
	bool early = values->confirm_steps > 0 && phase->forward.count;

	if (does)
		add_entries(sets, command, values,
			    early ? &phase->forward : &phase->off);
}

static void add_scaled(struct sets *sets, const struct command *command,
		       const struct command_values *values)
{
	for (size_t i = 0; i < command->scaled_count; i++) {
		const struct command_scaled *scaled = &command->scaled[i];
		int64_t number = scaled_written(command, values, scaled->value);

		if (number != scaled->value)
			sets_add(sets, command,
				 xstrndup(scaled->name,
					  strcspn(scaled->name, " ")),
				 xasprintf("%lld", (long long)number));
	}
}

void sets_make(struct sets *sets, const struct command *command,
	       const struct command_values *values)
{
	const struct preset *preset = command->preset;

	*sets = (struct sets){ .count = 0 };
	add_scaled(sets, command, values);
	if (values->resumes && command->preset_is_certain)
		add_entries(sets, command, values, &preset->words.resume);
	if (!values->is_probe || !command->preset_is_certain)
		return;
	add_entries(sets, command, values, &preset->probe.set);
	add_entries(sets, command, values, &preset->probe.worst);
	add_phase(sets, command, values, &preset->probe.evaluation,
		  command->evaluates);
	add_phase(sets, command, values, &preset->probe.saving, command->saves);
}

void sets_release(struct sets *sets)
{
	for (size_t i = 0; i < sets->count; i++) {
		free(sets->items[i].name);
		free(sets->items[i].value);
	}
	free(sets->items);
	*sets = (struct sets){ .count = 0 };
}

void words_of_option(const struct command *command, const char *name,
		     const char *value, bool joined, struct strlist *out)
{
	const struct preset *preset = command->preset;
	bool is_option = *name == '-';

	if ((is_option && !joined) || (!is_option && preset->words.pairs)) {
		strlist_add(out, name);
		strlist_add(out, value);
		return;
	}
	strlist_addf(out, "%s%s=%s",
		     !is_option && preset->words.sigil ? preset->words.sigil
						       : "",
		     name, value);
}

void words_of_knob(const struct command *command, enum knob_kind kind,
		   const struct command_values *values, struct strlist *out)
{
	const struct knob *knob = &command->knobs[kind];
	char *value;

	if (knob->form != KNOB_DEFAULT)
		return;
	value = knob_new_value(command, kind, values);
	if (value)
		words_of_option(command, knob->name, value, knob->joined_only,
				out);
	free(value);
}

static bool is_part_of_word(char byte)
{
	return isalnum((unsigned char)byte) || byte == '_' || byte == '-';
}

static const char *last_line(const char *text)
{
	const char *line = text;

	for (const char *end; (end = strchr(line, '\n')) && end[1];)
		line = end + 1;
	return line;
}

/* The text names an option with its dashes: "unknown option: --x=1". Or what
 * ends it, its last line, names that as a key: "unknown key: x". */
static bool is_named_in(const char *name, size_t length, const char *text)
{
	char *word = xstrndup(name, length);
	const char *key = word + strspn(word, "-");
	const char *line = last_line(text), *at = line;
	bool found = strstr(text, word) != NULL;

	while (!found && (at = strstr(at, key))) {
		found = (at == line || !is_part_of_word(at[-1])) &&
			!is_part_of_word(at[strlen(key)]);
		at += strlen(key);
	}
	free(word);
	return found;
}

static bool list_is_named(const struct strlist *entries, const char *text)
{
	for (size_t i = 0; i < entries->count; i++) {
		const char *name = entries->items[i];

		name += *name == '?';
		if (strcspn(name, " ") > 2 &&
		    is_named_in(name, strcspn(name, " ="), text))
			return true;
	}
	return false;
}

bool command_names_addition(const struct command *command, const char *text)
{
	const struct preset *preset = command->preset;
	const struct strlist *lists[] = {
		&preset->probe.args,
		&preset->probe.set,
		&preset->probe.worst,
		&preset->probe.evaluation.off,
		&preset->probe.evaluation.forward,
		&preset->probe.saving.off,
		&preset->probe.saving.forward,
		NULL,
	};

	for (size_t i = 0; lists[i]; i++)
		if (list_is_named(lists[i], text))
			return true;
	return false;
}

bool command_names_output(const struct command *command, const char *text)
{
	const struct knob *knob = &command->knobs[KNOB_OUTPUT];

	return knob->form == KNOB_DEFAULT &&
	       is_named_in(knob->name, strlen(knob->name), text);
}
