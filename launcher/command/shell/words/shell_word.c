/* What stands inside one word: bytes, quotes, parameters, assignments. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/shell/words/shell_word.h"

#include "base/name.h"

#include <assert.h>
#include <string.h>

void shell_parts_begin(struct shell_parts *parts, const char *text,
		       struct shell_span word, bool is_nested)
{
	assert(word.start <= word.end);
	*parts = (struct shell_parts){
		.lexer = { .text = text,
			   .length = word.end,
			   .at = word.start,
			   .line_at = word.start },
		.in_double = is_nested,
		.is_nested = is_nested,
	};
}

static enum shell_part_kind word_take(struct shell_parts *parts,
				      struct shell_part *part,
				      enum shell_part_kind kind, size_t length)
{
	struct shell_lexer *lexer = &parts->lexer;

	part->kind = kind;
	part->is_quoted = parts->in_double;
	part->start = lexer->at;
	assert(lexer->at <= lexer->length);
	if (length > lexer->length - lexer->at)
		length = lexer->length - lexer->at;
	lexer->at += length;
	part->end = lexer->at;
	return kind;
}

/* 0: the parameter is not one of those whose value can be told. */
static size_t parameter_length(const char *text, size_t length)
{
	size_t count = 0;

	if (length && (text[0] == '@' || text[0] == '*'))
		return 1;
	while (count < length && name_is_digit(text[count]))
		count++;
	return count ? count : shell_name_length(text, length);
}

/* Behind the name, between the braces: false: not understood. */
static bool read_operation(const char *text, struct shell_part *part, size_t at,
			   size_t end)
{
	bool is_list =
		text[part->name.start] == '@' || text[part->name.start] == '*';

	assert(part->name.start < part->name.end && at <= end);
	if (at < end && text[at] == '[') {
		const char *close = memchr(text + at, ']', end - at);

		if (!close || is_list)
			return false;
		part->has_index = true;
		part->index.start = at + 1;
		part->index.end = (size_t)(close - text);
		at = part->index.end + 1;
	}
	part->word.end = end;
	part->word.start = end;
	if (at == end)
		return true;
	part->has_colon = text[at] == ':';
	if (part->has_colon)
		at++;
	if (at == end)
		return false;
	part->word.start = at + 1;
	part->operation = text[at];
	if (strchr("-=?+", text[at]))
		return text[at] != '\0';
	part->operation = 's';
	part->word.start = at;
	return is_list && part->has_colon;
}

/* lexer->at is on ${. */
static void read_brace(struct shell_parts *parts, struct shell_part *part)
{
	const char *text = parts->lexer.text;
	size_t start = parts->lexer.at + 2;
	size_t end;

	part->start = parts->lexer.at;
	part->is_quoted = parts->in_double;
	if (!shell_skip_dollar(&parts->lexer, parts->in_double)) {
		/* Read as a token before, so it is never so. */
		parts->lexer.at = parts->lexer.length;
	}
	part->end = parts->lexer.at;
	end = part->end > start ? part->end - 1 : start;
	part->name.start = start;
	part->name.end = start + parameter_length(text + start, end - start);
	assert(part->name.end <= end && end <= part->end);
	part->kind =
		part->name.end > start &&
				read_operation(text, part, part->name.end, end)
			? SHELL_PART_PARAMETER
			: SHELL_PART_OPAQUE;
}

static void read_opaque(struct shell_parts *parts, struct shell_part *part)
{
	struct shell_lexer *lexer = &parts->lexer;

	part->kind = SHELL_PART_OPAQUE;
	part->is_quoted = parts->in_double;
	part->start = lexer->at;
	if (lexer->text[lexer->at] == '`') {
		(void)shell_skip_backquote(lexer);
	} else if (lexer->text[lexer->at] != '$') {
		lexer->at++;
		(void)shell_skip_balanced(lexer);
	} else {
		(void)shell_skip_dollar(lexer, parts->in_double);
	}
	if (lexer->at > lexer->length)
		lexer->at = lexer->length;
	part->end = lexer->at;
}

/* $'...': the part is what stands between the quotes. */
static void read_ansi(struct shell_parts *parts, struct shell_part *part)
{
	struct shell_lexer *lexer = &parts->lexer;

	part->kind = SHELL_PART_ANSI;
	part->is_quoted = true;
	part->start = lexer->at + 2;
	(void)shell_skip_dollar(lexer, false);
	part->end = lexer->at - 1;
	assert(part->start <= part->end &&
	       "a closed quote was read as a token");
}

