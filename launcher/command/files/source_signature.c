/* Parameters of functions that become options. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/files/source_signature.h"

#include "launcher/command/files/pytext.h"
#include "launcher/command/files/source_options.h"
#include "launcher/command/text/names.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* Functions of one script that are looked at. */
#define FUNCTIONS_MAX 8

/* What makes options of a function that it is given. */
static const char *const callers[] = { "Fire(",       "tyro.cli(",
				       "typer.run(",  "clize.run(",
				       "defopt.run(", "CLI(",
				       "auto_cli(" };

/* What marks the function below it. */
static const char *const decorators[] = { ".command(", ".main_command(" };

static struct pytext pytext_at(const char *text, const char *at,
			       const char *end)
{
	struct pytext cursor = {
		.at = at, .end = end, .line_start = at, .line = 1
	};

	for (const char *c = text; c < at; c++)
		cursor.line += *c == '\n';
	return cursor;
}

/* name: int = 8, or name=8, in the brackets of a def. */
static void parameter_read(struct source *source, struct pytext *cursor)
{
	struct source_option option = { .line = cursor->line };
	struct pytext ahead;
	const char *name;
	size_t length;
	bool is_int = true;

	pytext_word(cursor, &name, &length);
	pytext_skip_blanks(cursor, true);
	if (cursor->at < cursor->end && *cursor->at == ':')
		is_int = pytext_skip_type(cursor);
	if (!is_int || length > NAME_MAX_BYTES - 3 ||
	    cursor->end - cursor->at < 2 || *cursor->at != '=')
		return;
	cursor->at++;
	pytext_skip_blanks(cursor, true);
	ahead = *cursor;
	option.kind = pytext_default(&ahead, true, &option.value, &option.help);
	if (option.kind != SOURCE_INTEGER) {
		free(option.help);
		return;
	}
	strlist_addf(&option.names, "--%.*s", (int)length, name);
	source_option_add(source, &option);
}

/* The cursor is behind the bracket that opens the parameters. */
static void parameters_read(struct source *source, struct pytext *cursor)
{
	for (;;) {
		pytext_skip_blanks(cursor, true);
		if (cursor->at >= cursor->end || *cursor->at == ')')
			return;
		if (pytext_is_word_start(*cursor->at))
			parameter_read(source, cursor);
		pytext_skip_argument(cursor);
		if (cursor->at >= cursor->end || *cursor->at != ',')
			return;
		cursor->at++;
	}
}

/* The bracket of "def name(", or of __init__ of "class name"; or NULL. */
static const char *brackets_of(const char *text, const char *end,
			       const char *name, size_t length)
{
	char *def = xasprintf("\ndef %.*s(", (int)length, name);
	char *class = xasprintf("\nclass %.*s", (int)length, name);
	const char *found =
		memmem(text, (size_t)(end - text), def, strlen(def));
	const char *init = "def __init__(";

	if (found) {
		found += strlen(def);
	} else {
		found = memmem(text, (size_t)(end - text), class,
			       strlen(class));
		if (found)
			found = memmem(found, (size_t)(end - found), init,
				       strlen(init));
		if (found)
			found += strlen(init);
	}
	free(def);
	free(class);
	return found;
}

static void function_read(struct source *source, const char *text,
			  const char *end, const char *brackets)
{
	struct pytext cursor;

	if (!brackets)
		return;
	cursor = pytext_at(text, brackets, end);
	parameters_read(source, &cursor);
}

/* All functions that the script has at the beginning of a line. */
static void functions_read(struct source *source, const char *text,
			   const char *end)
{
	const char *at = text;

	for (size_t i = 0; at && i < FUNCTIONS_MAX; i++) {
		at = memmem(at, (size_t)(end - at), "\ndef ", 5);
		at = at ? memchr(at, '(', (size_t)(end - at)) : NULL;
		function_read(source, text, end, at ? at + 1 : NULL);
	}
}

/* Fire(train), Fire({"train": train}): by their names; Fire(): all. */
static void caller_read(struct source *source, const char *text,
			const char *end, const char *at)
{
	struct pytext cursor = pytext_at(text, at, end);
	size_t length, count = 0;
	const char *word;

	while (count < FUNCTIONS_MAX && cursor.at < end && *cursor.at != ')' &&
	       *cursor.at != '\n') {
		if (pytext_is_quote(*cursor.at)) {
			pytext_string(&cursor, &word, &length);
		} else if (pytext_is_word_start(*cursor.at)) {
			pytext_word(&cursor, &word, &length);
			function_read(source, text, end,
				      brackets_of(text, end, word, length));
			count++;
		} else {
			cursor.at++;
		}
	}
	if (count == 0)
		functions_read(source, text, end);
}

/* @app.command() above a def. */
static void decorator_read(struct source *source, const char *text,
			   const char *end, const char *at)
{
	const char *def = memmem(at, (size_t)(end - at), "\ndef ", 5);

	if (def)
		def = memchr(def, '(', (size_t)(end - def));
	if (def)
		function_read(source, text, end, def + 1);
}

typedef void read_at(struct source *source, const char *text, const char *end,
		     const char *at);

static void read_each(struct source *source, const char *text, const char *end,
		      const char *mark, read_at *read)
{
	size_t length = strlen(mark), count = 0;
	const char *at = text;

	while (count++ < FUNCTIONS_MAX &&
	       (at = memmem(at, (size_t)(end - at), mark, length))) {
		/* LightningCLI( is no CLI(. */
		bool is_whole = *mark == '.' || at == text ||
				!pytext_is_word_start(at[-1]);

		at += length;
		if (is_whole)
			read(source, text, end, at);
	}
}

void source_signatures_read(struct source *source, const char *text,
			    const char *end)
{
	for (size_t i = 0; i < sizeof(callers) / sizeof(*callers); i++)
		read_each(source, text, end, callers[i], caller_read);
	if (!memmem(text, (size_t)(end - text), "typer", 5))
		return;
	for (size_t i = 0; i < sizeof(decorators) / sizeof(*decorators); i++)
		read_each(source, text, end, decorators[i], decorator_read);
}
