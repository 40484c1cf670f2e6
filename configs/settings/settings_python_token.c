/* Python source as tokens: enough to know what is a value and what is not. */
/* SPDX-License-Identifier: MIT */
#include "configs/settings/settings_python.h"

#include <string.h>

static bool is_name_start(char c)
{
	return settings_is_letter(c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_name_part(char c)
{
	return is_name_start(c) || name_is_digit(c);
}

static bool is_line_end(char c)
{
	return c == '\n' || c == '\r';
}

static void skip_line_end(struct settings_reader *reader)
{
	reader->at += settings_starts(reader, "\r\n") ? 2 : 1;
}

/* Between tokens; inside brackets a line end is nothing. */
static void skip_nothing(struct settings_reader *reader, unsigned brackets)
{
	for (;;) {
		char c = settings_peek(reader, 0);

		if (c == ' ' || c == '\t' || c == '\f') {
			reader->at++;
		} else if (c == '#') {
			settings_skip_line(reader);
		} else if (c == '\\' && is_line_end(settings_peek(reader, 1))) {
			reader->at++;
			skip_line_end(reader);
		} else if (is_line_end(c) && brackets) {
			skip_line_end(reader);
		} else {
			return;
		}
	}
}

/*
 * Up to Python 3.11 no quote of its own kind can be in the braces of an
 * f-string; later ones may nest. Then the braces seem to stay open.
 */
static bool has_open_braces(const char *text, size_t length)
{
	unsigned open = 0;

	for (size_t i = 0; i < length; i++) {
		bool is_double = i + 1 < length && text[i + 1] == text[i];

		if (text[i] != '{' && text[i] != '}')
			continue;
		if (!open && is_double)
			i++;
		else if (text[i] == '{')
			open++;
		else if (open)
			open--;
	}
	return open > 0;
}

/* rb"...": the letters before the quote. */
static int lex_string(struct settings_reader *reader,
		      struct python_token *token, size_t prefix)
{
	bool is_formatted = false;
	struct settings_string string;
	int result;

	for (size_t i = 0; i < prefix; i++)
		if (strchr("fFtT", settings_peek(reader, i)))
			is_formatted = true;
	reader->at += prefix;
	result = settings_scan_string(reader, SETTINGS_ESCAPES, &string);
	if (result < 0)
		return result;
	if (is_formatted &&
	    has_open_braces(reader->text + string.body_start,
			    string.body_end - string.body_start))
		return settings_fail(reader, token->start,
				     "quotes in the braces of an f-string are "
				     "not understood");
	token->kind = PYTHON_STRING;
	token->body_start = string.body_start;
	token->body_end = string.body_end;
	token->is_plain = prefix == 0 && string.is_plain && !string.is_triple;
	return 0;
}

static int lex_name(struct settings_reader *reader, struct python_token *token)
{
	size_t length = 0;
	char next;

	while (is_name_part(settings_peek(reader, length)))
		length++;
	next = settings_peek(reader, length);
	if (length <= 2 && (next == '"' || next == '\'')) {
		size_t letters = 0;

		while (letters < length &&
		       strchr("rRbBuUfFtT", settings_peek(reader, letters)))
			letters++;
		if (letters == length)
			return lex_string(reader, token, length);
	}
	token->kind = PYTHON_NAME;
	reader->at += length;
	return 0;
}

/* 8, 1_000, 0x10, .5, 1e-3, 2j */
static void lex_number(struct settings_reader *reader,
		       struct python_token *token)
{
	bool is_hex =
		settings_starts(reader, "0x") || settings_starts(reader, "0X");

	token->kind = PYTHON_NUMBER;
	for (;;) {
		char c = settings_peek(reader, 0);
		char next = settings_peek(reader, 1);

		if (!is_name_part(c) && c != '.')
			return;
		reader->at++;
		if (!is_hex && (c == 'e' || c == 'E') &&
		    (next == '-' || next == '+'))
			reader->at++;
	}
}

/* The longest first: == is not =. */
static void lex_operator(struct settings_reader *reader,
			 struct python_token *token)
{
	static const char *const longer[] = {
		"**=", "//=", ">>=", "<<=", "...", "**", "==", "!=",
		"<=",  ">=",  "->",  ":=",  "+=",  "-=", "*=", "/=",
		"%=",  "&=",  "|=",  "^=",  "@=",  "//", ">>", "<<",
	};

	char second = settings_peek(reader, 1);
	bool is_longer = second && strchr("*/=><.", second);

	token->kind = PYTHON_OPERATOR;
	for (size_t i = 0; is_longer && i < sizeof(longer) / sizeof(*longer);
	     i++)
		if (settings_starts(reader, longer[i])) {
			reader->at += strlen(longer[i]);
			return;
		}
	reader->at++;
}

static int lex(struct settings_reader *reader, struct python_token *token)
{
	char c = settings_peek(reader, 0);

	if (c == '\0') {
		token->kind = PYTHON_END;
	} else if (is_line_end(c)) {
		token->kind = PYTHON_NEWLINE;
		skip_line_end(reader);
	} else if (c == '"' || c == '\'') {
		return lex_string(reader, token, 0);
	} else if (is_name_start(c)) {
		return lex_name(reader, token);
	} else if (name_is_digit(c) ||
		   (c == '.' && name_is_digit(settings_peek(reader, 1)))) {
		lex_number(reader, token);
	} else if (strchr("([{", c)) {
		token->kind = PYTHON_OPEN;
		reader->at++;
	} else if (strchr(")]}", c)) {
		token->kind = PYTHON_CLOSE;
		reader->at++;
	} else {
		lex_operator(reader, token);
	}
	return 0;
}

int python_advance(struct python *python)
{
	struct settings_reader *reader = python->reader;
	struct python_place *place = &python->place;
	int result;

	place->last_end = place->token.end;
	if (place->token.kind == PYTHON_OPEN &&
	    ++place->brackets > SETTINGS_DEPTH_MAX)
		return settings_fail(reader, place->token.start,
				     "it is nested too deep");
	if (place->token.kind == PYTHON_CLOSE)
		place->brackets--;
	reader->at = place->at;
	skip_nothing(reader, place->brackets);
	place->token = (struct python_token){ .start = reader->at };
	result = lex(reader, &place->token);
	if (result < 0)
		return result;
	place->token.end = reader->at;
	place->at = reader->at;
	if (place->token.kind == PYTHON_END && place->brackets)
		return settings_fail(reader, place->last_end,
				     "a bracket is not closed");
	if (place->token.kind == PYTHON_CLOSE && !place->brackets)
		return settings_fail(reader, place->token.start,
				     "this bracket was not opened");
	return 0;
}

static bool python_token_is(const struct python *python, enum python_kind kind,
			    const char *text)
{
	const struct python_token *token = &python->place.token;
	const char *start = python->reader->text + token->start;
	size_t length;

	/* Most are not even this: asked of each token for a list of words. */
	if (token->kind != kind || *start != *text)
		return false;
	length = strlen(text);
	return token->end - token->start == length &&
	       memcmp(start, text, length) == 0;
}

bool python_is(const struct python *python, const char *operator)
{
	return python_token_is(python, PYTHON_OPERATOR, operator);
}

bool python_is_name(const struct python *python, const char *name)
{
	return python_token_is(python, PYTHON_NAME, name);
}

bool python_is_value_end(const struct python *python, unsigned brackets)
{
	enum python_kind kind = python->place.token.kind;

	if (kind == PYTHON_END)
		return true;
	if (python->place.brackets != brackets)
		return false;
	if (brackets)
		return kind == PYTHON_CLOSE || python_is(python, ",");
	return kind == PYTHON_NEWLINE || python_is(python, ";");
}

/* The commas of a lambda are its own: nothing is known up to the bracket. */
int python_skip_value(struct python *python, unsigned brackets)
{
	bool has_lambda = false;

	while (!python_is_value_end(python, brackets) ||
	       (has_lambda && python_is(python, ","))) {
		int result;

		if (python->place.brackets == brackets &&
		    python_is_name(python, "lambda"))
			has_lambda = true;
		result = python_advance(python);
		if (result < 0)
			return result;
	}
	return 0;
}
