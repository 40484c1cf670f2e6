/* Arguments in a file: words between blanks, no quotes, as HF reads them. */
/* SPDX-License-Identifier: MIT */
#include "configs/settings/settings_internal.h"

#include <string.h>

struct args_word {
	size_t start, end;
};

/* What Python's str.split() takes for blanks, of ASCII. */
static bool args_is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') ||
	       (c >= '\x1c' && c <= '\x1f');
}

static bool args_next_word(struct settings_reader *reader,
			   struct args_word *word)
{
	while (args_is_blank(settings_peek(reader, 0)))
		reader->at++;
	word->start = reader->at;
	while (reader->at < reader->length &&
	       !args_is_blank(settings_peek(reader, 0)))
		reader->at++;
	word->end = reader->at;
	return word->end > word->start;
}

/* -1 is a value. */
static bool args_is_option(const struct settings_reader *reader,
			   const struct args_word *word)
{
	const char *text = reader->text + word->start;
	size_t length = word->end - word->start;

	return length > 1 && text[0] == '-' && text[1] != '.' &&
	       !name_is_digit(text[1]);
}

/* Quotes stay in the word; other blanks than ASCII's would divide it. */
static bool args_is_certain(const struct settings_reader *reader, size_t start,
			    size_t end)
{
	for (size_t i = start; i < end; i++)
		if ((unsigned char)reader->text[i] >= 0x80 ||
		    strchr("\"'\\", reader->text[i]))
			return false;
	return end > start;
}

/* The words up to the next option: one of them is its value. */
static int read_values(struct settings_reader *reader,
		       const struct args_word *option)
{
	struct settings_piece flag = { option->end, option->end, false };
	size_t before = reader->at;
	struct args_word first, other;
	bool is_only;

	if (!args_next_word(reader, &first) || args_is_option(reader, &first)) {
		reader->at = before;
		return settings_add(reader, &flag, "true", 4);
	}
	before = reader->at;
	is_only = !args_next_word(reader, &other) ||
		  args_is_option(reader, &other);
	reader->at = before;
	return settings_add_source(
		reader, first.start, first.end,
		is_only && args_is_certain(reader, first.start, first.end));
}

static int read_option(struct settings_reader *reader,
		       const struct args_word *word)
{
	const char *text = reader->text + word->start;
	size_t length = word->end - word->start;
	const char *equals = memchr(text, '=', length);
	size_t start;

	settings_path_cut(&reader->path, 0);
	settings_path_key(&reader->path, text,
			  equals ? (size_t)(equals - text) : length);
	if (!equals)
		return read_values(reader, word);
	start = (size_t)(equals + 1 - reader->text);
	return settings_add_source(reader, start, word->end,
				   args_is_certain(reader, start, word->end));
}

int settings_read_args(struct settings_reader *reader)
{
	struct args_word word;
	int result = 0;

	while (result == 0 && args_next_word(reader, &word)) {
		if (word.end - word.start == 2 &&
		    memcmp(reader->text + word.start, "--", 2) == 0)
			break;
		if (args_is_option(reader, &word))
			result = read_option(reader, &word);
	}
	return result;
}
