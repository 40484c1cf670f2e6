/* JSON: jansson says whether it is any, and what is meant; here is where. */
/* SPDX-License-Identifier: MIT */
#include "configs/settings/settings_internal.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

/* Numbers that no int64_t holds are read as doubles, all of them then. */
static json_t *settings_json_load(const char *text, size_t length, size_t flags,
				  json_error_t *error)
{
	json_t *root;

	flags |= JSON_ALLOW_NUL;
	root = json_loadb(text, length, flags, error);
	if (!root && json_error_code(error) == json_error_numeric_overflow)
		root = json_loadb(text, length, flags | JSON_DECODE_INT_AS_REAL,
				  error);
	return root;
}

/* jansson quotes the text behind " near ": that stays out of messages. */
static int fail_json(struct settings_reader *reader, json_error_t *error)
{
	char *near = strstr(error->text, " near ");

	if (near)
		*near = '\0';
	return error_set(reader->err, -EINVAL, "%s:%d: not JSON: %s",
			 reader->name, error->line > 0 ? error->line : 1,
			 error->text);
}

static const char json_blanks[] = " \t\r\n";

/* The next byte that is no blank; there is one, inside of a document. */
static char next_byte(struct settings_reader *reader)
{
	reader->at += strspn(reader->text + reader->at, json_blanks);
	return reader->text[reader->at];
}

/* Behind the scalar or key that begins at the next byte. */
static size_t token_end(const struct settings_reader *reader)
{
	const char *text = reader->text;
	size_t end = reader->at;

	if (text[end] != '"')
		return end + strcspn(text + end, ",]} \t\r\n");
	for (end++; text[end] != '"'; end++)
		end += text[end] == '\\';
	return end + 1;
}

/* A string without escapes is its bytes; of another jansson says what it is.
 * The caller frees it. */
static char *string_text(const char *token, size_t length)
{
	json_error_t error;
	json_t *value;
	char *text;

	if (!memchr(token, '\\', length))
		return xstrndup(token + 1, length - 2);
	value = settings_json_load(token, length, JSON_DECODE_ANY, &error);
	text = xstrdup(value ? json_string_value(value) : "");
	json_decref(value);
	return text;
}

static void read_key(struct settings_reader *reader)
{
	size_t end = token_end(reader);
	char *key = string_text(reader->text + reader->at, end - reader->at);

	settings_path_key(&reader->path, key, strlen(key));
	free(key);
	reader->at = end;
	(void)next_byte(reader);
	reader->at++; /* the colon */
}

/* Bytes that are the value as they stand are certain. */
static int read_scalar(struct settings_reader *reader)
{
	size_t start = reader->at;
	const char *token = reader->text + start;
	struct settings_piece piece = { start, token_end(reader), true };
	size_t length = piece.end - start;
	char *text;
	int result;

	reader->at = piece.end;
	if (*token != '"')
		return settings_add(reader, &piece, token,
				    *token == 'n' ? 0 : length);
	text = string_text(token, length);
	piece.is_scalar = length > 2 && !memchr(token, '\\', length) &&
			  !memchr(token, '\'', length);
	result = settings_add(reader, &piece, text, strlen(text));
	free(text);
	return result;
}

static int settings_json_value(struct settings_reader *reader);

/* As deep as settings_enter allows. */
static int read_collection(struct settings_reader *reader, char end)
{
	size_t length = reader->path.length;
	int result = settings_enter(reader, reader->at++);

	for (size_t i = 0; result == 0 && next_byte(reader) != end; i++) {
		if (reader->text[reader->at] == ',') {
			reader->at++;
			(void)next_byte(reader);
		}
		if (end == '}')
			read_key(reader);
		else
			settings_path_index(&reader->path, i);
		result = settings_json_value(reader);
		settings_path_cut(&reader->path, length);
	}
	if (result < 0)
		return result;
	reader->at++;
	settings_leave(reader);
	return 0;
}

/* Of a text that jansson has read: so what is expected is there. */
static int settings_json_value(struct settings_reader *reader)
{
	char first = next_byte(reader);

	if (first == '{' || first == '[')
		return read_collection(reader, first == '{' ? '}' : ']');
	return read_scalar(reader);
}

/* The byte behind a comment that begins at `at`; `at` itself: none does. */
static size_t comment_end(const char *text, size_t length, size_t at)
{
	bool is_line;

	if (at + 1 >= length || text[at] != '/' ||
	    (text[at + 1] != '/' && text[at + 1] != '*'))
		return at;
	is_line = text[at + 1] == '/';
	for (at += is_line ? 2 : 3; at < length; at++)
		if (is_line ? text[at] == '\n'
			    : text[at - 1] == '*' && text[at] == '/')
			return is_line ? at : at + 1;
	return length;
}

/* The text with blanks for its comments, which many programs take out before
 * they read it; NULL: it has none. Every byte keeps its place. */
static char *comments_blank(const char *text, size_t length)
{
	char *plain = xstrndup(text, length);
	bool in_string = false, found = false;

	for (size_t i = 0, end; i < length; i = end) {
		end = in_string ? i : comment_end(text, length, i);
		found |= end > i;
		for (size_t j = i; j < end; j++)
			if (plain[j] != '\n')
				plain[j] = ' ';
		if (end > i)
			continue;
		if (text[i] == '"')
			in_string = !in_string;
		/* An escaped quote ends no string. */
		end = i + (in_string && text[i] == '\\' ? 2 : 1);
	}
	if (found)
		return plain;
	free(plain);
	return NULL;
}

int settings_read_json(struct settings_reader *reader)
{
	const char *given = reader->text;
	json_error_t error, of_plain;
	json_t *root = settings_json_load(given, reader->length, 0, &error);
	char *plain = root ? NULL : comments_blank(given, reader->length);
	int result;

	if (plain)
		root = settings_json_load(plain, reader->length, 0, &of_plain);
	if (root) {
		reader->text = plain ? plain : given;
		result = settings_json_value(reader);
		reader->text = given;
	} else {
		result = fail_json(reader, plain ? &of_plain : &error);
	}
	json_decref(root);
	free(plain);
	return result;
}
