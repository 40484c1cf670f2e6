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

struct ini_input {
	const char *name;
	const char *text;
	size_t left;
	ini_entry_cb *on_entry;
	void *context;
	struct error *err;
	unsigned line;
	bool has_key;   /* an indented line now continues a key */
	bool continues; /* and the last one did */
	int result;     /* the first failure; nothing is read after it */
};

static int ini_fail(struct ini_input *input, const char *what)
{
	input->result = error_set(input->err, -EINVAL, "%s:%u: %s", input->name,
				  input->line, what);
	return input->result;
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

static int check_section(struct ini_input *input, const char *start)
{
	const char *end = strchr(start, ']');

	if (!end || !is_comment_or_blank(end + 1))
		return ini_fail(input, "no section: write [name] and nothing "
				       "after it");
	if (end == start + 1 || end - start - 1 > NAME_MAX_BYTES)
		return ini_fail(input,
				"the name of a section must have 1 to 49 "
				"bytes");
	input->has_key = false;
	return 0;
}

/* What inih would misread without a word. */
static int check_line(struct ini_input *input, const char *line)
{
	const char *start = line;

	while (isspace((unsigned char)*start))
		start++;
	if (is_comment_or_blank(start))
		return 0;
	input->continues = start > line && input->has_key;
	if (input->continues) {
		if (has_inline_comment(start))
			return ini_fail(input,
					"\" ;\" in an indented line: put the "
					"comment on a line of its own");
		return 0;
	}
	return *start == '[' ? check_section(input, start) : 0;
}

/* Hands inih the next line; NULL ends the input, at the end or an error. */
static char *ini_read_line(char *line, int size, void *stream)
{
	struct ini_input *input = stream;
	const char *end;
	size_t length;

	if (input->result < 0 || input->left == 0)
		return NULL;
	input->line++;
	end = memchr(input->text, '\n', input->left);
	length = end ? (size_t)(end - input->text) : input->left;
	if (memchr(input->text, '\0', length)) {
		(void)ini_fail(input, "a NUL byte: this is no text file");
		return NULL;
	}
	if (length > INI_LINE_MAX || length + 2 > (size_t)size) {
		input->result = error_set(
			input->err, -EINVAL,
			"%s:%u: a line of %zu bytes, at most %d are read: "
			"continue the value on an indented line",
			input->name, input->line, length, INI_LINE_MAX);
		return NULL;
	}
	memcpy(line, input->text, length);
	line[length] = '\0';
	input->left -= length;
	input->text += length;
	if (end) {
		input->text++;
		input->left--;
	}
	return check_line(input, line) < 0 ? NULL : line;
}

/* inih takes 0 as failure. */
static int handle_entry(void *user, const char *section, const char *name,
			const char *value)
{
	struct ini_input *input = user;
	struct ini_entry entry = { .section = section,
				   .key = name,
				   .value = value,
				   .line = input->line,
				   .continues = input->continues };

	/* inih goes on after its own errors. */
	if (input->result < 0)
		return 0;
	if (*name == '\0' || strlen(name) > NAME_MAX_BYTES) {
		(void)ini_fail(input, "a key must have 1 to 49 bytes before =");
		return 0;
	}
	input->has_key = true;
	input->result = input->on_entry(input->context, &entry, input->err);
	if (input->result >= 0)
		return 1;
	(void)error_prefix(input->err, "%s:%u", input->name, entry.line);
	return 0;
}

/* NOLINTNEXTLINE(readability-function-size): a text is two of the six */
int ini_read(const char *name, const char *text, size_t length,
	     ini_entry_cb *on_entry, void *context, struct error *err)
{
	struct ini_input input = {
		.name = name,
		.text = text,
		.left = length,
		.on_entry = on_entry,
		.context = context,
		.err = err,
	};
	int failed =
		ini_parse_stream(ini_read_line, &input, handle_entry, &input);

	if (failed < 0)
		return error_set(err, -ENOMEM, "%s: out of memory", name);
	/* An earlier line that inih refused comes first. */
	if (failed > 0 &&
	    (input.result >= 0 || (unsigned)failed < input.line)) {
		input.line = (unsigned)failed;
		return ini_fail(&input, "no entry: write key = value");
	}
	return input.result < 0 ? input.result : 0;
}
