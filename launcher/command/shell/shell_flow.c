/* Loops and functions of a script, read where they run. Pure. */
/* SPDX-License-Identifier: MIT */
/*
 * A function that is called without arguments, or with all of the script's by
 * "$@", is as if its body stood there. With other arguments it may do anything:
 * then its body is read as one that may run or not.
 */
#include "launcher/command/shell/shell_flow.h"

#include "launcher/command/shell/shell_found.h"
#include "launcher/command/shell/shell_rank.h"

#include "base/alloc.h"

#include <string.h>

void shell_loop_begin(struct shell_reader *reader)
{
	struct shell_level *level = shell_top(reader);

	level->is_while = true;
	level->asks = true;
	level->back = reader->lexer;
}

/* The loop itself runs, and once. */
static bool loop_is_certain(struct shell_reader *reader)
{
	bool is_certain;

	reader->depth--;
	is_certain = !shell_maybe(reader);
	reader->depth++;
	return is_certain && !shell_top(reader)->is_maybe &&
	       !shell_top(reader)->is_pipe;
}

bool shell_loop_once(struct shell_reader *reader)
{
	struct shell_level *level = shell_top(reader);

	level->is_certain = loop_is_certain(reader);
	if (level->is_certain)
		level->branch = SHELL_TAKEN;
	return level->is_certain;
}

void shell_loop_do(struct shell_reader *reader)
{
	struct shell_level *level = shell_top(reader);

	if (!level->is_while || !level->asks)
		return;
	level->asks = false;
	level->is_certain = level->truth == SHELL_TRUE &&
			    level->rounds++ < SHELL_ROUNDS_MAX &&
			    loop_is_certain(reader);
	if (level->is_certain)
		level->branch = SHELL_TAKEN;
	else if (level->truth == SHELL_FALSE)
		level->branch = SHELL_DEAD;
	shell_end_list(reader);
}

bool shell_loop_done(struct shell_reader *reader)
{
	struct shell_level *level = shell_top(reader);

	if (!level->is_while || !level->is_certain || level->is_left)
		return false;
	reader->called_bytes += reader->lexer.at - level->back.at;
	if (reader->called_bytes > SHELL_CALLED_BYTES_MAX) {
		shell_fail_met(reader, "so long a loop");
		return false;
	}
	reader->lexer = level->back;
	reader->has_token = false;
	level->asks = true;
	level->asked = 0;
	level->truth = SHELL_UNDECIDED;
	level->branch = SHELL_PERHAPS;
	level->is_certain = false;
	shell_end_list(reader);
	return true;
}

void shell_loop_leave(struct shell_reader *reader, bool goes_on)
{
	size_t i = reader->depth;

	while (i > 0 && reader->levels[i - 1].kind != SHELL_LOOP)
		i--;
	if (i == 0 || !reader->levels[i - 1].is_certain)
		return;
	reader->levels[i - 1].is_left = !goes_on;
	if (!shell_maybe(reader)) {
		reader->levels[i - 1].branch = SHELL_DEAD;
		return;
	}
	/* From here on it may have come to anything, and the rest may run. */
	reader->levels[i - 1].is_left = true;
	reader->levels[i - 1].branch = SHELL_PERHAPS;
	reader->scope.arguments_unknown = true;
	reader->scope.age++;
}

bool shell_is_dead(const struct shell_reader *reader)
{
	for (size_t i = 0; i < reader->depth; i++)
		if (reader->levels[i].branch == SHELL_DEAD)
			return true;
	return false;
}

static struct shell_function *function_find(const struct shell_reader *reader,
					    const char *name, size_t length)
{
	for (size_t i = 0; i < reader->function_count; i++) {
		struct shell_function *function = &reader->functions[i];

		if (function->name.end - function->name.start == length &&
		    memcmp(reader->lexer.text + function->name.start, name,
			   length) == 0)
			return function;
	}
	return NULL;
}

