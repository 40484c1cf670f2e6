/* The smallest pieces of Python text: strings, words, values. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/files/pytext.h"

#include "base/alloc.h"
#include "base/strbuf.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Each byte of a script comes by here: isalpha() would be a call. */
bool pytext_is_word_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool pytext_is_word(char c)
{
	return pytext_is_word_start(c) || (c >= '0' && c <= '9');
}

bool pytext_is_quote(char c)
{
	return c == '"' || c == '\'';
}

void pytext_step(struct pytext *cursor)
{
	assert(cursor->at < cursor->end);
	if (*cursor->at++ == '\n') {
		cursor->line++;
		cursor->line_start = cursor->at;
	}
}

void pytext_skip_comment(struct pytext *cursor)
{
	while (cursor->at < cursor->end && *cursor->at != '\n')
		cursor->at++;
}

/* Blanks on the line; with newlines and comments too inside brackets. */
void pytext_skip_blanks(struct pytext *cursor, bool lines)
{
	while (cursor->at < cursor->end) {
		if (*cursor->at == ' ' || *cursor->at == '\t' ||
		    (lines && isspace((unsigned char)*cursor->at)))
			pytext_step(cursor);
		else if (lines && *cursor->at == '#')
			pytext_skip_comment(cursor);
		else
			return;
	}
}

/* The text between the quotes at the cursor, which is left behind them. */
void pytext_string(struct pytext *cursor, const char **text, size_t *length)
{
	char quote = *cursor->at;
	size_t marks = 1;

	assert(cursor->at < cursor->end && pytext_is_quote(quote));
	if (cursor->end - cursor->at >= 3 && cursor->at[1] == quote &&
	    cursor->at[2] == quote)
		marks = 3;
	cursor->at += marks;
	*text = cursor->at;
	while (cursor->at < cursor->end) {
		if (*cursor->at == '\\' && cursor->at + 1 < cursor->end) {
			pytext_step(cursor);
		} else if (marks == 1 && *cursor->at == '\n') {
			break; /* not closed: the next line is code again */
		} else if (*cursor->at == quote &&
			   (marks == 1 || (cursor->end - cursor->at >= 3 &&
					   cursor->at[1] == quote &&
					   cursor->at[2] == quote))) {
			*length = (size_t)(cursor->at - *text);
			cursor->at += marks;
			return;
		}
		pytext_step(cursor);
	}
	assert(cursor->at <= cursor->end);
	*length = (size_t)(cursor->at - *text);
}

void pytext_word(struct pytext *cursor, const char **text, size_t *length)
{
	*text = cursor->at;
	while (cursor->at < cursor->end && pytext_is_word(*cursor->at))
		cursor->at++;
	*length = (size_t)(cursor->at - *text);
}

