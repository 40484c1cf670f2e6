/* Commands written as one line, for the tests of what reads them. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_COMMAND_SAMPLE_H
#define AUTOFIT_TESTS_COMMAND_SAMPLE_H

#include "base/strbuf.h"
#include "launcher/command.h"

#include <stdlib.h>
#include <string.h>

/* Arguments with one blank between them; "" is no argument. */
static inline struct strlist words(const char *line)
{
	struct strlist list = STRLIST_INIT;
	char *copy = strdup(line), *rest = copy, *word;

	while ((word = strsep(&rest, " ")))
		if (*word)
			strlist_add(&list, word);
	free(copy);
	return list;
}

static inline char *joined(const struct strlist *list)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_adds(&text, "");
	for (size_t i = 0; i < list->count; i++)
		strbuf_addf(&text, "%s%s", i > 0 ? " " : "", list->items[i]);
	return strbuf_detach(&text);
}

#endif
