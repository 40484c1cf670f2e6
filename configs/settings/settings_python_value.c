/* Values in Python source: literals, dicts, lists; the rest is skipped. */
/* SPDX-License-Identifier: MIT */
#include "configs/settings/settings_python.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The value that began here, if nothing follows it. */
struct primary {
	size_t start;
	bool is_known;
};

static int python_value_add_bytes(struct python *python,
				  const struct settings_piece *piece,
				  size_t start, size_t end)
{
	return settings_add(python->reader, piece, python->reader->text + start,
			    end - start);
}

static int python_value_read_string(struct python *python)
{
	struct python_token token = python->place.token;
	struct settings_piece piece = {
		.start = token.start,
		.end = token.end,
		.is_scalar = token.is_plain && !python->is_doubtful,
	};
	int result = python_value_add_bytes(python, &piece, token.body_start,
					    token.body_end);

	return result < 0 ? result : python_advance(python);
}

/* From its start, which may be a sign. */
static int read_number(struct python *python, size_t start)
{
	size_t end = python->place.token.end;
	int result = settings_add_source(python->reader, start, end,
					 !python->is_doubtful);

	return result < 0 ? result : python_advance(python);
}

/* -8 is a number; - 8 and -x are expressions. */
static int read_signed(struct python *python, struct primary *primary)
{
	int result = python_advance(python);

	primary->is_known = python->place.token.kind == PYTHON_NUMBER &&
			    python->place.token.start == primary->start + 1;
	if (result < 0 || !primary->is_known)
		return result;
	return read_number(python, primary->start);
}

static int close_bracket(struct python *python, char close)
{
	struct settings_reader *reader = python->reader;
	size_t start = python->place.token.start;

	if (python->place.token.kind != PYTHON_CLOSE ||
	    reader->text[start] != close)
		return settings_fail(reader, start,
				     "this is not the bracket that is open");
	settings_leave(reader);
	return python_advance(python);
}

/* Over the comma behind an element, if there is one. */
static int skip_comma(struct python *python, bool *has_comma)
{
	*has_comma = python_is(python, ",");
	return *has_comma ? python_advance(python) : 0;
}

/* [a, b] or (a, b); (a) is an expression. */
static int read_sequence(struct python *python, char close,
			 struct primary *primary)
{
	struct settings_reader *reader = python->reader;
	size_t length = reader->path.length;
	bool has_comma = true, had_comma = false;
	size_t index = 0;
	int result = settings_enter(reader, python->place.token.start);

	if (result == 0)
		result = python_advance(python);
	while (result == 0 && has_comma &&
	       python->place.token.kind != PYTHON_CLOSE) {
		settings_path_index(&reader->path, index++);
		result = python_read_value(python);
		settings_path_cut(&reader->path, length);
		if (result == 0)
			result = skip_comma(python, &has_comma);
		had_comma = had_comma || has_comma;
	}
	if (result < 0)
		return result;
	primary->is_known = close == ']' || had_comma || index == 0;
	return close_bracket(python, close);
}

/* The key of name=value or "name": value; nothing is skipped if it is none. */
static int python_value_read_key(struct python *python, char close,
				 bool *is_key)
{
	struct python_place before = python->place;
	const struct python_token *token = &before.token;
	bool is_call = close == ')';
	int result;

	*is_key = is_call ? token->kind == PYTHON_NAME
			  : token->kind == PYTHON_STRING && token->is_plain;
	if (!*is_key)
		return 0;
	result = python_advance(python);
	if (result < 0)
		return result;
	*is_key = python_is(python, is_call ? "=" : ":");
	if (!*is_key) {
		python->place = before;
		return 0;
	}
	if (is_call)
		settings_path_key(&python->reader->path,
				  python->reader->text + token->start,
				  token->end - token->start);
	else
		settings_path_key(&python->reader->path,
				  python->reader->text + token->body_start,
				  token->body_end - token->body_start);
	return python_advance(python);
}

static int python_value_read_entry(struct python *python, char close,
				   unsigned brackets, size_t first)
{
	struct settings *settings = python->reader->settings;
	size_t length = python->reader->path.length;
	bool is_key;
	int result = python_value_read_key(python, close, &is_key);

	if (result < 0)
		return result;
	if (is_key) {
		result = python_read_value(python);
		settings_path_cut(&python->reader->path, length);
		return result;
	}
	/* **x or a computed key may replace what {} had before it. */
	for (size_t i = first; close == '}' && i < settings->count; i++)
		settings->items[i].is_scalar = false;
	return python_skip_value(python, brackets);
}

/* Behind the opening bracket of dict(...) or {...}. */
static int read_entries(struct python *python, char close,
			struct primary *primary)
{
	struct settings_reader *reader = python->reader;
	unsigned brackets = python->place.brackets + 1;
	size_t first = reader->settings->count;
	bool has_comma = true;
	int result = settings_enter(reader, primary->start);