void shell_function_define(struct shell_reader *reader)
{
	struct shell_level *level = shell_top(reader);
	struct shell_span name = reader->function;
	struct shell_function *function = function_find(
		reader, reader->lexer.text + name.start, name.end - name.start);

	level->is_function = false;
	if (level->kind != SHELL_BRACE || shell_maybe(reader) ||
	    shell_is_dead(reader) ||
	    reader->function_count == SHELL_FUNCTIONS_MAX ||
	    (function && function->is_active)) {
		level->is_function = true;
		return;
	}
	if (!function) {
		reader->functions = xgrow(
			reader->functions, reader->function_count,
			&reader->function_capacity, sizeof(*reader->functions));
		function = &reader->functions[reader->function_count++];
	}
	*function =
		(struct shell_function){ .name = name, .body = reader->lexer };
	level->is_definition = true;
	level->definition = (size_t)(function - reader->functions);
	level->branch = SHELL_DEAD;
}

/* $1, $@, ${2:-8}, $#: in a function these are its own. */
static bool has_arguments(const char *at, const char *end)
{
	while ((at = memchr(at, '$', (size_t)(end - at)))) {
		at++;
		at += at < end && *at == '{';
		at += at < end && *at == '#';
		if (at < end && (strchr("@*#", *at) ||
				 (*at >= '0' && *at <= '9') || at[-1] == '#'))
			return true;
	}
	return false;
}

/* The end of the body is where its level ended at the definition. */
static bool is_as_if_there(const struct shell_reader *reader,
			   const struct shell_function *function)
{
	const char *text = reader->lexer.text;
	const struct shell_span *last = &reader->words[reader->count - 1];

	if (reader->count == 1)
		return !has_arguments(text + function->body.at,
				      text + function->end);
	return reader->count == 2 && last->end - last->start == 4 &&
	       memcmp(text + last->start, "\"$@\"", 4) == 0;
}

bool shell_function_call(struct shell_reader *reader)
{
	const struct shell_field *name = &reader->fields.items[reader->inner];
	struct shell_function *function;
	struct shell_level *level;

	if (reader->inner || name->word.is_opaque || !reader->function_count ||
	    reader->lexer.heredoc_count)
		return false;
	function = function_find(reader, name->text, strlen(name->text));
	/* python() { command python "$@"; } is the program after all. */
	if (!function || function->is_active ||
	    shell_rank(&reader->fields, 0) == SHELL_TRAINING)
		return false;
	reader->called_bytes += function->end - function->body.at;
	if (reader->called_bytes > SHELL_CALLED_BYTES_MAX) {
		shell_fail_met(reader, "so much that is called");
		return true;
	}
	reader->is_function =
		reader->assignments || !is_as_if_there(reader, function);
	shell_push(reader, SHELL_BRACE);
	if (reader->is_over)
		return true;
	level = shell_top(reader);
	level->called = (size_t)(function - reader->functions) + 1;
	level->back = reader->lexer;
	level->back_token = reader->token;
	level->back_has_token = reader->has_token;
	level->first = reader->scope.first;
	level->arguments_unknown = reader->scope.arguments_unknown;
	reader->scope.arguments_unknown |= level->is_function;
	function->is_active = true;
	reader->lexer = function->body;
	reader->has_token = false;
	return true;
}

void shell_function_end(struct shell_reader *reader)
{
	struct shell_level *level = shell_top(reader);
	struct shell_function *function;

	if (!level->called) {
		/* Of the definition that was passed over. */
		if (level->is_definition)
			reader->functions[level->definition].end =
				reader->token.span.start;
		return;
	}
	function = &reader->functions[level->called - 1];
	function->is_active = false;
	reader->lexer = level->back;
	reader->token = level->back_token;
	reader->has_token = level->back_has_token;
	/* What it shifted were its own. */
	reader->scope.first = level->first;
	reader->scope.arguments_unknown = level->arguments_unknown;
	/* Who left it before its end has not set all of this, nor what is
	 * local. */
	if (level->is_left)
		reader->scope.age++;
}

/* The body that is read now, of a function that was called; NULL. */
static struct shell_level *body_level(struct shell_reader *reader)
{
	for (size_t i = reader->depth; i > 0; i--)
		if (reader->levels[i - 1].called)
			return &reader->levels[i - 1];
	return NULL;
}

void shell_function_local(struct shell_reader *reader)
{
	struct shell_level *level = body_level(reader);

	if (level)
		level->is_left = true;
}

bool shell_function_return(struct shell_reader *reader)
{
	struct shell_level *level = body_level(reader);

	if (level) {
		/* Behind it nothing of the body runs, or what does was not
		 * left. */
		if (!shell_maybe(reader) && !reader->is_pipe)
			level->branch = SHELL_DEAD;
		else
			level->is_left = true;
		return true;
	}
	return false;
}
