/* The numbers of a command that nobody knows the meaning of. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/command_numbers.h"

#include "base/alloc.h"
#include "launcher/command/files/source_literals.h"
#include "launcher/command/parts/token.h"
#include "launcher/command/text/option_class.h"

#include <stdlib.h>
#include <string.h>

/* add_argument("--x", default=8) is the option's number, not one by that
 * name. */
#define NAMES_NOTHING "default"

static void number_add(struct command *command, const char *name, size_t length,
		       int64_t value, enum number_origin origin)
{
	if (value < 1 || command->number_count == COMMAND_NUMBERS_MAX ||
	    length >= SEEN_NAME_MAX)
		return;
	command->numbers =
		xgrow(command->numbers, command->number_count,
		      &command->number_capacity, sizeof(*command->numbers));
	command->numbers[command->number_count++] = (struct command_number){
		.name = name,
		.name_length = length,
		.value = value,
		.origin = origin,
	};
}

static void numbers_of_arguments(struct command *command)
{
	struct token token;
	int64_t value;

	for (size_t i = command->view.args; token_next(&token, command, &i);
	     i++)
		if (token.form != KNOB_ABSENT &&
		    !knob_is_taken(command, token.value_index) &&
		    count_parse(token_value(&token, command_argv(command)),
				&value))
			number_add(command, token.name, token.name_length,
				   value, NUMBER_GIVEN);
}

static bool setting_is_taken(const struct command *command, size_t file,
			     size_t setting)
{
	for (size_t i = 0; i < command->site_count; i++)
		if (command->sites[i].file == file &&
		    command->sites[i].setting == setting)
			return true;
	return false;
}

static void numbers_of_files(struct command *command)
{
	int64_t value;

	for (size_t i = 0; i < command->file_count; i++) {
		const struct settings *settings = command->files[i].settings;

		for (size_t j = 0; j < settings->count; j++) {
			const struct setting *setting = &settings->items[j];

			if (setting->is_scalar &&
			    count_parse(setting->value, &value) &&
			    !setting_is_taken(command, i, j))
				number_add(command, setting->key,
					   strlen(setting->key), value,
					   NUMBER_GIVEN);
		}
	}
}

/* Of those that are not given. */
static void numbers_of_options(const struct recognition *r)
{
	const struct source *source = r->source;
	bool *is_given = xcalloc(source->option_count + 1, sizeof(*is_given));
	const struct source_option *option;
	struct token token;

	for (size_t i = r->command->view.args;
	     token_next(&token, r->command, &i); i++) {
		option = token.bare ? NULL
				    : source_resolve(source, token.name,
						     token.name_length);
		if (option)
			is_given[option - source->options] = true;
	}
	for (size_t i = 0; i < source->option_count; i++) {
		const char *name = source->options[i].names.items[0];

		option = &source->options[i];
		if (option->kind == SOURCE_INTEGER && *name == '-' &&
		    !is_given[i] && !option_is_knob(r->command, option))
			number_add(r->command, name, strlen(name),
				   option->value, NUMBER_DEFAULT);
	}
	free(is_given);
}

static bool literal_is_knob(const struct command *command,
			    const struct source_literal *literal)
{
	for (int kind = 0; kind <= KNOB_GLOBAL; kind++)
		if (command->knobs[kind].form == KNOB_SOURCE &&
		    command->knobs[kind].offset == literal->start)
			return true;
	return false;
}

/* A source_literal_visit. */
static void literal_add(void *context, const struct source_literal *literal)
{
	if (!literal_is_knob(context, literal) &&
	    !source_literal_is_aside(literal) &&
	    (literal->name_length != strlen(NAMES_NOTHING) ||
	     memcmp(literal->name, NAMES_NOTHING, literal->name_length) != 0))
		number_add(context, literal->name, literal->name_length,
			   literal->value, NUMBER_LITERAL);
}

bool command_number_may_be_size(const struct command_number *number)
{
	return !option_name_is_aside(number->name, number->name_length);
}

static bool any_may_be_size(const struct command *command)
{
	for (size_t i = 0; i < command->number_count; i++)
		if (command_number_may_be_size(&command->numbers[i]))
			return true;
	return false;
}

/* A run may show which config file it opens, and what that says. */
static bool may_open_config(const struct recognition *r)
{
	static const char *const ends[] = { ".yaml", ".yml", ".json", ".toml" };

	for (size_t i = 0; r->text && i < sizeof(ends) / sizeof(*ends); i++)
		if (strstr(r->text, ends[i]))
			return true;
	return false;
}

enum command_outcome command_numbers_find(struct recognition *r)
{
	struct command *command = r->command;

	if (!command_rows_are_open(command) && command_accumulates(command))
		return COMMAND_OK;
	numbers_of_arguments(command);
	numbers_of_files(command);
	numbers_of_options(r);
	if (r->script && r->text &&
	    (command_rows_are_open(command) ||
	     command->knobs[KNOB_MICRO].form == KNOB_SOURCE))
		source_literals_visit(r->text, literal_add, command);
	if (command_rows_are_open(command) && !any_may_be_size(command) &&
	    !may_open_config(r))
		return not_recognised(r, "%s", command->open_words);
	return COMMAND_OK;
}

void command_numbers_release(struct command *command)
{
	free(command->numbers);
}
