/* TOML: tables, dotted keys, and the values that have a place. */
/* SPDX-License-Identifier: MIT */
#include "configs/settings/settings_internal.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* Each header looks for its name among them. */
#define ARRAYS_MAX 1000

/* [[name]], as often as it came. */
struct array {
	char *path;
	uint64_t hash;
	size_t count;
};

struct toml {
	struct settings_reader *reader;
	struct array *arrays;
	size_t count, capacity;
};

static int read_value(struct settings_reader *reader);

static void toml_skip_blanks(struct settings_reader *reader)
{
	while (settings_peek(reader, 0) == ' ' ||
	       settings_peek(reader, 0) == '\t')
		reader->at++;
}

/* CR alone ends no line of TOML. */
static bool skip_newline(struct settings_reader *reader)
{
	if (settings_starts(reader, "\r\n"))
		reader->at += 2;
	else if (settings_starts(reader, "\n"))
		reader->at++;
	else
		return false;
	return true;
}

/* Blanks, comments and line ends. */
static void skip_space(struct settings_reader *reader)
{
	do {
		toml_skip_blanks(reader);
		if (settings_peek(reader, 0) == '#')
			settings_skip_line(reader);
	} while (skip_newline(reader));
}

static int toml_end_line(struct settings_reader *reader)
{
	toml_skip_blanks(reader);
	if (settings_peek(reader, 0) == '#')
		settings_skip_line(reader);
	if (reader->at == reader->length || skip_newline(reader))
		return 0;
	return settings_fail(reader, reader->at,
			     "the end of the line is expected here");
}

/* """a"" with three more at its end: up to two quotes belong to the text. */
static int scan_string(struct settings_reader *reader,
		       struct settings_string *string)
{
	char quote = settings_peek(reader, 0);
	int result = settings_scan_string(
		reader, quote == '"' ? SETTINGS_ESCAPES : SETTINGS_NO_ESCAPES,
		string);

	for (int i = 0; result == 0 && string->is_triple && i < 2; i++)
		if (settings_peek(reader, 0) == quote) {
			reader->at++;
			string->end++;
			string->body_end++;
		}
	return result;
}

static bool toml_is_bare(char c)
{
	return settings_is_word(c) || c == '-';
}

/* One part of a dotted key behind so many others, and the blanks behind it. */
static int read_key_part(struct settings_reader *reader, unsigned parts)
{
	char c = settings_peek(reader, 0);
	size_t start = reader->at;

	if (parts == SETTINGS_DEPTH_MAX)
		return settings_fail(reader, reader->at,
				     "it is nested too deep");
	if (c == '"' || c == '\'') {
		struct settings_string string;
		int result = scan_string(reader, &string);

		if (result < 0)
			return result;
		if (string.is_triple)
			return settings_fail(reader, start,
					     "a key has three quotes");
		settings_path_key(&reader->path,
				  reader->text + string.body_start,
				  string.body_end - string.body_start);
	} else if (toml_is_bare(c)) {
		while (toml_is_bare(settings_peek(reader, 0)))
			reader->at++;
		settings_path_key(&reader->path, reader->text + start,
				  reader->at - start);
	} else {
		return settings_fail(reader, start, "a key is expected here");
	}
	toml_skip_blanks(reader);
	return 0;
}

/* Behind a part: is there another? */
static bool skip_dot(struct settings_reader *reader)
{
	if (settings_peek(reader, 0) != '.')
		return false;
	reader->at++;
	toml_skip_blanks(reader);
	return true;
}

/* key = value, the key below the present path. */
static int read_pair(struct settings_reader *reader)
{
	size_t length = reader->path.length;
	unsigned parts = 0;
	int result;

	do {
		result = read_key_part(reader, parts++);
		if (result < 0)
			return result;
	} while (skip_dot(reader));
	if (settings_peek(reader, 0) != '=')
		return settings_fail(reader, reader->at,
				     "a = is expected here");
	reader->at++;
	toml_skip_blanks(reader);
	result = read_value(reader);
	settings_path_cut(&reader->path, length);
	return result;
}

/* Behind an element: 1 if it was the last. */
static int read_comma(struct settings_reader *reader, char close)
{
	skip_space(reader);
	if (settings_peek(reader, 0) == ',') {
		reader->at++;
		skip_space(reader);
		if (settings_peek(reader, 0) != close)
			return 0;
	}
	if (settings_peek(reader, 0) != close)
		return settings_fail(reader, reader->at,
				     "a , is expected here");
	return 1;
}

static int read_elements(struct settings_reader *reader, char close)
{
	size_t length = reader->path.length;
	size_t index = 0;
	int result = 0;

	while (result == 0) {
		if (close == ']') {
			settings_path_index(&reader->path, index++);
			result = read_value(reader);
			settings_path_cut(&reader->path, length);
		} else {
			result = read_pair(reader);
		}
		if (result == 0)
			result = read_comma(reader, close);
	}
	return result < 0 ? result : 0;
}