bool pytext_word_is(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* Digits with "_" between them; false when there are none or too many. */
static bool read_digits(struct pytext *cursor, int64_t *value)
{
	const char *start = cursor->at;

	*value = 0;
	while (cursor->at < cursor->end &&
	       (isdigit((unsigned char)*cursor->at) || *cursor->at == '_')) {
		if (*cursor->at != '_' &&
		    (__builtin_mul_overflow(*value, 10, value) ||
		     __builtin_add_overflow(*value, *cursor->at - '0', value)))
			return false;
		cursor->at++;
	}
	return cursor->at > start && isdigit((unsigned char)*start);
}

/* Is the value over here? A dot or an operator says that it goes on. */
static bool at_end_of_value(struct pytext *cursor, bool in_brackets)
{
	pytext_skip_blanks(cursor, in_brackets);
	return cursor->at >= cursor->end || strchr(",)]}\r\n#;", *cursor->at);
}

/* Over the ".0" of 8.0, if that is there. */
static bool skip_zeros_behind_point(struct pytext *cursor)
{
	if (cursor->end - cursor->at < 2 || cursor->at[0] != '.' ||
	    cursor->at[1] != '0')
		return false;
	cursor->at++;
	while (cursor->at < cursor->end && *cursor->at == '0')
		cursor->at++;
	return true;
}

/* 8, 5 * 8, "8", 8.0, None, or something else. */
enum source_value pytext_value(struct pytext *cursor, bool in_brackets,
			       int64_t *value)
{
	const char *text;
	size_t length;
	int64_t factor;

	*value = 0;
	if (cursor->at >= cursor->end)
		return SOURCE_OTHER;
	if (pytext_is_quote(*cursor->at)) {
		struct pytext inner = *cursor;

		pytext_string(cursor, &text, &length);
		inner.at = text;
		inner.end = text + length;
		if (read_digits(&inner, value) && inner.at == inner.end &&
		    at_end_of_value(cursor, in_brackets))
			return SOURCE_INTEGER;
		return SOURCE_OTHER;
	}
	if (pytext_is_word_start(*cursor->at)) {
		pytext_word(cursor, &text, &length);
		return pytext_word_is(text, length, "None") &&
				       at_end_of_value(cursor, in_brackets)
			       ? SOURCE_NONE
			       : SOURCE_OTHER;
	}
	if (!read_digits(cursor, value))
		return SOURCE_OTHER;
	if (skip_zeros_behind_point(cursor))
		return at_end_of_value(cursor, in_brackets) ? SOURCE_WHOLE
							    : SOURCE_OTHER;
	while (!at_end_of_value(cursor, in_brackets)) {
		if (*cursor->at != '*')
			return SOURCE_OTHER;
		cursor->at++;
		pytext_skip_blanks(cursor, in_brackets);
		if (!read_digits(cursor, &factor) ||
		    __builtin_mul_overflow(*value, factor, value))
			return SOURCE_OTHER;
	}
	return SOURCE_INTEGER;
}

/* To the next ',' or closing bracket of this call. */
void pytext_skip_argument(struct pytext *cursor)
{
	int depth = 0;
	const char *text;
	size_t length;

	while (cursor->at < cursor->end) {
		char c = *cursor->at;

		if (pytext_is_quote(c)) {
			pytext_string(cursor, &text, &length);
			continue;
		}
		if (c == '#') {
			pytext_skip_comment(cursor);
			continue;
		}
		if (depth == 0 &&
		    (c == ',' || c == ')' || c == ']' || c == '}'))
			return;
		if (c == '(' || c == '[' || c == '{')
			depth++;
		else if (c == ')' || c == ']' || c == '}')
			depth--;
		pytext_step(cursor);
	}
}

bool pytext_skip_type(struct pytext *cursor)
{
	bool is_int = false;
	const char *text;
	size_t length;
	int depth = 0;

	cursor->at++;
	while (cursor->at < cursor->end) {
		char c = *cursor->at;

		if (pytext_is_word_start(c)) {
			pytext_word(cursor, &text, &length);
			is_int |= pytext_word_is(text, length, "int");
			continue;
		}
		if (pytext_is_quote(c)) {
			pytext_string(cursor, &text, &length);
			is_int |= depth == 0 && length >= 3 &&
				  memmem(text, length, "int", 3);
			continue;
		}
		if (depth == 0 && strchr("=,)\n#", c))
			break;
		depth += (c == '[' || c == '(') - (c == ']' || c == ')');
		pytext_step(cursor);
	}
	return is_int;
}

char *pytext_strings(struct pytext *cursor)
{
	struct strbuf words = STRBUF_INIT;
	const char *text;
	size_t length;

	strbuf_adds(&words, "");
	while (cursor->at < cursor->end && pytext_is_quote(*cursor->at)) {
		pytext_string(cursor, &text, &length);
		strbuf_add(&words, text, length);
		pytext_skip_blanks(cursor, true);
	}
	return strbuf_detach(&words);
}

char *pytext_string_alone(struct pytext cursor)
{
	char *text = pytext_strings(&cursor);

	if (*text && cursor.at < cursor.end &&
	    (*cursor.at == ',' || *cursor.at == ')'))
		return text;
	free(text);
	return NULL;
}

/* Over dataclasses.field( or typer.Option(; false: it is no such call. */
static bool skip_holder(struct pytext *cursor)
{
	static const char *const holders[] = { "field", "Field",    "Option",
					       "arg",   "Argument", "ib" };
	struct pytext ahead = *cursor;
	const char *text = "";
	size_t length = 0;

	while (ahead.at < ahead.end && pytext_is_word_start(*ahead.at)) {
		pytext_word(&ahead, &text, &length);
		if (ahead.at < ahead.end && *ahead.at == '.')
			ahead.at++;
	}
	if (ahead.at >= ahead.end || *ahead.at != '(')
		return false;
	for (size_t i = 0; i < sizeof(holders) / sizeof(*holders); i++) {
		if (!pytext_word_is(text, length, holders[i]))
			continue;
		ahead.at++;
		assert(ahead.at <= ahead.end);
		*cursor = ahead;
		return true;
	}
	return false;
}

/* The strings behind "=" or ":", in brackets or not; NULL: there are none. */
static char *help_value(struct pytext *cursor)
{
	pytext_skip_blanks(cursor, true);
	if (cursor->at >= cursor->end || !strchr("=:", *cursor->at))
		return NULL;
	cursor->at++;
	pytext_skip_blanks(cursor, true);
	if (cursor->at < cursor->end && *cursor->at == '(')
		pytext_step(cursor);
	pytext_skip_blanks(cursor, true);
	return cursor->at < cursor->end && pytext_is_quote(*cursor->at)
		       ? pytext_strings(cursor)
		       : NULL;
}

/* help="..." of the call, or "help": "..." of a dictionary in it. */
static char *help_in(struct pytext cursor)
{
	int depth = 0;
	const char *text;
	size_t length;
	char *found;

	while (cursor.at < cursor.end && depth >= 0) {
		char c = *cursor.at;

		if (c == '#') {
			pytext_skip_comment(&cursor);
			continue;
		}
		if (pytext_is_quote(c)) {
			pytext_string(&cursor, &text, &length);
		} else if (pytext_is_word_start(c)) {
			pytext_word(&cursor, &text, &length);
		} else {
			depth += (c == '(' || c == '[' || c == '{') -
				 (c == ')' || c == ']' || c == '}');
			pytext_step(&cursor);
			continue;
		}
		if (!pytext_word_is(text, length, "help") &&
		    !pytext_word_is(text, length, "description"))
			continue;
		found = help_value(&cursor);
		if (found)
			return found;
	}
	return NULL;
}

enum source_value pytext_default(struct pytext *cursor, bool in_brackets,
				 int64_t *value, char **help)
{
	enum source_value kind = SOURCE_OTHER;
	const char *text;
	size_t length;

	*help = NULL;
	*value = 0;
	if (!skip_holder(cursor))
		return pytext_value(cursor, in_brackets, value);
	*help = help_in(*cursor);
	for (;;) {
		struct pytext word = *cursor;

		pytext_skip_blanks(cursor, true);
		if (cursor->at >= cursor->end || *cursor->at == ')')
			return kind;
		word = *cursor;
		pytext_word(&word, &text, &length);
		pytext_skip_blanks(&word, true);
		if (word.at < word.end && *word.at == '=') {
			word.at++;
			pytext_skip_blanks(&word, true);
			if (pytext_word_is(text, length, "default"))
				return pytext_value(&word, true, value);
		} else if (*cursor->at >= '0' && *cursor->at <= '9') {
			return pytext_value(cursor, true, value);
		}
		pytext_skip_argument(cursor);
		if (cursor->at >= cursor->end || *cursor->at != ',')
			return kind;
		cursor->at++;
	}
}

char *pytext_comment(const struct pytext *cursor)
{
	struct pytext ahead = *cursor;
	const char *end;

	pytext_skip_blanks(&ahead, false);
	if (ahead.at >= ahead.end || *ahead.at != '#')
		return NULL;
	end = memchr(ahead.at, '\n', (size_t)(ahead.end - ahead.at));
	end = end ? end : ahead.end;
	while (ahead.at < end && strchr("# \t", *ahead.at))
		ahead.at++;
	return xstrndup(ahead.at, (size_t)(end - ahead.at));
}
