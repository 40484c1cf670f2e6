/* Where the reading of shell text stands: its token, its levels. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/shell/shell_reader.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void shell_fail(struct shell_reader *reader, unsigned line, const char *format,
		...)
{
	char text[400];
	va_list args;

	if (reader->is_over && reader->outcome != COMMAND_OK)
		return;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (line)
		(void)error_set(reader->err, -EINVAL, "%s:%u: %s",
				reader->label, line, text);
	else
		(void)error_set(reader->err, -EINVAL, "%s", text);
	reader->is_over = true;
	reader->outcome = COMMAND_NOT_RECOGNISED;
}

/* More than one command is in it. */
void shell_fail_met(struct shell_reader *reader, const char *what)
{
	if (reader->is_one_command)
		shell_fail(reader, 0,
			   "the text after %s holds %s, not just one command: "
			   "write {micro} where the micro-batch belongs in it, "
			   "or " SHELL_INSTEAD,
			   reader->label, what);
	else
		shell_fail(reader, reader->token.span.line,
			   "%s is not understood here: " SHELL_INSTEAD, what);
}

/* After a token was read. */
static void check_token(struct shell_reader *reader)
{
	struct shell_lexer *lexer = &reader->lexer;

	if (reader->token.kind == SHELL_ERROR) {
		struct shell_lexer lines = { .text = lexer->text,
					     .length = lexer->length };

		if (reader->is_one_command)
			shell_fail(reader, 0,
				   "the text after %s cannot be read: %s",
				   reader->label, lexer->error);
		else
			shell_fail(reader, shell_line(&lines, lexer->error_at),
				   "%s", lexer->error);
	} else if (!reader->is_one_command) {
		return;
	} else if (lexer->met & SHELL_MET_COMMAND) {
		shell_fail_met(reader, "another command in $( )");
	} else if (lexer->met & SHELL_MET_BACKQUOTE) {
		shell_fail_met(reader, "another command in backquotes (`)");
	} else if (lexer->met & SHELL_MET_PROCESS) {
		shell_fail_met(reader, "another command in <( ) or >( )");
	} else if (reader->token.kind == SHELL_HEREDOC) {
		shell_fail_met(reader, "a here-document (<<)");
	}
}

enum shell_kind shell_reader_next(struct shell_reader *reader)
{
	if (!reader->has_token) {
		(void)shell_next(&reader->lexer, &reader->token);
		check_token(reader);
	}
	reader->has_token = false;
	return reader->is_over ? SHELL_ERROR : reader->token.kind;
}

bool shell_token_is(const struct shell_reader *reader, const char *text)
{
	const struct shell_span *span = &reader->token.span;
	size_t length = strlen(text);

	return reader->token.kind == SHELL_WORD &&
	       span->end - span->start == length &&
	       memcmp(reader->lexer.text + span->start, text, length) == 0;
}

struct shell_level *shell_top(struct shell_reader *reader)
{
	return reader->depth ? &reader->levels[reader->depth - 1] : NULL;
}

void shell_end_list(struct shell_reader *reader)
{
	reader->is_maybe = false;
	reader->is_pipe = false;
	reader->found_before = reader->founds;
	reader->was_test = false;
	reader->list_test.is_one = false;
	reader->joined_by = SHELL_SEMICOLON;
}

void shell_push(struct shell_reader *reader, enum shell_level_kind kind)
{
	if (reader->depth == SHELL_LEVELS_MAX) {
		shell_fail_met(reader, "so deep a nesting");
		return;
	}
	reader->levels[reader->depth++] = (struct shell_level){
		.kind = kind,
		.line = reader->token.span.line,
		.is_condition = kind == SHELL_IF,
		.asks = kind == SHELL_IF,
		.is_function = reader->is_function,
		.wants_pattern = kind == SHELL_CASE,
		.is_maybe = reader->is_maybe,
		.is_pipe = reader->is_pipe,
		.found_before = reader->found_before,
	};
	reader->is_function = false;
	reader->continues = false;
	shell_end_list(reader);
}

void shell_pop(struct shell_reader *reader, enum shell_level_kind kind)
{
	const struct shell_level *level = shell_top(reader);

	if (!level || level->kind != kind) {
		shell_fail(reader, reader->token.span.line,
			   "a word that ends something ends nothing "
			   "here: " SHELL_INSTEAD);
		return;
	}
	/* The list goes on that it stands in. */
	shell_end_list(reader);
	reader->is_maybe = level->is_maybe;
	reader->is_pipe = level->is_pipe;
	reader->found_before = level->found_before;
	reader->depth--;
}

void shell_add_word(struct shell_reader *reader)
{
	if (reader->count == SHELL_WORDS_MAX) {
		shell_fail_met(reader, "so long a command");
		return;
	}
	reader->words = xgrow(reader->words, reader->count, &reader->capacity,
			      sizeof(*reader->words));
	reader->words[reader->count++] = reader->token.span;
}

void shell_reader_release(struct shell_reader *reader)
{
	shell_scope_release(&reader->scope);
	shell_fields_release(&reader->fields);
	shell_fields_release(&reader->found.fields);
	free(reader->words);
	free(reader->functions);
	free(reader->found.folder);
	free(reader->folder);
}
