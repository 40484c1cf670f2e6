/* Where the words and operators of shell text begin and end. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/shell/words/shell.h"

#include <assert.h>
#include <string.h>

unsigned shell_line(struct shell_lexer *lexer, size_t at)
{
	if (at > lexer->length)
		at = lexer->length;
	while (lexer->line_at < at) {
		const char *from = lexer->text + lexer->line_at;
		const char *newline = memchr(from, '\n', at - lexer->line_at);

		if (!newline) {
			lexer->line_at = at;
			break;
		}
		lexer->line_at += (size_t)(newline - from) + 1;
		lexer->newlines++;
	}
	return lexer->newlines + 1;
}

static void skip_blanks(struct shell_lexer *lexer)
{
	for (;;) {
		char c = shell_peek(lexer, 0);

		if (c == '\\' && shell_peek(lexer, 1) == '\n')
			lexer->at += 2;
		else if (c == ' ' || c == '\t')
			lexer->at++;
		else
			break;
	}
}

/* Compares without the quotes of the delimiter. */
static bool is_delimiter(const struct shell_lexer *lexer,
			 const struct shell_heredoc *heredoc, size_t start,
			 size_t end)
{
	assert(heredoc->start <= heredoc->end && end <= lexer->length);
	if (heredoc->strips_tabs)
		while (start < end && lexer->text[start] == '\t')
			start++;
	for (size_t i = heredoc->start; i < heredoc->end; i++) {
		char c = lexer->text[i];

		if (c == '\'' || c == '"' || c == '\\')
			continue;
		if (start == end || lexer->text[start] != c)
			return false;
		start++;
	}
	return start == end;
}

/* Without its delimiter it ends where the text does, as in bash. */
static void skip_heredocs(struct shell_lexer *lexer)
{
	for (size_t i = 0; i < lexer->heredoc_count; i++) {
		bool is_over = false;

		while (!is_over && lexer->at < lexer->length) {
			const char *from = lexer->text + lexer->at;
			const char *newline =
				memchr(from, '\n', lexer->length - lexer->at);
			size_t end = newline ? (size_t)(newline - lexer->text)
					     : lexer->length;

			is_over = is_delimiter(lexer, &lexer->heredocs[i],
					       lexer->at, end);
			lexer->at = newline ? end + 1 : end;
		}
	}
	lexer->heredoc_count = 0;
}

static bool add_heredoc(struct shell_lexer *lexer, size_t start, bool strips)
{
	assert(start < lexer->at && lexer->at <= lexer->length);
	if (lexer->heredoc_count == SHELL_HEREDOCS_MAX)
		return shell_lexer_fail(lexer, "too many here-documents (<<)",
					start);
	lexer->heredocs[lexer->heredoc_count++] = (struct shell_heredoc){
		.start = start, .end = lexer->at, .strips_tabs = strips
	};
	return true;
}

/* lexer->at is on the operator, behind a number where there is one. */
static enum shell_kind read_redirect(struct shell_lexer *lexer)
{
	/* Longest first. */
	static const char *const operators[] = { "&>>", "<<<", "<<-", "&>",
						 "<<",  ">>",  "<&",  ">&",
						 "<>",  ">|",  "<",   ">" };
	const char *operation = "";
	enum shell_kind kind = SHELL_REDIRECT;
	size_t start;

	for (size_t i = 0; !*operation; i++) {
		size_t length = strlen(operators[i]);

		if (lexer->length - lexer->at >= length &&
		    memcmp(lexer->text + lexer->at, operators[i], length) == 0)
			operation = operators[i];
	}
	if (strcmp(operation, "<<") == 0 || strcmp(operation, "<<-") == 0)
		kind = SHELL_HEREDOC;
	assert(*operation && "its caller saw one");
	lexer->at += strlen(operation);
	skip_blanks(lexer);
	start = lexer->at;
	if (!shell_skip_word(lexer))
		return SHELL_ERROR;
	if (lexer->at == start) {
		(void)shell_lexer_fail(lexer, "a redirection names no file",
				       start);
		return SHELL_ERROR;
	}
	if (kind == SHELL_HEREDOC &&
	    !add_heredoc(lexer, start, operation[2] == '-'))
		return SHELL_ERROR;
	return kind;
}

static bool shell_is_number(const struct shell_lexer *lexer, size_t start)
{
	for (size_t i = start; i < lexer->at; i++)
		if (lexer->text[i] < '0' || lexer->text[i] > '9')
			return false;
	return lexer->at > start;
}

static enum shell_kind read_word(struct shell_lexer *lexer)
{
	size_t start = lexer->at;
	char next;

	if (!shell_skip_word(lexer))
		return SHELL_ERROR;
	if (lexer->at == start) {
		(void)shell_lexer_fail(
			lexer, "a NUL byte is no part of a script", start);
		return SHELL_ERROR;
	}
	next = shell_peek(lexer, 0);
	if ((next == '<' || next == '>') && shell_is_number(lexer, start))
		return read_redirect(lexer);
	return SHELL_WORD;
}

/* lexer->at is on ; & or |. */
static enum shell_kind read_operator(struct shell_lexer *lexer)
{
	char c = lexer->text[lexer->at];
	char next = shell_peek(lexer, 1);

	assert(c == ';' || c == '&' || c == '|');
	if (c == '&' && next == '>' && !lexer->is_posix)
		return read_redirect(lexer);
	if (c == ';' && (next == ';' || next == '&')) {
		lexer->at += 2;
		if (next == ';' && shell_peek(lexer, 0) == '&')
			lexer->at++;
		return SHELL_CASE_END;
	}
	lexer->at++;
	if (c == ';')
		return SHELL_SEMICOLON;
	if (c == '|' && next == '&' && !lexer->is_posix) {
		lexer->at++;
		return SHELL_PIPE;
	}
	if (next == c) {
		lexer->at++;
		return c == '&' ? SHELL_AND : SHELL_OR;
	}
	return c == '&' ? SHELL_BACKGROUND : SHELL_PIPE;
}

static enum shell_kind read_token(struct shell_lexer *lexer)
{
	char c = lexer->text[lexer->at];

	switch (c) {
	case '\n':
		lexer->at++;
		skip_heredocs(lexer);
		return SHELL_NEWLINE;
	case ';':
	case '&':
	case '|':
		return read_operator(lexer);
	case '(':
		lexer->at++;
		return SHELL_OPEN;
	case ')':
		lexer->at++;
		return SHELL_CLOSE;
	case '<':
	case '>':
		return shell_peek(lexer, 1) == '(' ? read_word(lexer)
						   : read_redirect(lexer);
	default:
		return read_word(lexer);
	}
}

enum shell_kind shell_next(struct shell_lexer *lexer, struct shell_token *token)
{
	skip_blanks(lexer);
	if (shell_peek(lexer, 0) == '#') {
		const char *from = lexer->text + lexer->at;
		const char *newline =
			memchr(from, '\n', lexer->length - lexer->at);

		lexer->at = newline ? (size_t)(newline - lexer->text)
				    : lexer->length;
	}
	token->span.start = lexer->at;
	token->span.line = shell_line(lexer, lexer->at);
	if (lexer->error)
		token->kind = SHELL_ERROR;
	else if (lexer->at >= lexer->length)
		token->kind = SHELL_END;
	else
		token->kind = read_token(lexer);
	token->span.end = lexer->at;
	assert(lexer->error || token->span.start <= token->span.end);
	assert(lexer->error || token->kind == SHELL_END ||
	       lexer->at > token->span.start);
	return token->kind;
}
