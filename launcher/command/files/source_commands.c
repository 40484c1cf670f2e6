/* Sub-commands of a script, and where their options stand. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/files/source_commands.h"

#include "base/alloc.h"
#include "base/span.h"
#include "launcher/command/files/pytext.h"
#include "launcher/command/files/source_options.h"

#include <stdlib.h>
#include <string.h>

/* The next mark in the text from at on; NULL: none. */
static const char *mark_find(const char *at, const char *end, const char *mark)
{
	return at < end ? memmem(at, (size_t)(end - at), mark, strlen(mark))
			: NULL;
}

/* The last mark before end. */
static const char *mark_before(const char *text, const char *end,
			       const char *mark)
{
	const char *found = NULL;

	while ((text = mark_find(text, end, mark)))
		found = text++;
	return found;
}

/* "p" of p.add_argument, self.p of self.p.add_argument; call is on the last
 * word. */
static struct span receiver_of(const char *text, const char *call)
{
	const char *end = call > text && call[-1] == '.' ? call - 1 : call;
	const char *at = end;

	while (end < call && at > text &&
	       (pytext_is_word(at[-1]) || at[-1] == '.'))
		at--;
	return span_from(at, end);
}

static bool is_same_receiver(struct span a, struct span b)
{
	return a.length && a.length == b.length &&
	       memcmp(a.at, b.at, a.length) == 0;
}

/* No function begins between them: names mean the same in both. */
static bool is_same_function(const char *a, const char *b)
{
	return !mark_find(a < b ? a : b, a < b ? b : a, "def ");
}

/* Behind the bracket and blanks. */
static struct pytext call_argument_at(const char *open, const char *end)
{
	struct pytext cursor = {
		.at = open, .end = end, .line_start = open, .line = 1
	};

	pytext_skip_blanks(&cursor, true);
	return cursor;
}

/* "train" of add_parser("train", ...); empty: it is no string. */
static struct span command_of_call(const char *open, const char *end)
{
	struct pytext cursor = call_argument_at(open, end);
	struct span name = { NULL, 0 };

	if (cursor.at < end && pytext_is_quote(*cursor.at))
		pytext_string(&cursor, &name.at, &name.length);
	return name;
}

/* "t" of t = sub.add_parser("train"); at is on add_parser. */
static struct span variable_of_call(const char *text, const char *at)
{
	struct span line, name = { NULL, 0 };
	const char *equals;

	for (line.at = at; line.at > text && line.at[-1] != '\n';)
		line.at--;
	line = span_from(line.at, at);
	equals = memchr(line.at, '=', line.length);
	if (equals)
		name = span_trimmed(span_from(line.at, equals));
	return name;
}

static const char add_parser[] = "add_parser(";
static const char add_subparsers[] = "add_subparsers(";
static const char *const remainders[] = { "REMAINDER", "\"...\"", "'...'" };
#define REMAINDERS (sizeof(remainders) / sizeof(*remainders))

void source_commands_read(struct source *source, const char *text,
			  const char *end)
{
	const char *at = text;

	source->places_matter = mark_find(text, end, add_parser) ||
				mark_find(text, end, add_subparsers);
	for (size_t i = 0; i < REMAINDERS && !source->places_matter; i++)
		source->places_matter = mark_find(text, end, remainders[i]);
	while ((at = mark_find(at, end, add_parser))) {
		struct span name =
			command_of_call(at += strlen(add_parser), end);
		char *copy =
			name.length ? xstrndup(name.at, name.length) : NULL;

		if (copy)
			source_command_add(source, copy);
		free(copy);
	}
}

/* The sub-command whose parser this is, by the last call before. */
static struct span command_of_receiver(const char *text, const char *call,
				       struct span receiver)
{
	struct span found = { NULL, 0 };
	const char *at = text;

	for (; (at = mark_find(at, call, add_parser)); at += strlen(add_parser))
		if (is_same_receiver(variable_of_call(text, at), receiver) &&
		    is_same_function(at, call))
			found = command_of_call(at + strlen(add_parser), call);
	return found;
}

/* p.add_subparsers() somewhere in the function of the call. */
static bool has_subparsers(const char *text, const char *end, const char *call,
			   struct span receiver)
{
	const char *at = text;

	for (; (at = mark_find(at, end, add_subparsers));
	     at += strlen(add_subparsers))
		if (is_same_receiver(receiver_of(text, at), receiver) &&
		    is_same_function(at, call))
			return true;
	return false;
}

/* p.add_argument("opts", nargs=REMAINDER) likewise. */
static bool has_remainder(const char *text, const char *end, const char *call,
			  struct span receiver)
{
	static const char add[] = "add_argument(";

	for (size_t i = 0; i < REMAINDERS; i++) {
		const char *at = text;

		for (; (at = mark_find(at, end, remainders[i])); at++) {
			const char *its = mark_before(text, at, add);
			struct span name = { NULL, 0 };

			if (its)
				name = command_of_call(its + strlen(add), end);
			if (name.length && *name.at != '-' &&
			    is_same_receiver(receiver_of(text, its),
					     receiver) &&
			    is_same_function(its, call))
				return true;
		}
	}
	return false;
}

/* @click.option below @click.group() or @cli.command("train"). */
static void place_in_click(struct source_option *option, const char *text,
			   const char *end, const char *call)
{
	const char *def = mark_before(text, call, "\ndef ");
	const char *start = def ? def + 1 : text;
	const char *open = mark_before(start, call, ".command(");
	const char *name = mark_find(call, end, "\ndef ");
	struct span command = { NULL, 0 };

	option->leads = mark_before(start, call, ".group(") != NULL;
	if (!open || option->leads || !name)
		return;
	command = command_of_call(open + strlen(".command("), end);
	if (!command.length) {
		command.at = name + strlen("\ndef ");
		while (pytext_is_word(command.at[command.length]))
			command.length++;
	}
	option->command = xstrndup(command.at, command.length);
}

void source_commands_place(struct source_option *option,
			   const struct source *source, const char *end,
			   const char *call)
{
	const char *text = source->text;
	struct span receiver = receiver_of(text, call);
	struct span command;

	/* It is not kept. */
	if (source->option_count == SOURCE_OPTIONS_MAX)
		return;
	if (strncmp(call, "option", 6) == 0) {
		place_in_click(option, text, end, call);
		return;
	}
	if (!source->places_matter)
		return;
	command = command_of_receiver(text, call, receiver);
	if (command.length)
		option->command = xstrndup(command.at, command.length);
	option->leads = has_subparsers(text, end, call, receiver) ||
			has_remainder(text, end, call, receiver);
}
