/* Where quotes, $( ), names and words of shell text end. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/shell/words/shell.h"

#include "base/name.h"

#include <assert.h>
#include <string.h>

bool shell_name_begins(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool shell_name_goes_on(char c)
{
	return shell_name_begins(c) || name_is_digit(c);
}

size_t shell_name_length(const char *text, size_t length)
{
	size_t count = 0;

	if (length == 0 || !shell_name_begins(text[0]))
		return 0;
	while (count < length && shell_name_goes_on(text[count]))
		count++;
	return count;
}

bool shell_assignment_read(const char *text, struct shell_span word,
			   struct shell_assignment *assignment)
{
	size_t at = word.start +
		    shell_name_length(text + word.start, word.end - word.start);

	*assignment = (struct shell_assignment){ .name = word, .value = word };
	if (at == word.start)
		return false;
	assignment->name.end = at;
	if (at < word.end && text[at] == '[') {
		const char *close = memchr(text + at, ']', word.end - at);

		if (!close)
			return false;
		at = (size_t)(close - text) + 1;
		assignment->is_element = true;
	}
	if (at < word.end && text[at] == '+') {
		assignment->appends = true;
		at++;
	}
	if (at == word.end || text[at] != '=')
		return false;
	assignment->value.start = ++at;
	if (at + 1 < word.end && text[at] == '(' && text[word.end - 1] == ')') {
		assignment->is_array = true;
		assignment->value.start++;
		assignment->value.end--;
	}
	return true;
}

static bool skip_command(struct shell_lexer *lexer);

bool shell_lexer_fail(struct shell_lexer *lexer, const char *why, size_t at)
{
	if (!lexer->error) {
		lexer->error = why;
		lexer->error_at = at;
	}
	return false;
}

char shell_peek(const struct shell_lexer *lexer, size_t ahead)
{
	size_t at = lexer->at + ahead;

	if (at < lexer->length)
		return lexer->text[at];
	return '\0';
}

static bool deeper(struct shell_lexer *lexer)
{
	if (lexer->depth == SHELL_DEPTH_MAX)
		return shell_lexer_fail(lexer,
					"quotes and $( ) are nested too deeply",
					lexer->at);
	lexer->depth++;
	return true;
}

static bool skip_single(struct shell_lexer *lexer)
{
	size_t open = lexer->at;
	const char *close =
		memchr(lexer->text + open + 1, '\'', lexer->length - open - 1);

	assert(lexer->text[open] == '\'');
	if (!close)
		return shell_lexer_fail(
			lexer, "a single quote (') is never closed", open);
	lexer->at = (size_t)(close - lexer->text) + 1;
	return true;
}

/* From the opening byte to behind the closing one, which may be escaped. */
static bool skip_escaped(struct shell_lexer *lexer, char close, const char *why)
{
	size_t open = lexer->at;

	for (lexer->at++; lexer->at < lexer->length; lexer->at++) {
		if (lexer->text[lexer->at] == close) {
			lexer->at++;
			return true;
		}
		if (lexer->text[lexer->at] == '\\')
			lexer->at++;
	}
	return shell_lexer_fail(lexer, why, open);
}

bool shell_skip_backquote(struct shell_lexer *lexer)
{
	lexer->met |= SHELL_MET_BACKQUOTE;
	return skip_escaped(lexer, '`', "a backquote (`) is never closed");
}

static bool skip_double(struct shell_lexer *lexer)
{
	size_t open = lexer->at++;
	bool is_fine = deeper(lexer);

	while (is_fine && lexer->at < lexer->length) {
		char c = lexer->text[lexer->at];

		if (c == '"') {
			lexer->at++;
			lexer->depth--;
			return true;
		}
		if (c == '$')
			is_fine = shell_skip_dollar(lexer, true);
		else if (c == '`')
			is_fine = shell_skip_backquote(lexer);
		else
			lexer->at += c == '\\' ? 2 : 1;
	}
	return shell_lexer_fail(lexer, "a double quote (\") is never closed",
				open);
}

/* A backslash, a quote or what begins with $; false: an error. */
static bool skip_special(struct shell_lexer *lexer)
{
	switch (lexer->text[lexer->at]) {
	case '\'':
		return skip_single(lexer);
	case '"':
		return skip_double(lexer);
	case '`':
		return shell_skip_backquote(lexer);
	case '$':
		return shell_skip_dollar(lexer, false);
	default:
		/* The last byte of all may be a backslash. */
		lexer->at += lexer->at + 1 < lexer->length ? 2 : 1;
		return true;
	}
}

static bool skip_is_special(char c)
{
	return c == '\'' || c == '"' || c == '`' || c == '$' || c == '\\';
}

bool shell_skip_balanced(struct shell_lexer *lexer)
{
	size_t open = lexer->at;
	bool is_bracket = open < lexer->length && lexer->text[open] == '[';
	size_t count = 0;

	while (lexer->at < lexer->length) {
		char c = lexer->text[lexer->at];

		if (skip_is_special(c)) {
			if (!skip_special(lexer))
				return false;
			continue;
		}
		lexer->at++;
		assert(c != (is_bracket ? ']' : ')') || count > 0);
		if (c == (is_bracket ? '[' : '('))
			count++;
		else if (c == (is_bracket ? ']' : ')') && --count == 0)
			return true;
	}
	return shell_lexer_fail(lexer,
				is_bracket ? "$[ is never closed"
					   : "a parenthesis is never closed",
				open);
}

