/* The sizes of a split as settings: what to write, and where. Pure. */
/* SPDX-License-Identifier: MIT */
/*
 * A command can say one size in several places: an option, a key of a config
 * file, a variable, a literal of the script, a placeholder. Each becomes one
 * setting with its old and its new value, for people who take the answer to
 * where autofit is not, and for the exports.
 */
#include "launcher/command/rewrite/settings_list.h"

#include "base/alloc.h"
#include "launcher/command/rewrite/rewrite_internal.h"
#include "launcher/command/text/placeholder.h"

#include <stdlib.h>
#include <string.h>

static const char *const size_names[] = {
	[KNOB_MICRO] = "micro_batch",
	[KNOB_ACCUM] = "grad_accum",
	[KNOB_GLOBAL] = "effective_batch",
};

/* One place, as the command says it. */
struct listed_size {
	enum knob_kind kind;
	const char *name, *was;
};

/* Takes where over, and value. */
static void settings_list_add(struct record_settings *out,
			      const struct listed_size *size, char *value,
			      char *where)
{
	record_settings_add(out, &(struct record_setting_texts){
					 .size = size_names[size->kind],
					 .name = size->name,
					 .value = value,
					 .was = size->was,
					 .where = where });
	free(value);
	free(where);
}

/* In the text of a shell arguments have no number of their own. */
static char *argument_place(const struct command *command, size_t index,
			    const char *evidence)
{
	if (command->view.expansion.argv.count && evidence)
		return xstrdup(evidence);
	return xasprintf("argument %zu", index);
}

static char *knob_place(const struct command *command, const struct knob *knob)
{
	switch (knob->form) {
	case KNOB_SEPARATE:
	case KNOB_JOINED:
		return argument_place(command, knob->index, knob->evidence);
	case KNOB_SOURCE:
		return xasprintf("%s:%zu", knob->source->path,
				 source_line_number(knob));
	case KNOB_DEFAULT:
		return xstrdup("argument");
	case KNOB_ABSENT:
	case KNOB_PLACEHOLDER:
	case KNOB_ENVIRONMENT:
	case KNOB_FILE:
		break;
	}
	return NULL;
}

/* A knob that stands in one place. */
static void settings_list_knob(struct record_settings *out,
			       const struct command *command,
			       enum knob_kind kind,
			       const struct command_values *values)
{
	const struct knob *knob = &command->knobs[kind];
	char *where = knob_place(command, knob);
	char *was;

	if (!where)
		return;
	was = knob->value > 0 ? xasprintf("%lld", (long long)knob->value)
			      : NULL;
	settings_list_add(out, &(struct listed_size){ kind, knob->name, was },
			  xasprintf("%lld", (long long)knob_written(
						    command, kind, values)),
			  where);
	free(was);
}

/* Its keys in config files, each with its line. */
static void settings_list_files(struct record_settings *out,
				const struct command *command,
				enum knob_kind kind,
				const struct command_values *values)
{
	for (size_t i = 0; i < command->site_count; i++) {
		const struct command_site *site = &command->sites[i];
		const struct command_file *file = &command->files[site->file];
		const struct setting *setting =
			&file->settings->items[site->setting];

		if (site->kind != kind)
			continue;
		settings_list_add(
			out,
			&(struct listed_size){ site->kind, setting->key,
					       setting->value },
			xasprintf("%lld", (long long)knob_written(
						  command, site->kind, values)),
			xasprintf("%s:%u", file->read->path, setting->line));
	}
}

/* "--bs" of "--bs={micro}", or what stands before a lone "{micro}". */
static char *placeholder_option(const struct command *command, size_t index)
{
	const struct strlist *argv = command_argv(command);
	const char *text = argv->items[index];
	size_t length = strcspn(text, "={");

	if (length > 0 && text[length] == '=')
		return xstrndup(text, length);
	if (length == 0 && index > 0)
		return xstrdup(argv->items[index - 1]);
	return NULL;
}

static void settings_list_placeholders(struct record_settings *out,
				       const struct command *command,
				       const struct command_values *values)
{
	const struct strlist *argv = command_argv(command);
	struct placeholder found;

	for (size_t i = 0; i < argv->count; i++) {
		char *name;

		if (!placeholder_next(argv->items[i], &found) ||
		    found.kind > KNOB_GLOBAL)
			continue;
		name = placeholder_option(command, i);
		settings_list_add(
			out,
			&(struct listed_size){ found.kind,
					       name ? name : argv->items[i],
					       NULL },
			xasprintf("%lld", (long long)knob_written(
						  command, found.kind, values)),
			argument_place(command, i, NULL));
		free(name);
	}
}

static void settings_list_variables(struct record_settings *out,
				    const struct command *command,
				    const struct command_values *values)
{
	for (size_t i = 0; i < command->env_templates.count; i++) {
		const char *item = command->env_templates.items[i];
		const char *equals = strchr(item, '=');
		struct placeholder found;
		char *name, *was = NULL;
		int64_t own;

		if (!equals || !placeholder_next(equals, &found) ||
		    found.kind > KNOB_GLOBAL)
			continue;
		own = command->knobs[found.kind].value;
		name = xstrndup(item, (size_t)(equals - item));
		if (own > 0)
			was = xasprintf("%lld", (long long)own);
		settings_list_add(
			out, &(struct listed_size){ found.kind, name, was },
			placeholders_replace(command, values, equals + 1),
			xstrdup("environment"));
		free(was);
		free(name);
	}
}

/* Numbers of passes that go with the accumulation. */
static void settings_list_scaled(struct record_settings *out,
				 const struct command *command,
				 const struct command_values *values)
{
	for (size_t i = 0; i < command->scaled_count; i++) {
		const struct command_scaled *scaled = &command->scaled[i];
		int64_t value = scaled_written(command, values, scaled->value);
		char *was;

		if (value == scaled->value)
			continue;
		was = xasprintf("%lld", (long long)scaled->value);
		settings_list_add(
			out,
			&(struct listed_size){ KNOB_ACCUM, scaled->name, was },
			xasprintf("%lld", (long long)value),
			scaled->form == KNOB_DEFAULT
				? xstrdup("argument")
				: argument_place(command, scaled->index, NULL));
		free(was);
	}
}

void settings_list(struct record_settings *out, const struct command *command,
		   const struct command_values *values)
{
	for (int kind = 0; kind <= KNOB_GLOBAL; kind++) {
		settings_list_knob(out, command, (enum knob_kind)kind, values);
		settings_list_files(out, command, (enum knob_kind)kind, values);
	}
	settings_list_placeholders(out, command, values);
	settings_list_variables(out, command, values);
	settings_list_scaled(out, command, values);
}