/* [1, 2] or { a = 1, b = 2 } */
static int read_container(struct settings_reader *reader, char close)
{
	int result = settings_enter(reader, reader->at);

	if (result < 0)
		return result;
	reader->at++;
	skip_space(reader);
	if (settings_peek(reader, 0) != close)
		result = read_elements(reader, close);
	if (result < 0)
		return result;
	reader->at++;
	settings_leave(reader);
	return 0;
}

static int toml_read_string(struct settings_reader *reader)
{
	struct settings_string string;
	struct settings_piece piece;
	int result = scan_string(reader, &string);

	if (result < 0)
		return result;
	piece.start = string.start;
	piece.end = string.end;
	piece.is_scalar = string.is_plain && !string.is_triple;
	return settings_add(reader, &piece, reader->text + string.body_start,
			    string.body_end - string.body_start);
}

static int read_bare(struct settings_reader *reader)
{
	const char *text = reader->text + reader->at;
	size_t start = reader->at;
	size_t length;
	bool is_scalar;

	while (settings_peek(reader, 0) &&
	       !strchr(",]}#\r\n", settings_peek(reader, 0)))
		reader->at++;
	while (reader->at > start &&
	       strchr(" \t", reader->text[reader->at - 1]))
		reader->at--;
	length = reader->at - start;
	is_scalar = settings_is_toml_scalar(text, length);
	if (!is_scalar && !settings_is_toml_date(text, length))
		return settings_fail(reader, start, "a value is expected here");
	return settings_add_source(reader, start, reader->at, is_scalar);
}

static int read_value(struct settings_reader *reader)
{
	switch (settings_peek(reader, 0)) {
	case '"':
	case '\'':
		return toml_read_string(reader);
	case '[':
		return read_container(reader, ']');
	case '{':
		return read_container(reader, '}');
	default:
		return read_bare(reader);
	}
}

static struct array *array_find(struct toml *toml)
{
	const struct strbuf *path = &toml->reader->path;
	uint64_t hash = hash_bytes(strbuf_text(path), path->length);

	for (size_t i = 0; i < toml->count; i++)
		if (toml->arrays[i].hash == hash &&
		    strcmp(toml->arrays[i].path, strbuf_text(path)) == 0)
			return &toml->arrays[i];
	return NULL;
}

/* One more element of the array that the path names. */
static int array_count(struct toml *toml)
{
	struct strbuf *path = &toml->reader->path;
	struct array *array = array_find(toml);

	if (!array && toml->count == ARRAYS_MAX)
		return settings_fail(toml->reader, toml->reader->at,
				     "it has too many arrays of tables");
	if (!array) {
		toml->arrays = xgrow(toml->arrays, toml->count, &toml->capacity,
				     sizeof(*toml->arrays));
		array = &toml->arrays[toml->count++];
		*array = (struct array){
			.path = xstrdup(strbuf_text(path)),
			.hash = hash_bytes(strbuf_text(path), path->length),
		};
	}
	settings_path_index(path, array->count++);
	return 0;
}

/* [a.b] is below the last element of what is an array. */
static int read_header_keys(struct toml *toml, bool is_array)
{
	struct settings_reader *reader = toml->reader;
	unsigned parts = 0;
	int result;

	for (;;) {
		const struct array *array;

		result = read_key_part(reader, parts++);
		if (result < 0)
			return result;
		if (settings_peek(reader, 0) != '.' && is_array)
			return array_count(toml);
		array = array_find(toml);
		if (array)
			settings_path_index(&reader->path, array->count - 1);
		if (!skip_dot(reader))
			return 0;
	}
}

/* [a.b] or [[a.b]]: the path of the lines that follow. */
static int read_header(struct toml *toml)
{
	struct settings_reader *reader = toml->reader;
	bool is_array = settings_starts(reader, "[[");
	const char *close = is_array ? "]]" : "]";
	int result;

	reader->at += strlen(close);
	toml_skip_blanks(reader);
	settings_path_cut(&reader->path, 0);
	result = read_header_keys(toml, is_array);
	if (result < 0)
		return result;
	if (!settings_starts(reader, close))
		return settings_fail(reader, reader->at,
				     "a table's name does not end here");
	reader->at += strlen(close);
	return toml_end_line(reader);
}

int settings_read_toml(struct settings_reader *reader)
{
	struct toml toml = { .reader = reader };
	int result = 0;

	settings_skip_bom(reader);
	skip_space(reader);
	while (result == 0 && reader->at < reader->length) {
		if (settings_peek(reader, 0) == '[') {
			result = read_header(&toml);
		} else {
			result = read_pair(reader);
			if (result == 0)
				result = toml_end_line(reader);
		}
		skip_space(reader);
	}
	for (size_t i = 0; i < toml.count; i++)
		free(toml.arrays[i].path);
	free(toml.arrays);
	return result;
}
