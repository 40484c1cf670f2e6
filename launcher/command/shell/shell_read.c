/* Goes through shell text command by command, and knows where it is. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/shell/shell_read.h"

#include "launcher/command/shell/shell_found.h"
#include "launcher/command/shell/shell_reserved.h"
#include "launcher/command/shell/shell_run.h"

#include <assert.h>
#include <string.h>

static void on_operator(struct shell_reader *reader)
{
	enum shell_kind kind = reader->token.kind;

	if (reader->is_one_command && kind != SHELL_AND)
		shell_fail_met(reader, kind == SHELL_OR ? "||" : "a pipe (|)");
	else if (reader->is_one_command && reader->was_test)
		shell_fail_met(reader, "a condition");
	reader->continues = true;
	reader->joined_by = kind;
	reader->is_pipe = kind == SHELL_PIPE;
	if (kind == SHELL_PIPE)
		return;
	reader->list_test.is_one = false;
	if (reader->was_test && !reader->is_maybe) {
		reader->list_test = reader->test;
		if (kind == SHELL_OR)
			reader->list_test.is_empty = !reader->test.is_empty;
	}
	reader->is_maybe =
		reader->is_maybe || reader->was_test || kind == SHELL_OR;
}

static void on_background(struct shell_reader *reader)
{
	if (reader->is_one_command)
		shell_fail_met(reader, "a command in the background (&)");
	if (reader->founds > reader->found_before)
		reader->found.in_background = true;
	assert(reader->founds >= reader->found_before);
	shell_end_list(reader);
}

/* NAME ( ): what follows is its body. */
static void read_function(struct shell_reader *reader)
{
	if (reader->count != 1 || reader->is_one_command) {
		shell_fail_met(reader, reader->count == 1 ? "a function"
							  : "a parenthesis");
	} else if (shell_reader_next(reader) != SHELL_CLOSE) {
		shell_fail_met(reader, "a parenthesis");
	} else {
		reader->is_function = true;
		reader->function = reader->words[0];
		reader->count = 0;
	}
}

/* The token is the first of the command. */
static void read_command(struct shell_reader *reader)
{
	enum shell_kind kind = reader->token.kind;

	reader->count = 0;
	reader->continues = false;
	reader->is_function = false;
	if (reader->commands++ == SHELL_COMMANDS_MAX)
		shell_fail_met(reader, "so long a script");
	while (kind == SHELL_WORD || kind == SHELL_REDIRECT ||
	       kind == SHELL_HEREDOC) {
		if (kind == SHELL_WORD)
			shell_add_word(reader);
		kind = shell_reader_next(reader);
	}
	if (kind == SHELL_OPEN)
		read_function(reader);
	else if (kind != SHELL_ERROR)
		reader->has_token = true;
	if (!reader->is_over && reader->count)
		shell_run_command(reader);
}

static void on_open(struct shell_reader *reader)
{
	if (reader->is_one_command)
		shell_fail_met(reader, "a subshell ( )");
	else if (shell_is_doubled(reader))
		shell_read_arithmetic(reader);
	else
		shell_push(reader, SHELL_SUBSHELL);
}

static void on_case_end(struct shell_reader *reader)
{
	const struct shell_span *span = &reader->token.span;

	shell_end_list(reader);
	if (shell_top(reader) && shell_top(reader)->kind == SHELL_CASE) {
		shell_top(reader)->wants_pattern = true;
		/* ;& goes on into the next branch. */
		if (memcmp(reader->lexer.text + span->start, ";;", 2) != 0 ||
		    span->end - span->start != 2)
			shell_top(reader)->has_subject = false;
	} else {
		shell_fail_met(reader, ";;");
	}
}

static void on_end(struct shell_reader *reader)
{
	reader->is_over = true;
	if (reader->depth == 0)
		return;
	reader->is_over = false;
	shell_fail(reader, shell_top(reader)->line,
		   "what begins here never ends: " SHELL_INSTEAD);
}

static void read_one(struct shell_reader *reader)
{
	enum shell_kind kind = shell_reader_next(reader);

	if (shell_top(reader) && shell_top(reader)->wants_pattern &&
	    kind != SHELL_END && kind != SHELL_ERROR) {
		shell_read_pattern(reader);
		return;
	}
	switch (kind) {
	case SHELL_END:
		on_end(reader);
		break;
	case SHELL_NEWLINE:
		/* A list goes on in the next line. */
		if (!reader->continues)
			shell_end_list(reader);
		break;
	case SHELL_SEMICOLON:
		shell_end_list(reader);
		break;
	case SHELL_CASE_END:
		on_case_end(reader);
		break;
	case SHELL_BACKGROUND:
		on_background(reader);
		break;
	case SHELL_AND:
	case SHELL_OR:
	case SHELL_PIPE:
		on_operator(reader);
		break;
	case SHELL_OPEN:
		on_open(reader);
		break;
	case SHELL_CLOSE:
		shell_pop(reader, SHELL_SUBSHELL);
		break;
	case SHELL_WORD:
		if (!shell_read_reserved(reader))
			read_command(reader);
		break;
	case SHELL_REDIRECT:
	case SHELL_HEREDOC:
		read_command(reader);
		break;
	case SHELL_ERROR:
		break;
	}
}

/* The last byte of a script is a backslash that joins nothing: bash passes over
 * it, and dash hands it on as a word, which the program says. */
static void drop_last_backslash(struct shell_reader *reader)
{
	struct shell_lexer *lexer = &reader->lexer;
	const char *end = lexer->text + lexer->length;

	if (!reader->is_one_command && lexer->length > 1 && end[-1] == '\\' &&
	    strchr(" \t", end[-2]))
		lexer->length--;
}

/* A backslash that nothing follows joins whatever is added behind it. */
static bool ends_open(const struct shell_lexer *lexer)
{
	size_t count = 0;

	while (count < lexer->length &&
	       lexer->text[lexer->length - 1 - count] == '\\')
		count++;
	return count % 2 == 1;
}

/* What no shell can read, or reads as another thing. */
static bool check_bytes(struct shell_reader *reader)
{
	const struct shell_lexer *lexer = &reader->lexer;
	const char *what = reader->is_one_command ? "the text after " : "";

	if (lexer->length && memchr(lexer->text, '\0', lexer->length))
		shell_fail(reader, 0, "%s%s holds NUL bytes: no shell reads it",
			   what, reader->label);
	else if (lexer->length && memmem(lexer->text, lexer->length, "\r\n", 2))
		shell_fail(reader, 0,
			   "%s%s has Windows line ends (CR LF), which a shell "
			   "takes for part of the words: remove them, as "
			   "sed -i 's/\\r$//' does",
			   what, reader->label);
	else if (ends_open(lexer))
		shell_fail(reader, 0,
			   "%s%s ends in a backslash that nothing follows: "
			   "remove it",
			   what, reader->label);
	return !reader->is_over;
}

enum command_outcome shell_read(struct shell_reader *reader)
{
	assert(!reader->is_over && !reader->depth && !reader->founds);
	reader->scope.lexer = &reader->lexer;
	reader->fields.append_at = NO_INDEX;
	reader->found.fields.append_at = NO_INDEX;
	shell_scope_init(&reader->scope);
	drop_last_backslash(reader);
	if (check_bytes(reader))
		while (!reader->is_over)
			read_one(reader);
	if (reader->outcome == COMMAND_OK)
		shell_decide(reader);
	return reader->outcome;
}
