/* Parameters of functions that become options. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/files/source_signature.h"

#include "base/alloc.h"
#include "base/span.h"
#include "launcher/command/files/pytext.h"
#include "launcher/command/files/source_options.h"
#include "launcher/command/text/names.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Functions of one script that are looked at. */
#define FUNCTIONS_MAX 8

/* What makes options of a function that it is given, or that stands below it.
 */
struct signature_maker {
	const char *mark;
	const char *library; /* the script names it; of decorators */
	bool is_dashed;      /* batch_size is --batch-size, and not otherwise */
	bool has_methods;    /* those of a class are sub-commands */
	bool leads;          /* what is of no sub-command stands before it */
	const char *nested;  /* behind the name that the call has for what it is
				given; NULL: it has none */
};

static const struct signature_maker callers[] = {
	{ "Fire(", .has_methods = true },
	{ "tyro.cli(", .library = NULL },
	{ "typer.run(", .is_dashed = true },
	{ "cyclopts.run(", .is_dashed = true },
	{ "clize.run(", .is_dashed = true },
	{ "defopt.run(", .is_dashed = true },
	{ "CLI(", .has_methods = true, .leads = true },
	{ "auto_cli(", .has_methods = true, .leads = true },
	{ "add_class_arguments(", .nested = "." },
	{ "add_function_arguments(", .nested = "." },
	{ "add_subclass_arguments(", .nested = ".init_args." },
};

static const struct signature_maker decorators[] = {
	{ ".command", "typer", .is_dashed = true },
	{ ".callback", "typer", .is_dashed = true, .leads = true },
	{ ".main_command", "typer", .is_dashed = true },
	{ ".command", "cyclopts", .is_dashed = true },
	{ ".default", "cyclopts", .is_dashed = true },
};

#define CALLERS (sizeof(callers) / sizeof(*callers))

struct signature_reader {
	struct source *source;
	const char *text, *end;
	const struct signature_maker *maker;
	struct span command; /* that the options are of; empty: of all */
	struct span key;     /* "data" of --data.batch_size; empty: none */
};

static struct pytext pytext_at(const struct signature_reader *s, const char *at)
{
	struct pytext cursor = {
		.at = at, .end = s->end, .line_start = at, .line = 1
	};

	for (const char *c = s->text; c < at; c++)
		cursor.line += *c == '\n';
	return cursor;
}

/* Option("--bs"), Parameter(name="--bs"): then these are its names. */
static void parameter_names_read(struct source_option *option,
				 struct pytext cursor, const char *end)
{
	const char *text;
	size_t length;

	cursor.end = end;
	while (cursor.at < cursor.end) {
		if (!pytext_is_quote(*cursor.at)) {
			pytext_step(&cursor);
			continue;
		}
		pytext_string(&cursor, &text, &length);
		if (length > 1 && length < NAME_MAX_BYTES && *text == '-' &&
		    !memchr(text, ' ', length))
			strlist_take(&option->names, xstrndup(text, length));
	}
}

static void parameter_name_derive(const struct signature_reader *s,
				  struct source_option *option,
				  const char *name, size_t length)
{
	char *text = xasprintf("--%.*s%s%.*s", (int)s->key.length,
			       s->key.length ? s->key.at : "",
			       s->key.length ? s->maker->nested : "",
			       (int)length, name);

	for (char *c = text; s->maker->is_dashed && *c; c++)
		if (*c == '_')
			*c = '-';
	source_option_derive(option, text);
	free(text);
}

/* name: int = 8, or name=8, in the brackets of a def. */
static void parameter_read(const struct signature_reader *s,
			   struct pytext *cursor)
{
	struct source_option option = { .line = cursor->line };
	struct pytext start = *cursor, ahead;
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
	ahead = *cursor;
	pytext_skip_argument(&ahead);
	parameter_names_read(&option, start, ahead.at);
	option.dest = xstrndup(name, length);
	if (option.names.count == 0)
		parameter_name_derive(s, &option, name, length);
	if (s->command.length)
		option.command = xstrndup(s->command.at, s->command.length);
	option.leads = s->maker->leads && !s->command.length;
	source_option_add(s->source, &option);
}

