/* Bytes of config files: strings, words, the rest of a line. */
/* SPDX-License-Identifier: MIT */
#include "configs/settings/settings_internal.h"

#include <string.h>

char settings_peek(const struct settings_reader *reader, size_t ahead)
{
	if (ahead >= reader->length - reader->at)
		return '\0';
	return reader->text[reader->at + ahead];
}

bool settings_starts(const struct settings_reader *reader, const char *text)
{
	size_t length;

	/* Most are not even this: asked of each byte for a list of words. */
	if (reader->at == reader->length || reader->text[reader->at] != *text)
		return false;
	length = strlen(text);
	return length <= reader->length - reader->at &&
	       memcmp(reader->text + reader->at, text, length) == 0;
}

void settings_skip_bom(struct settings_reader *reader)
{
	if (reader->at == 0 && settings_starts(reader, "\xef\xbb\xbf"))
		reader->at = 3;
}

void settings_skip_line(struct settings_reader *reader)
{
	while (reader->at < reader->length &&
	       reader->text[reader->at] != '\n' &&
	       reader->text[reader->at] != '\r')
		reader->at++;
}

/* Over a backslash and what it protects: a CRLF is one line end. */
static void skip_escape(struct settings_reader *reader)
{
	bool is_crlf = settings_peek(reader, 1) == '\r' &&
		       settings_peek(reader, 2) == '\n';
	size_t left = reader->length - reader->at;
	size_t width = is_crlf ? 3 : 2;

	reader->at += width < left ? width : left;
}

static bool is_close(const struct settings_reader *reader, char quote,
		     bool is_triple)
{
	if (settings_peek(reader, 0) != quote)
		return false;
	return !is_triple || (settings_peek(reader, 1) == quote &&
			      settings_peek(reader, 2) == quote);
}

static int scan_body(struct settings_reader *reader, char quote,
		     enum settings_escapes escapes,
		     struct settings_string *string)
{
	while (!is_close(reader, quote, string->is_triple)) {
		char c = settings_peek(reader, 0);

		if (c == '\0')
			return settings_fail(reader, string->start,
					     "a string has no end");
		if (c == '\n' || c == '\r') {
			if (!string->is_triple)
				return settings_fail(
					reader, string->start,
					"a string does not end on its line");
			string->is_plain = false;
		}
		if (c == '\\')
			string->is_plain = false;
		if (c == '\\' && escapes == SETTINGS_ESCAPES)
			skip_escape(reader);
		else
			reader->at++;
	}
	return 0;
}

int settings_scan_string(struct settings_reader *reader,
			 enum settings_escapes escapes,
			 struct settings_string *string)
{
	char quote = settings_peek(reader, 0);
	size_t width;
	int result;

	string->start = reader->at;
	string->is_triple = is_close(reader, quote, true);
	string->is_plain = true;
	width = string->is_triple ? 3 : 1;
	reader->at += width;
	string->body_start = reader->at;
	result = scan_body(reader, quote, escapes, string);
	if (result < 0)
		return result;
	string->body_end = reader->at;
	reader->at += width;
	string->end = reader->at;
	return 0;
}
