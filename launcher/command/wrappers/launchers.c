/* Programs that start another program: which row is whose. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/wrappers/launchers.h"

#include "base/match.h"
#include "launcher/command/text/argument.h"

#include <string.h>

static bool launchers_is_listed(const struct strlist *list, const char *name)
{
	return strlist_find(list, name) < list->count;
}

static bool is_name_of(const struct launcher *row, const char *name)
{
	return launchers_is_listed(&row->names, name) ||
	       launchers_is_listed(&row->alone, name);
}

const struct launcher *launcher_find(const struct launchers *launchers,
				     const char *program)
{
	const char *name = basename(program);

	if (argument_is_python(name))
		name = "python";
	else if (text_ends_with(name, ".sh"))
		name = "sh";
	for (size_t i = 0; i < launchers->count; i++)
		if (is_name_of(&launchers->items[i], name))
			return launchers_whole(launchers, &launchers->items[i]);
	return NULL;
}

const struct launcher *launcher_find_module(const struct launchers *launchers,
					    const char *module, bool *is_whole)
{
	for (size_t i = 0; i < launchers->count; i++) {
		const struct launcher *row = &launchers->items[i];

		*is_whole = launchers_is_listed(&row->modules, module);
		if (*is_whole ||
		    launchers_is_listed(&row->command_modules, module))
			return launchers_whole(launchers, row);
	}
	return NULL;
}

bool launcher_is_whole(const struct launcher *row, const char *program)
{
	return !row->subcommand ||
	       launchers_is_listed(&row->alone, basename(program));
}

const char *launcher_name(const struct launcher *row, const char *program)
{
	size_t place = strlist_find(&row->names, basename(program));

	return row->names.items[place < row->names.count ? place : 0];
}