static void read_dollar(struct shell_parts *parts, struct shell_part *part)
{
	struct shell_lexer *lexer = &parts->lexer;
	const char *text = lexer->text + lexer->at + 1;
	size_t left = lexer->length - lexer->at - 1;
	char next = shell_peek(lexer, 1);
	size_t length =
		next && name_is_digit(next) ? 1 : parameter_length(text, left);

	if (next == '\'' && !parts->in_double) {
		read_ansi(parts, part);
	} else if (next == '{') {
		read_brace(parts, part);
	} else if (next == '(' || next == '[') {
		read_opaque(parts, part);
	} else if (length) {
		part->name.start = lexer->at + 1;
		part->name.end = part->name.start + length;
		(void)word_take(parts, part, SHELL_PART_PARAMETER, length + 1);
	} else if (next && strchr("#?$!-", next)) {
		(void)word_take(parts, part, SHELL_PART_OPAQUE, 2);
	} else {
		(void)word_take(parts, part, SHELL_PART_TEXT, 1);
	}
}

/* A backslash before it vanishes between double quotes. */
static bool word_is_escaped(const struct shell_parts *parts, char c)
{
	return c && (strchr("$`\"\\", c) || (c == '}' && parts->is_nested));
}

/* lexer->at is on a backslash; false: it and its newline are nothing. */
static bool read_backslash(struct shell_parts *parts, struct shell_part *part)
{
	struct shell_lexer *lexer = &parts->lexer;
	size_t left = lexer->length - lexer->at;
	char next = shell_peek(lexer, 1);

	if (left > 1 && next == '\n') {
		lexer->at += 2;
		return false;
	}
	if (left > 1 && (!parts->in_double || word_is_escaped(parts, next)))
		lexer->at++;
	(void)word_take(parts, part, SHELL_PART_TEXT, 1);
	part->is_quoted = true;
	return true;
}

static void read_single(struct shell_parts *parts, struct shell_part *part)
{
	struct shell_lexer *lexer = &parts->lexer;
	size_t start = ++lexer->at;
	const char *close =
		memchr(lexer->text + start, '\'', lexer->length - start);
	size_t length = close ? (size_t)(close - lexer->text) - start
			      : lexer->length - start;

	(void)word_take(parts, part, SHELL_PART_TEXT, length);
	part->is_quoted = true;
	if (close)
		lexer->at++;
}

/* " opens or closes; false: nothing comes of it. */
static bool read_double(struct shell_parts *parts, struct shell_part *part)
{
	parts->lexer.at++;
	if (parts->is_nested)
		return false;
	parts->in_double = !parts->in_double;
	if (!parts->in_double)
		return false;
	(void)word_take(parts, part, SHELL_PART_TEXT, 0);
	return true;
}

/* $" is " but for languages. */
static bool is_dollar_quote(const struct shell_parts *parts)
{
	const struct shell_lexer *lexer = &parts->lexer;

	return !parts->in_double && lexer->at + 1 < lexer->length &&
	       lexer->text[lexer->at] == '$' &&
	       lexer->text[lexer->at + 1] == '"';
}

static bool is_process(const struct shell_parts *parts)
{
	const struct shell_lexer *lexer = &parts->lexer;
	const char *text = lexer->text + lexer->at;

	return !parts->in_double && lexer->at + 1 < lexer->length &&
	       (*text == '<' || *text == '>') && text[1] == '(';
}

static void read_plain(struct shell_parts *parts, struct shell_part *part)
{
	const struct shell_lexer *lexer = &parts->lexer;
	const char *stops = parts->in_double ? "\\\"$`" : "\\\"$`'<>";
	size_t length = 1;

	while (lexer->at + length < lexer->length) {
		char c = lexer->text[lexer->at + length];

		if (c && strchr(stops, c))
			break;
		length++;
	}
	(void)word_take(parts, part, SHELL_PART_TEXT, length);
}

/* False: go on. */
static bool read_part(struct shell_parts *parts, struct shell_part *part)
{
	char c = parts->lexer.text[parts->lexer.at];

	if (is_dollar_quote(parts)) {
		parts->lexer.at++;
		return false;
	}
	if (c == '\\')
		return read_backslash(parts, part);
	if (c == '"')
		return read_double(parts, part);
	if (c == '\'' && !parts->in_double)
		read_single(parts, part);
	else if (c == '`' || is_process(parts))
		read_opaque(parts, part);
	else if (c == '$')
		read_dollar(parts, part);
	else
		read_plain(parts, part);
	return true;
}

enum shell_part_kind shell_part_next(struct shell_parts *parts,
				     struct shell_part *part)
{
	*part = (struct shell_part){ .kind = SHELL_PART_END };
	while (parts->lexer.at < parts->lexer.length)
		if (read_part(parts, part))
			break;
	return part->kind;
}
