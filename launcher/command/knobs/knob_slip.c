/* An option of the command that is one of its script's but for a slip. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/knobs/knob_slip.h"

#include "launcher/command/parts/token.h"
#include "launcher/command/text/text.h"

#include <string.h>

/* In shorter names two letters are too much of the name. */
#define SLIP_NAME_MIN 6
#define SLIP_LETTERS 2

static bool is_slip_of(const char *word, const char *name)
{
	size_t distance;

	if (strncmp(name, "--", 2) != 0 || strlen(word) < SLIP_NAME_MIN ||
	    strncmp(word, name, strlen(word)) == 0)
		return false;
	distance = text_distance(word, name);
	return distance > 0 && distance <= SLIP_LETTERS;
}

/* The name among those of the option that the word was meant to be; NULL. */
static const char *meant_name(const struct recognition *r,
			      const struct source_option *option,
			      const char *word)
{
	if (source_resolve(r->source, word, strlen(word)))
		return NULL;
	for (size_t i = 0; i < option->names.count; i++)
		if (is_slip_of(word, option->names.items[i]))
			return option->names.items[i];
	return NULL;
}

enum command_outcome knob_slip_check(const struct recognition *r,
				     const struct source_option *option)
{
	const struct command *command = r->command;
	struct token token;

	for (size_t i = command->view.args; token_next(&token, command, &i);
	     i++) {
		char word[TEXT_NAME_MAX + 1];
		const char *name;

		if (token.name_length >= sizeof(word) || token.bare)
			continue;
		memcpy(word, token.name, token.name_length);
		word[token.name_length] = '\0';
		name = meant_name(r, option, word);
		if (name)
			return not_recognised(
				r,
				"%s:%u has the option %s, and none called %s: "
				"did you mean %s? Else add %s %lld, its "
				"default there",
				r->source_name, option->line, name, word, name,
				name, (long long)option->value);
	}
	return COMMAND_OK;
}
