/* The arguments of a command that can change the memory of a step. Pure. */
/* SPDX-License-Identifier: MIT */

#include "launcher/command/record_arguments.h"

#include "launcher/command/parts/token.h"
#include "launcher/command/text/names.h"
#include "launcher/command/text/placeholder.h"

#include <string.h>

/* Does the option or key at the token belong to a knob? */
static bool arguments_is_knob(const struct command *command,
			      const struct token *token)
{
	return token->form != KNOB_ABSENT &&
	       knob_is_taken(command, token->value_index);
}

static bool is_neutral(const struct command *command, const struct token *token)
{
	const struct strlist *names = &command->preset->words.neutral_args;

	return names_find(names, token->name, token->name_length, token->bare) <
	       names->count;
}

void command_record_arguments(const struct command *command,
			      struct strlist *out)
{
	const struct command_view *view = &command->view;
	struct token token;

	for (size_t i = 0; i < command_argv(command)->count; i++) {
		if (i >= view->args && i < view->end &&
		    token_read(&token, command_argv(command), view, i) &&
		    (arguments_is_knob(command, &token) ||
		     is_neutral(command, &token))) {
			i += token.form == KNOB_SEPARATE ? 1 : 0;
			continue;
		}
		strlist_take(out, placeholders_strip(
					  command_argv(command)->items[i]));
	}
}
