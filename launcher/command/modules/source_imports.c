/* The modules that a script imports. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/modules/source_imports.h"

#include "launcher/command/files/pytext.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* What follows an import is not looked at. */
#define IMPORT_BYTES_MAX 4096

static size_t dotted_length(const char *at, const char *end)
{
	const char *start = at;

	while (at < end &&
	       (isalnum((unsigned char)*at) || *at == '_' || *at == '.'))
		at++;
	return (size_t)(at - start);
}

/* Over the word and the blanks behind it; false: another word. */
static bool skip_word(const char **at, const char *end, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(end - *at) <= length || memcmp(*at, word, length) != 0 ||
	    (*at)[length] != ' ')
		return false;
	*at += length;
	while (*at < end && **at == ' ')
		++*at;
	return true;
}

/* One line from its first byte that is not blank on. */
static bool import_read(struct source_import *import, const char *at,
			const char *end)
{
	bool has_member = skip_word(&at, end, "from");

	*import = (struct source_import){ 0 };
	if (!has_member && !skip_word(&at, end, "import"))
		return false;
	import->module = at;
	import->module_length = dotted_length(at, end);
	at += import->module_length;
	while (at < end && *at == ' ')
		at++;
	if (has_member && skip_word(&at, end, "import")) {
		import->member = at;
		import->member_length = dotted_length(at, end);
	}
	return import->module_length > 0;
}

size_t source_imports(const char *text,
		      struct source_import imports[SOURCE_IMPORTS_MAX])
{
	const char *end = text + strnlen(text, SOURCE_BYTES_MAX);
	size_t count = 0;

	while (text < end) {
		const char *line_end = memchr(text, '\n', (size_t)(end - text));
		struct source_import import;

		line_end = line_end ? line_end : end;
		while (text < line_end && (*text == ' ' || *text == '\t'))
			text++;
		if (import_read(&import, text, line_end)) {
			if (count == SOURCE_IMPORTS_MAX)
				memmove(imports, imports + 1,
					(--count) * sizeof(*imports));
			imports[count++] = import;
		}
		text = line_end + 1;
	}
	return count;
}

size_t source_import_names(const struct source_import *import,
			   struct span names[IMPORT_NAMES_MAX])
{
	const char *at = import->member ? import->member : import->module;
	struct pytext cursor = { .at = at, .line = 1 };
	size_t count = 0;

	cursor.end = at + strnlen(at, IMPORT_BYTES_MAX);
	while (cursor.at < cursor.end && count < IMPORT_NAMES_MAX &&
	       *cursor.at != (*at == '(' ? ')' : '\n')) {
		struct span *name = &names[count];

		if (*cursor.at == '#') {
			pytext_skip_comment(&cursor);
		} else if (pytext_is_word_start(*cursor.at)) {
			pytext_word(&cursor, &name->at, &name->length);
			count += !span_is(*name, "as");
		} else {
			if (*cursor.at == '*')
				names[count++] = (struct span){ cursor.at, 1 };
			pytext_step(&cursor);
		}
	}
	return count;
}
