/* INI text to entries, strictly: the only file that knows inih. */
/* SPDX-License-Identifier: MIT */
#include "configs/files/ini.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <ini.h>

/* inih cuts longer names of sections and keys without a word. */
#define NAME_MAX_BYTES 49

struct reading {
	const char *name;
	const char *text;
	size_t left;
	ini_entry_cb *on_entry;
	void *context;
	struct error *err;
	unsigned line;
	bool has_key; /* an indented line now continues a key */
	int result;   /* the first failure; nothing is read after it */
};

static int fail(struct reading *reading, const char *what)
{
	reading->result = error_set(reading->err, -EINVAL, "%s:%u: %s",
				    reading->name, reading->line, what);
	return reading->result;
}

static bool is_comment_or_blank(const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return *text == '\0' || *text == ';' || *text == '#';
}

/* A ';' after a blank begins a comment here for newer inih, not for 55. */
static bool has_inline_comment(const char *text)
{
	const char *mark = strchr(text, ';');

	while (mark && (mark == text || !isspace((unsigned char)mark[-1])))
		mark = strchr(mark + 1, ';');
	return mark != NULL;
}

static int check_section(struct reading *reading, const char *start)
{
	const char *end = strchr(start, ']');

	if (!end || !is_comment_or_blank(end + 1))
		return fail(reading, "no section: write [name] and nothing "
				     "after it");
	if (end == start + 1 || end - start - 1 > NAME_MAX_BYTES)
		return fail(reading, "the name of a section must have 1 to 49 "
				     "bytes");
	reading->has_key = false;
	return 0;
}

/* What inih would misread without a word. */
static int check_line(struct reading *reading, const char *line)
{
	const char *start = line;

	while (isspace((unsigned char)*start))
		start++;
	if (is_comment_or_blank(start))
		return 0;
	if (start > line && reading->has_key) {
		if (has_inline_comment(start))
			return fail(reading,
				    "\" ;\" in an indented line: put the "
				    "comment on a line of its own");
		return 0;
	}
	return *start == '[' ? check_section(reading, start) : 0;
}

/* Hands inih the next line; NULL ends the reading, at the end or an error. */
static char *read_line(char *line, int size, void *stream)
{
	struct reading *reading = stream;
	const char *end;
	size_t length;

	if (reading->result < 0 || reading->left == 0)
		return NULL;
	reading->line++;
	end = memchr(reading->text, '\n', reading->left);
	length = end ? (size_t)(end - reading->text) : reading->left;
	if (memchr(reading->text, '\0', length)) {
		(void)fail(reading, "a NUL byte: this is no text file");
		return NULL;
	}
	if (length > INI_LINE_MAX || length + 2 > (size_t)size) {
		reading->result = error_set(
			reading->err, -EINVAL,
			"%s:%u: a line of %zu bytes, at most %d are read: "
			"continue the value on an indented line",
			reading->name, reading->line, length, INI_LINE_MAX);
		return NULL;
	}
	memcpy(line, reading->text, length);
	line[length] = '\0';
	reading->left -= length;
	reading->text += length;
	if (end) {
		reading->text++;
		reading->left--;
	}
	return check_line(reading, line) < 0 ? NULL : line;
}

/* inih takes 0 as failure. */
static int handle_entry(void *user, const char *section, const char *name,
			const char *value)
{
	struct reading *reading = user;
	struct ini_entry entry = { section, name, value, reading->line };

	/* inih goes on after its own errors. */
	if (reading->result < 0)
		return 0;
	if (*name == '\0' || strlen(name) > NAME_MAX_BYTES) {
		(void)fail(reading, "a key must have 1 to 49 bytes before =");
		return 0;
	}
	reading->has_key = true;
	reading->result =
		reading->on_entry(reading->context, &entry, reading->err);
	if (reading->result >= 0)
		return 1;
	(void)error_prefix(reading->err, "%s:%u", reading->name, entry.line);
	return 0;
}

/* NOLINTNEXTLINE(readability-function-size): a text is two of the six */
int ini_read(const char *name, const char *text, size_t length,
	     ini_entry_cb *on_entry, void *context, struct error *err)
{
	struct reading reading = {
		.name = name,
		.text = text,
		.left = length,
		.on_entry = on_entry,
		.context = context,
		.err = err,
	};
	int failed =
		ini_parse_stream(read_line, &reading, handle_entry, &reading);

	if (failed < 0)
		return error_set(err, -ENOMEM, "%s: out of memory", name);
	/* An earlier line that inih refused comes first. */
	if (failed > 0 &&
	    (reading.result >= 0 || (unsigned)failed < reading.line)) {
		reading.line = (unsigned)failed;
		return fail(&reading, "no entry: write key = value");
	}
	return reading.result < 0 ? reading.result : 0;
}