/* brackets: behind the one that opens the parameters; NULL: there is none. */
static void function_read(const struct signature_reader *s,
			  const char *brackets)
{
	struct pytext cursor;

	if (!brackets)
		return;
	cursor = pytext_at(s, brackets);
	for (;;) {
		pytext_skip_blanks(&cursor, true);
		if (cursor.at >= cursor.end || *cursor.at == ')')
			return;
		if (pytext_is_word_start(*cursor.at))
			parameter_read(s, &cursor);
		pytext_skip_argument(&cursor);
		if (cursor.at >= cursor.end || *cursor.at != ',')
			return;
		cursor.at++;
	}
}

/* Behind "def name(" from at on; NULL: there is none before end. */
static const char *next_def(const char *at, const char *end, struct span *name)
{
	const char *def = memmem(at, (size_t)(end - at), "def ", 4);
	const char *open = def ? memchr(def, '(', (size_t)(end - def)) : NULL;

	if (!open)
		return NULL;
	*name = span_trimmed(span_from(def + 4, open));
	return open + 1;
}

/* The next line that is not indented is no more of it. */
static const char *class_end(const char *at, const char *end)
{
	while ((at = memchr(at, '\n', (size_t)(end - at))) && ++at < end)
		if (!strchr(" \t\r\n#)", *at))
			return at;
	return end;
}

static void class_read(const struct signature_reader *s, const char *at)
{
	const char *end = class_end(at, s->end);
	struct signature_reader inner = *s;
	struct span name;

	for (size_t i = 0; i < FUNCTIONS_MAX && (at = next_def(at, end, &name));
	     i++) {
		inner.command = name;
		if (span_is(name, "__init__"))
			inner.command.length = 0;
		else if (!s->maker->has_methods || *name.at == '_')
			continue;
		function_read(&inner, at);
	}
}

static const char *signature_find(const struct signature_reader *s,
				  const char *what, struct span name)
{
	char *text = xasprintf("\n%s %.*s", what, (int)name.length, name.at);
	size_t length = strlen(text);
	const char *at = s->text;

	while ((at = memmem(at, (size_t)(s->end - at), text, length))) {
		at += length;
		if (!pytext_is_word(*at))
			break;
	}
	free(text);
	return at;
}

/* A function of this name, or a class. */
static void name_read(const struct signature_reader *s, struct span name)
{
	const char *def = signature_find(s, "def", name);
	const char *class = def ? NULL : signature_find(s, "class", name);
	struct signature_reader inner = *s;

	if (!s->maker->nested)
		inner.command = name;
	if (def && *def == '(')
		function_read(&inner, def + 1);
	if (class)
		class_read(s, class);
}

/* All functions that the script has at the beginning of a line. */
static void functions_read(const struct signature_reader *s)
{
	struct signature_reader inner = *s;
	const char *at = s->text;

	for (size_t i = 0; at && i < FUNCTIONS_MAX; i++) {
		at = memmem(at, (size_t)(s->end - at), "\ndef ", 5);
		at = at ? next_def(at, s->end, &inner.command) : NULL;
		function_read(&inner, at);
	}
}

/* Fire(train), Fire({"train": train}): by their names; Fire(): all. */
static void caller_read(const struct signature_reader *s, const char *at)
{
	struct pytext cursor = pytext_at(s, at);
	size_t length, count = 0;
	const char *word;

	while (count < FUNCTIONS_MAX && cursor.at < s->end &&
	       *cursor.at != ')' && *cursor.at != '\n') {
		if (pytext_is_quote(*cursor.at)) {
			pytext_string(&cursor, &word, &length);
		} else if (pytext_is_word_start(*cursor.at)) {
			pytext_word(&cursor, &word, &length);
			name_read(s, (struct span){ word, length });
			count++;
		} else {
			cursor.at++;
		}
	}
	if (count == 0)
		functions_read(s);
}

struct span source_signature_key(const char *call, const char *end)
{
	struct pytext cursor = { .at = call, .end = end, .line = 1 };
	struct span key = { NULL, 0 };
	int depth = 0;

