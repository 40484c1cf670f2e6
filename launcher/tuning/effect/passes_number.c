/* Which number of a command counts its micro-steps, by its value. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/effect/passes_number.h"

#include "launcher/command/files/source_literals.h"
#include "launcher/command/parts/token.h"
#include "launcher/command/text/option_class.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CLASS_OF(class) (1U << (class))
#define SPEAKS_OF_IT                                                           \
	(CLASS_OF(OPTION_ACCUM) | CLASS_OF(OPTION_ACCUM_LIKE) |                \
	 CLASS_OF(OPTION_BATCH_LIKE) | CLASS_OF(OPTION_MICRO_LIKE))

struct passes_number {
	bool by_value; /* whatever the name, but those that stand aside */
	int64_t value;
	char text[32]; /* the same in digits */
	char name[SEEN_NAME_MAX];
	size_t count;
};

static bool name_may_count(const struct passes_number *found, const char *name,
			   size_t length)
{
	if (found->by_value)
		return !option_name_is_aside(name, length);
	return SPEAKS_OF_IT & CLASS_OF(option_class_of(name, length));
}

/* The same key in two files, or twice in one, is one number. */
static void passes_number_note(struct passes_number *found, const char *name,
			       size_t length)
{
	if (!name_may_count(found, name, length) || length >= SEEN_NAME_MAX ||
	    (found->count == 1 && strlen(found->name) == length &&
	     memcmp(found->name, name, length) == 0))
		return;
	found->count++;
	memcpy(found->name, name, length);
	found->name[length] = '\0';
}

static void look_at_options(struct passes_number *found,
			    const struct command *command)
{
	struct token token;

	for (size_t i = command->view.args; token_next(&token, command, &i);
	     i++)
		if (token.form != KNOB_ABSENT &&
		    !knob_is_taken(command, token.value_index) &&
		    strcmp(token_value(&token, command_argv(command)),
			   found->text) == 0)
			passes_number_note(found, token.name,
					   token.name_length);
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

static void look_at_files(struct passes_number *found,
			  const struct command *command)
{
	for (size_t i = 0; i < command->file_count; i++) {
		const struct settings *settings = command->files[i].settings;

		for (size_t j = 0; j < settings->count; j++) {
			const struct setting *setting = &settings->items[j];

			if (setting->is_scalar &&
			    strcmp(setting->value, found->text) == 0 &&
			    !setting_is_taken(command, i, j))
				passes_number_note(found, setting->key,
						   strlen(setting->key));
		}
	}
}

/* A source_literal_visit. */
static void look_at_literal(void *context, const struct source_literal *literal)
{
	struct passes_number *found = context;

	if (literal->value == found->value && !source_literal_is_aside(literal))
		passes_number_note(found, literal->name, literal->name_length);
}

static bool is_only_one(const struct passes_number *found,
			struct seen_meaning *seen)
{
	if (found->count != 1)
		return false;
	memcpy(seen->accum_flag, found->name, sizeof(seen->accum_flag));
	return true;
}

static struct passes_number wanted_number(int64_t passes, bool by_value)
{
	struct passes_number wanted = { .by_value = by_value, .value = passes };

	(void)snprintf(wanted.text, sizeof(wanted.text), "%" PRId64, passes);
	return wanted;
}

bool passes_option_find(const struct command *command, int64_t passes,
			struct seen_meaning *seen)
{
	struct passes_number found = wanted_number(passes, false);

	look_at_options(&found, command);
	return is_only_one(&found, seen);
}

bool passes_number_find(const struct command *command, int64_t passes,
			struct seen_meaning *seen)
{
	struct passes_number found = wanted_number(passes, true);
	const struct knob *micro = &command->knobs[KNOB_MICRO];

	if (passes_option_find(command, passes, seen))
		return true;
	if (command->accum_guess != ACCUM_GUESS_OPEN || passes < 2)
		return false;
	look_at_options(&found, command);
	look_at_files(&found, command);
	if (micro->form == KNOB_SOURCE)
		source_literals_visit(strbuf_text(&micro->source->text),
				      look_at_literal, &found);
	seen->accum_is_guessed = is_only_one(&found, seen);
	return seen->accum_is_guessed;
}
