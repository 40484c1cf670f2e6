/* Accumulations that a script computes, which no option says. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/files/source_shares.h"

#include "base/span.h"
#include "launcher/command/files/source.h"
#include "launcher/command/text/option_class.h"

#include <ctype.h>
#include <string.h>

/* More of what stands behind a "=" is not looked at, nor longer names. */
#define COMPUTED_BYTES 80
/* So many names are looked for that an accumulation is handed. */
#define HANDED_MAX 8

static bool computed_is_name_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static unsigned computed_line(const char *text, const char *at)
{
	unsigned line = 1;

	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

/* "args.accum = a // b", from its first word on: the name, or no length. */
static size_t computed_name(const char *at, const char *end, const char **name)
{
	const char *start = at, *equals;
	int depth = 0;

	while (at < end && (computed_is_name_byte(*at) || *at == '.')) {
		if (*at == '.')
			start = at + 1;
		at++;
	}
	*name = start;
	equals = at + strspn(at, " ");
	if (at == start || *equals != '=' || equals[1] == '=' ||
	    option_class_of(start, (size_t)(at - start)) != OPTION_ACCUM)
		return 0;
	/* 0.5 ** (a / b) counts nothing. */
	if (strncmp(equals + 1 + strspn(equals + 1, " "), "0.", 2) == 0)
		return 0;
	end = end > at + COMPUTED_BYTES ? at + COMPUTED_BYTES : end;
	for (const char *c = equals; c < end && !strchr("#\"'", *c); c++) {
		depth += (*c == '(' || *c == '[') - (*c == ')' || *c == ']');
		if (depth < 0 || (depth == 0 && *c == ','))
			return 0;
		if (*c == '/')
			return (size_t)(at - start);
	}
	return 0;
}

/* At the beginning of the line, or of an argument in it. */
static size_t computed_in_line(const char *line, const char *end,
			       const char **name)
{
	size_t length = computed_name(line, end, name);

	while (line < end && *line != '#' && !length) {
		const char *closing = NULL;

		if (strchr("\"'", *line))
			closing = memchr(line + 1, *line,
					 (size_t)(end - line - 1));
		else if (*line == '(' || *line == ',')
			length = computed_name(line + 1 + strspn(line + 1, " "),
					       end, name);
		line = closing ? closing + 1 : line + 1;
	}
	return length;
}

/* A "/" in the rest of the line that stands in no string. */
static bool line_divides(const char *at, const char *end)
{
	for (; at < end && *at != '\n' && *at != '#'; at++) {
		const char *closing = NULL;

		if (*at == '/')
			return true;
		if (*at == '"' || *at == '\'')
			closing = memchr(at + 1, *at, (size_t)(end - at - 1));
		at = closing ? closing : at;
	}
	return false;
}

/* The line that computes the name at its beginning by a division; 0: none. */
static unsigned division_of(const char *text, const char *end, struct span name)
{
	for (const char *at = text;
	     (at = memmem(at, (size_t)(end - at), name.at, name.length));
	     at += name.length) {
		const char *behind = at + name.length;

		behind += strspn(behind, " ");
		if ((at == text || strchr("\n\t ", at[-1])) && *behind == '=' &&
		    behind[1] != '=' && line_divides(behind, end))
			return computed_line(text, at);
	}
	return 0;
}

/* Of "accumulate_grad_batches=steps", with the cursor behind the "=", the name
 * that is all of the value; no length: it is more. */
static struct span handed_name(const char *at, const char *end)
{
	struct span name = { at + strspn(at, " "), 0 };
	const char *behind;

	while (name.at + name.length < end &&
	       computed_is_name_byte(name.at[name.length]))
		name.length++;
	behind = name.at + name.length + strspn(name.at + name.length, " ");
	if (!strchr(",)\r\n#", *behind) ||
	    (name.length && isdigit((unsigned char)*name.at)))
		name.length = 0;
	return name;
}

/* Trainer(accumulate_grad_batches=steps), and steps = total // micro. */
static unsigned handed_computed(const char *text, const char *end,
				const char **name, size_t *length)
{
	unsigned handed = 0, line = 0;

	if (!memmem(text, (size_t)(end - text), "acc", 3))
		return 0;
	for (const char *at = text; line == 0 && handed < HANDED_MAX &&
				    (at = memchr(at, '=', (size_t)(end - at)));
	     at++) {
		const char *start = at;
		struct span value = handed_name(at + 1, end);

		while (start > text && computed_is_name_byte(start[-1]))
			start--;
		if (!value.length || start == at ||
		    at - start > COMPUTED_BYTES ||
		    option_class_of(start, (size_t)(at - start)) !=
			    OPTION_ACCUM)
			continue;
		handed++;
		line = division_of(text, end, value);
		*name = start;
		*length = (size_t)(at - start);
	}
	return line;
}

unsigned source_accum_computed(const char *text, const char **name,
			       size_t *length)
{
	const char *beginning = text;
	const char *end = text + strnlen(text, SOURCE_BYTES_MAX);
	unsigned line = 0;

	while (text < end) {
		const char *line_end = memchr(text, '\n', (size_t)(end - text));

		line++;
		line_end = line_end ? line_end : end;
		while (text < line_end && (*text == ' ' || *text == '\t'))
			text++;
		*length = computed_in_line(text, line_end, name);
		if (*length)
			return line;
		text = line_end + 1;
	}
	return handed_computed(beginning, end, name, length);
}