	while (cursor.at < end && depth >= 0 && !key.at) {
		depth += (*cursor.at == '(') - (*cursor.at == ')');
		if (pytext_is_quote(*cursor.at))
			pytext_string(&cursor, &key.at, &key.length);
		else
			pytext_step(&cursor);
	}
	assert(key.at || !key.length);
	while (key.length && *key.at == '-') {
		key.at++;
		key.length--;
	}
	key.length = key.length < NAME_MAX_BYTES / 2 ? key.length : 0;
	return key;
}

/* add_class_arguments(Data, "data"), (class_from_function(make), "data") */
static void nested_read(const struct signature_reader *s, const char *at)
{
	struct pytext cursor = pytext_at(s, at);
	struct signature_reader inner = *s;
	struct span name = { NULL, 0 };

	inner.key = source_signature_key(at, s->end);
	while (cursor.at < s->end && !strchr(",)", *cursor.at)) {
		if (pytext_is_word_start(*cursor.at))
			pytext_word(&cursor, &name.at, &name.length);
		else
			pytext_step(&cursor);
	}
	if (name.length)
		name_read(&inner, name);
}

/* The string at the beginning of @app.command("train"), or of its name=. */
static struct span command_named(struct pytext cursor)
{
	struct span name = { NULL, 0 };

	if (cursor.at >= cursor.end || *cursor.at != '(')
		return name;
	pytext_step(&cursor);
	pytext_skip_blanks(&cursor, true);
	if (cursor.end - cursor.at > 5 && memcmp(cursor.at, "name=", 5) == 0)
		cursor.at += 5;
	if (cursor.at < cursor.end && pytext_is_quote(*cursor.at))
		pytext_string(&cursor, &name.at, &name.length);
	return name;
}

/* @app.command() above a def; at is behind the word. */
static void decorator_read(const struct signature_reader *s, const char *at)
{
	const char *def = memmem(at, (size_t)(s->end - at), "\ndef ", 5);
	struct signature_reader inner = *s;
	const char *line = at;

	while (line > s->text && line[-1] != '\n')
		line--;
	if (*line != '@' || !def || pytext_is_word(*at))
		return;
	def = next_def(def, s->end, &inner.command);
	if (strcmp(s->maker->mark, ".command") != 0)
		inner.command.length = 0;
	else if (command_named(pytext_at(s, at)).length)
		inner.command = command_named(pytext_at(s, at));
	function_read(&inner, def);
}

typedef void read_at(const struct signature_reader *s, const char *at);

static void read_each(const struct signature_reader *s, read_at *read)
{
	size_t length = strlen(s->maker->mark), count = 0;
	const char *at = s->text;

	while (count++ < FUNCTIONS_MAX &&
	       (at = memmem(at, (size_t)(s->end - at), s->maker->mark,
			    length))) {
		/* LightningCLI( is no CLI(. */
		bool is_whole = *s->maker->mark == '.' || at == s->text ||
				!pytext_is_word_start(at[-1]);

		at += length;
		if (is_whole)
			read(s, at);
	}
}

bool source_signature_is_handed(const char *text, const char *end,
				const char *name, size_t length)
{
	for (size_t i = 0; i < CALLERS; i++) {
		char *call =
			xasprintf("%s%.*s", callers[i].mark, (int)length, name);
		const char *at =
			memmem(text, (size_t)(end - text), call, strlen(call));
		bool is_it = at && !pytext_is_word(at[strlen(call)]);

		free(call);
		if (is_it)
			return true;
	}
	return false;
}

void source_signatures_read(struct source *source, const char *text,
			    const char *end)
{
	struct signature_reader s = { .source = source,
				      .text = text,
				      .end = end };
	size_t length = (size_t)(end - text);

	for (size_t i = 0; i < CALLERS; i++) {
		s.maker = &callers[i];
		read_each(&s, s.maker->nested ? nested_read : caller_read);
	}
	for (size_t i = 0; i < sizeof(decorators) / sizeof(*decorators); i++) {
		s.maker = &decorators[i];
		if (memmem(text, length, s.maker->library,
			   strlen(s.maker->library)))
			read_each(&s, decorator_read);
	}
}