	if (result == 0)
		result = python_advance(python);
	while (result == 0 && has_comma &&
	       python->place.token.kind != PYTHON_CLOSE) {
		result =
			python_value_read_entry(python, close, brackets, first);
		if (result == 0)
			result = skip_comma(python, &has_comma);
	}
	if (result < 0)
		return result;
	primary->is_known = true;
	return close_bracket(python, close);
}

static int python_value_read_name(struct python *python,
				  struct primary *primary)
{
	struct settings_reader *reader = python->reader;
	struct settings_piece piece = {
		.start = primary->start,
		.end = python->place.token.end,
		.is_scalar = !python->is_doubtful,
	};
	bool is_none = python_is_name(python, "None");
	bool is_dict = python_is_name(python, "dict");
	int result = 0;

	/* Its commas are its own: python_skip_value must see where it begins.
	 */
	if (python_is_name(python, "lambda"))
		return 0;
	primary->is_known = is_none || python_is_name(python, "True") ||
			    python_is_name(python, "False");
	if (primary->is_known)
		result = python_value_add_bytes(python, &piece, piece.start,
						is_none ? piece.start
							: piece.end);
	if (result == 0)
		result = python_advance(python);
	if (result == 0 && is_dict && python->place.token.kind == PYTHON_OPEN &&
	    reader->text[python->place.token.start] == '(')
		return read_entries(python, ')', primary);
	return result;
}

static int read_bracket(struct python *python, struct primary *primary)
{
	switch (python->reader->text[python->place.token.start]) {
	case '{':
		return read_entries(python, '}', primary);
	case '[':
		return read_sequence(python, ']', primary);
	default:
		return read_sequence(python, ')', primary);
	}
}

static int read_primary(struct python *python, struct primary *primary)
{
	const struct python_token *token = &python->place.token;

	switch (token->kind) {
	case PYTHON_NAME:
		return python_value_read_name(python, primary);
	case PYTHON_NUMBER:
		primary->is_known = true;
		return read_number(python, token->start);
	case PYTHON_STRING:
		primary->is_known = true;
		return python_value_read_string(python);
	case PYTHON_OPEN:
		return read_bracket(python, primary);
	case PYTHON_OPERATOR:
		if (python_is(python, "-") || python_is(python, "+"))
			return read_signed(python, primary);
		return 0;
	case PYTHON_CLOSE:
	case PYTHON_NEWLINE:
	case PYTHON_END:
		break;
	}
	return 0;
}

static const char *value_skip_blanks(const char *text, const char *end)
{
	while (text < end && *text == ' ')
		text++;
	return text;
}

/* A whole number that Python would take, and the blanks behind it. */
static bool read_factor(const char **text, const char *end, int64_t *factor)
{
	const char *start = *text;

	*factor = 0;
	for (; *text < end && **text >= '0' && **text <= '9'; ++*text)
		if (__builtin_mul_overflow(*factor, 10, factor) ||
		    __builtin_add_overflow(*factor, **text - '0', factor))
			return false;
	if (*text == start || (*start == '0' && *text > start + 1))
		return false;
	*text = value_skip_blanks(*text, end);
	return true;
}

/* 5 * 8 is 40, and is written anew as a whole. */
static bool read_product(const char *text, const char *end, int64_t *product)
{
	int64_t factor;

	if (!read_factor(&text, end, product))
		return false;
	while (text < end) {
		if (*text++ != '*')
			return false;
		text = value_skip_blanks(text, end);
		if (!read_factor(&text, end, &factor) ||
		    __builtin_mul_overflow(*product, factor, product))
			return false;
	}
	return true;
}

/* What is none of the literals, from there to the end of the value. */
static int add_expression(struct python *python, size_t start)
{
	struct settings_reader *reader = python->reader;
	struct settings_piece piece = { .start = start,
					.end = python->place.last_end,
					.is_scalar = !python->is_doubtful };
	char value[24];
	int64_t product;

	if (!read_product(reader->text + piece.start, reader->text + piece.end,
			  &product))
		return settings_add_source(reader, piece.start, piece.end,
					   false);
	(void)snprintf(value, sizeof(value), "%" PRId64, product);
	return settings_add(reader, &piece, value, strlen(value));
}

int python_read_value(struct python *python)
{
	struct settings_reader *reader = python->reader;
	unsigned brackets = python->place.brackets;
	size_t count = reader->settings->count;
	struct primary primary = { .start = python->place.token.start };
	int result = read_primary(python, &primary);

	if (result < 0 ||
	    (primary.is_known && python_is_value_end(python, brackets)))
		return result;
	reader->settings->count = count;
	result = python_skip_value(python, brackets);
	if (result < 0 || python->place.last_end <= primary.start)
		return result;
	return add_expression(python, primary.start);
}