/* In "${NAME:-it's}" the single quote is only a byte. */
static bool skip_brace(struct shell_lexer *lexer, bool is_quoted)
{
	size_t open = lexer->at++;

	while (lexer->at < lexer->length) {
		char c = lexer->text[lexer->at];

		if (c == '}') {
			lexer->at++;
			return true;
		}
		if (!skip_is_special(c) || (c == '\'' && is_quoted))
			lexer->at++;
		else if (c == '$' ? !shell_skip_dollar(lexer, is_quoted)
				  : !skip_special(lexer))
			return false;
	}
	return shell_lexer_fail(lexer, "${ is never closed", open);
}

static bool skip_dollar(struct shell_lexer *lexer, bool is_quoted)
{
	char next = shell_peek(lexer, 1);

	lexer->at++;
	if (next == '\'' && !is_quoted)
		return skip_escaped(lexer, '\'',
				    "a single quote ($') is never closed");
	if (next == '"' && !is_quoted)
		return skip_double(lexer);
	if (next == '{')
		return skip_brace(lexer, is_quoted);
	if (next == '[' || (next == '(' && shell_peek(lexer, 1) == '(')) {
		lexer->met |= SHELL_MET_ARITHMETIC;
		return shell_skip_balanced(lexer);
	}
	if (next != '(')
		return true;
	lexer->met |= SHELL_MET_COMMAND;
	return skip_command(lexer);
}

bool shell_skip_dollar(struct shell_lexer *lexer, bool is_quoted)
{
	assert(lexer->at < lexer->length && lexer->text[lexer->at] == '$');
	if (!deeper(lexer) || !skip_dollar(lexer, is_quoted))
		return false;
	assert(lexer->depth > 0);
	lexer->depth--;
	return true;
}

static bool is_case(const struct shell_lexer *lexer,
		    const struct shell_token *token)
{
	return token->kind == SHELL_WORD &&
	       token->span.end - token->span.start == 4 &&
	       memcmp(lexer->text + token->span.start, "case", 4) == 0;
}

/* From ( to behind the ) that ends the commands in it. */
static bool skip_command(struct shell_lexer *lexer)
{
	size_t open = lexer->at++;
	size_t count = 1;
	enum shell_kind before = SHELL_NEWLINE;
	struct shell_token token;

	while (shell_next(lexer, &token) != SHELL_ERROR) {
		if (token.kind == SHELL_END)
			return shell_lexer_fail(
				lexer, "a parenthesis is never closed", open);
		if (token.kind == SHELL_OPEN)
			count++;
		if (token.kind == SHELL_CLOSE && --count == 0)
			return true;
		/* Its patterns end in a ) that opens nowhere. */
		if (before != SHELL_WORD && is_case(lexer, &token))
			return shell_lexer_fail(
				lexer, "case inside $( ) is not understood",
				token.span.start);
		before = token.kind;
	}
	return false;
}

static bool skip_array(struct shell_lexer *lexer)
{
	size_t open = lexer->at++;
	struct shell_token token;

	while (shell_next(lexer, &token) != SHELL_ERROR) {
		if (token.kind == SHELL_CLOSE)
			return true;
		if (token.kind != SHELL_WORD && token.kind != SHELL_NEWLINE)
			return shell_lexer_fail(
				lexer,
				token.kind == SHELL_END
					? "a parenthesis is never closed"
					: "an array is not understood",
				open);
	}
	return false;
}

static bool is_array(const struct shell_lexer *lexer, size_t start)
{
	struct shell_assignment assignment;
	struct shell_span word = { .start = start, .end = lexer->at };

	assert(lexer->at > start);
	return lexer->text[lexer->at - 1] == '=' &&
	       shell_assignment_read(lexer->text, word, &assignment) &&
	       assignment.value.start == lexer->at;
}

/* What stands in parentheses inside a word; *is_end: nothing of the kind. */
static bool skip_grouped(struct shell_lexer *lexer, size_t start, bool *is_end)
{
	bool is_process = lexer->text[lexer->at] != '(';

	*is_end = is_process ? shell_peek(lexer, 1) != '('
			     : lexer->at == start || !is_array(lexer, start);
	if (*is_end)
		return true;
	if (is_process) {
		lexer->met |= SHELL_MET_PROCESS;
		lexer->at++;
	}
	if (!deeper(lexer) ||
	    !(is_process ? skip_command(lexer) : skip_array(lexer)))
		return false;
	lexer->depth--;
	return true;
}

bool shell_skip_word(struct shell_lexer *lexer)
{
	size_t start = lexer->at;
	bool is_end = false;

	while (lexer->at < lexer->length && !is_end) {
		char c = lexer->text[lexer->at];
		bool is_fine = true;

		if (c == '\0' || strchr(" \t\n;&|)", c))
			is_end = true;
		else if (c == '(' || c == '<' || c == '>')
			is_fine = skip_grouped(lexer, start, &is_end);
		else if (skip_is_special(c))
			is_fine = skip_special(lexer);
		else
			lexer->at++;
		if (!is_fine)
			return false;
	}
	return true;
}
