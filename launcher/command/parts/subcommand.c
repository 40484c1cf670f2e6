/* The sub-command of a script that a command line names. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/parts/subcommand.h"

#include "launcher/command/text/names.h"

#include <string.h>

/* The declared name of it, or NULL. */
static const char *subcommand_declared(const struct source *source,
				       const char *word)
{
	for (size_t i = 0; i < source->commands.count; i++) {
		const char *name = source->commands.items[i];

		if (name_equal(name, strlen(name), word, strlen(word)))
			return name;
	}
	return NULL;
}

void subcommand_source(struct recognition *r, const struct source *source,
		       const char *text)
{
	const struct command_view *view = &r->command->view;
	const char *name = NULL;
	struct source read;

	r->source = source;
	r->subcommand = NO_INDEX;
	for (size_t i = view->args; !name && i < view->end; i++) {
		name = subcommand_declared(source,
					   command_argv(r->command)->items[i]);
		if (name)
			r->subcommand = i;
	}
	if (!name)
		return;
	source_read_command(&read, text, name);
	source_release(&r->command->source);
	r->command->source = read;
	r->source = &r->command->source;
}
