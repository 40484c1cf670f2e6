/* Programs that start another program: which row is whose. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/wrappers/launchers.h"

#include "launcher/command/text/argument.h"

#include <string.h>

static const struct launcher *const tables[] = {
	launchers_plain, launchers_ranks, launchers_tasks, launchers_other, NULL
};

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text);

	return length > strlen(end) &&
	       strcmp(text + length - strlen(end), end) == 0;
}

/* The name as the list has it, or NULL. */
static const char *listed(const char *const *list, const char *name)
{
	for (; list && *list; list++)
		if (strcmp(*list, name) == 0)
			return *list;
	return NULL;
}

const struct launcher *launcher_find(const char *program)
{
	const char *name = basename(program);

	if (argument_is_python(name))
		name = "python";
	else if (ends_with(name, ".sh"))
		name = "sh";
	for (size_t i = 0; tables[i]; i++)
		for (const struct launcher *row = tables[i]; row->names; row++)
			if (listed(row->names, name) ||
			    listed(row->alone, name))
				return row;
	return NULL;
}

const struct launcher *launcher_find_module(const char *module, bool *is_whole)
{
	for (size_t i = 0; tables[i]; i++) {
		for (const struct launcher *row = tables[i]; row->names;
		     row++) {
			*is_whole = listed(row->modules, module) != NULL;
			if (*is_whole || listed(row->command_modules, module))
				return row;
		}
	}
	return NULL;
}

bool launcher_is_whole(const struct launcher *row, const char *program)
{
	return !row->subcommand ||
	       listed(row->alone, basename(program)) != NULL;
}

const char *launcher_name(const struct launcher *row, const char *program)
{
	const char *name = listed(row->names, basename(program));

	return name ? name : row->names[0];
}
