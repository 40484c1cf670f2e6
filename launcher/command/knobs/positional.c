/* Sizes that a script takes by their place. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/knobs/positional.h"

#include "launcher/command/knobs/by_class.h"
#include "launcher/command/parts/token.h"

#include <string.h>

/* The argument at this place among those without an option; NULL: options
 * stand before it that may have taken it. */
static const char *positional_word(const struct recognition *r, size_t place)
{
	const struct command_view *view = &r->command->view;
	const struct strlist *argv = command_argv(r->command);

	for (size_t i = view->args; i < view->end; i++) {
		const char *text = argv->items[i];
		const struct source_option *option;

		if (i == r->subcommand)
			continue;
		if (!argument_is_option(text) && place-- == 0)
			return text;
		if (!argument_is_option(text) || strchr(text, '='))
			continue;
		option = source_resolve(r->source, text, strlen(text));
		if (!option || option->takes_settings)
			return NULL;
		i += !option->is_switch;
	}
	return NULL;
}

bool positional_find(const struct recognition *r, enum knob_kind kind,
		     struct positional *found)
{
	const struct strlist *names = &r->source->positionals;
	int64_t number;

	for (size_t i = 0; i < names->count; i++) {
		const char *name = names->items[i];

		if (!(by_class_of_knob(kind) &
		      CLASS_BIT(option_class_of(name, strlen(name)))))
			continue;
		*found = (struct positional){ name, positional_word(r, i) };
		if (found->word && count_parse(found->word, &number))
			return true;
	}
	return false;
}
