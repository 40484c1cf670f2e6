/* Parsers that make options of the fields of classes. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/files/source_parsers.h"

#include "launcher/command/files/pytext.h"

#include <stddef.h>
#include <string.h>

static const struct fields_parser {
	const char *mark;
	bool nests;
} fields_parsers[] = {
	{ "tyro.cli", true },
	{ "HfArgumentParser", false },
	{ "TrlParser", false },
	{ "(Tap)", false },
	{ "simple_parsing", false },
	{ "pyrallis", true },
	{ "draccus", true },
	{ "jsonargparse", true },
	{ "datargs", false },
	{ "CliApp", true },
	{ "dataclass_argparse", false },
};

#define FIELDS_PARSERS (sizeof(fields_parsers) / sizeof(*fields_parsers))

/* MyParser((Arguments, ...)): a parser that is handed a class by its name.
 * ArgumentParser itself takes none. */
static bool hands_class(const char *start)
{
	static const char word[] = "Parser", plain[] = "ArgumentParser";
	const char *text = start;

	while ((text = strstr(text, word))) {
		const char *name = text;

		while (name > start && pytext_is_word(name[-1]))
			name--;
		text += strlen(word);
		while (pytext_is_word(*text))
			text++;
		if (*text != '(' ||
		    pytext_word_is(name, (size_t)(text - name), plain))
			continue;
		text += strspn(text, "([ \t\r\n");
		if (*text >= 'A' && *text <= 'Z')
			return true;
	}
	return false;
}

bool source_parsers_take_fields(const char *text)
{
	if (hands_class(text))
		return true;
	for (size_t i = 0; i < FIELDS_PARSERS; i++)
		if (strstr(text, fields_parsers[i].mark))
			return true;
	return false;
}

bool source_parsers_nest(const char *text)
{
	bool nests = false;

	for (size_t i = 0; i < FIELDS_PARSERS; i++)
		nests |= fields_parsers[i].nests &&
			 strstr(text, fields_parsers[i].mark);
	return nests && !strstr(text, "OmitArgPrefixes");
}
