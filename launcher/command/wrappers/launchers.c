/* Programs that start another program: which row is whose. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/wrappers/launchers.h"

#include "base/match.h"
#include "base/span.h"
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

const char *launcher_subcommand_after(const char *left, const char *word)
{
	size_t length = strlen(word);

	if (!length || strncmp(left, word, length) != 0 ||
	    (left[length] && left[length] != ' '))
		return NULL;
	return left + length + (left[length] == ' ');
}

const char *launcher_name(const struct launcher *row, const char *program)
{
	size_t place = strlist_find(&row->names, basename(program));

	return row->names.items[place < row->names.count ? place : 0];
}

/* Does it stand there as a word, behind a path or not? */
static bool line_has_word(struct span line, const char *word)
{
	static const char other[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-.$";
	const char *end = line.at + line.length;
	const char *at;

	while ((at = span_find(line, word))) {
		const char *after = at + strlen(word);

		if ((at == line.at || !strchr(other, at[-1])) &&
		    (after == end || !strchr(other, *after)))
			return true;
		line = span_from(after, end);
	}
	return false;
}

static const char *name_in(const struct launchers *launchers, struct span line)
{
	for (size_t i = 0; i < launchers->count; i++) {
		const struct launcher *row = &launchers->items[i];
		const struct strlist *const lists[] = { &row->names,
							&row->modules };

		for (size_t k = 0; k < 2; k++)
			for (size_t n = 0; n < lists[k]->count; n++)
				if (line_has_word(line, lists[k]->items[n]) &&
				    launchers_whole(launchers, row)->count !=
					    COUNT_NOTHING)
					return lists[k]->items[n];
	}
	return NULL;
}

const char *launchers_named_in(const struct launchers *launchers,
			       const char *text)
{
	const char *found = NULL;

	while (*text && !found) {
		size_t length = strcspn(text, "\n");
		struct span line = span_trimmed((struct span){ text, length });

		if (!span_begins(line, "#"))
			found = name_in(launchers, line);
		text += length + (text[length] == '\n');
	}
	return found;
}
