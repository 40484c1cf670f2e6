/* What a script computes of its variables, and accumulations that no option
 * says. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/files/source_shares.h"

#include "base/span.h"
#include "launcher/command/files/pytext.h"
#include "launcher/command/files/source.h"
#include "launcher/command/text/option_class.h"

#include <ctype.h>
#include <string.h>

/* More of what stands behind a "=" is not looked at, nor longer names. */
#define COMPUTED_BYTES 80
/* So many names are looked for that an accumulation is handed. */
#define HANDED_MAX 8

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

	while (at < end && (pytext_is_word(*at) || *at == '.')) {
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
	       pytext_is_word(name.at[name.length]))
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

		while (start > text && pytext_is_word(start[-1]))
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

bool source_accum_divides_by(const char *text, const char *variable)
{
	size_t letters = strlen(variable), length;
	const char *name, *end, *at;

	if (!source_accum_computed(text, &name, &length))
		return false;
	end = name + strcspn(name, "\n");
	at = memchr(name, '/', (size_t)(end - name));
	while (at && (at = memmem(at, (size_t)(end - at), variable, letters))) {
		if (!pytext_is_word(at[-1]) && !pytext_is_word(at[letters]))
			return true;
		at += letters;
	}
	return false;
}

/* "config.data.batch_size", "config["batch_size"]" up to the end of the line:
 * its last name. */
static struct span copied_name(const char *at, const char *end)
{
	struct span name = { at, 0 };

	while (at < end && (pytext_is_word(*at) || strchr(".[]\"'", *at))) {
		name.length =
			pytext_is_word(*at) ? name.length + 1 : name.length;
		if (!pytext_is_word(*at) && at + 1 < end &&
		    pytext_is_word(at[1]))
			name = (struct span){ at + 1, 0 };
		at++;
	}
	at += strspn(at, " \r");
	if (at < end && *at != '\n' && *at != '#')
		name.length = 0;
	return name;
}

bool source_is_copy(const char *text, const char *name, size_t length,
		    const char *variable)
{
	const char *end = text + strnlen(text, SOURCE_BYTES_MAX);

	for (const char *at = text;
	     length && (at = memmem(at, (size_t)(end - at), name, length));
	     at += length) {
		const char *behind = at + length + strspn(at + length, " ");

		if ((at > text && !strchr("\n\t ", at[-1])) || *behind != '=' ||
		    behind[1] == '=')
			continue;
		behind++;
		behind += strspn(behind, " ");
		if (span_is(copied_name(behind, end), variable))
			return true;
	}
	return false;
}

/* args. of the variable, and = behind it: what stands right of that. */
static const char *overwritten_by(const char *at, const char *end,
				  const char *variable)
{
	static const char *const holders[] = { "args.",   "opt.",   "opts.",
					       "FLAGS.",  "flags.", "hparams.",
					       "config.", "cfg.",   "params." };
	size_t length = strlen(variable);

	for (size_t i = 0; i < sizeof(holders) / sizeof(*holders); i++) {
		size_t bytes = strlen(holders[i]);
		const char *behind = at + bytes + length;

		if ((size_t)(end - at) <= bytes + length ||
		    memcmp(at, holders[i], bytes) != 0 ||
		    memcmp(at + bytes, variable, length) != 0)
			continue;
		while (behind < end && *behind == ' ')
			behind++;
		return behind + 1 < end && behind[0] == '=' && behind[1] != '='
			       ? behind + 1
			       : NULL;
	}
	return NULL;
}

/* Where the line that at is in begins, behind its blanks. */
static const char *line_begin(const char *text, const char *at)
{
	while (at > text && at[-1] != '\n')
		at--;
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

/* local_batch_size is another name than batch_size. */
static bool computed_has_name(const char *at, const char *end, const char *name)
{
	size_t length = strlen(name);

	for (const char *start = at;
	     (at = memmem(at, (size_t)(end - at), name, length)); at += length)
		if ((at == start || !pytext_is_word(at[-1])) &&
		    (at + length == end || !pytext_is_word(at[length])))
			return true;
	return false;
}

bool source_is_made_of(const char *text, const char *name, size_t length,
		       const char *variable)
{
	const char *end = text + strnlen(text, SOURCE_BYTES_MAX);

	for (const char *at = text;
	     length && (at = memmem(at, (size_t)(end - at), name, length));) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));
		bool begins = at == text || !pytext_is_word(at[-1]);

		line_end = line_end ? line_end : end;
		at += length;
		at += strspn(at, " ");
		if (begins && at < line_end && *at == '=' && at[1] != '=' &&
		    computed_has_name(at, line_end, variable))
			return true;
	}
	return false;
}

/* A product, of other things than itself. */
static bool value_is_computed(const char *value, const char *end,
			      const char *variable)
{
	return !computed_has_name(value, end, variable) &&
	       memchr(value, '*', (size_t)(end - value));
}

/* args.batch_size = 64 at the beginning of a line, under no condition. */
static bool is_set_always(const char *text, const char *begin,
			  const char *value, const char *end)
{
	if (begin > text && begin[-1] != '\n')
		return false;
	while (value < end && *value == ' ')
		value++;
	while (value < end && isdigit((unsigned char)*value))
		value++;
	if (!isdigit((unsigned char)value[-1]))
		return false;
	while (value < end && strchr(" \t\r", *value))
		value++;
	return value == end || *value == '#';
}

unsigned source_overwrites(const char *text, const char *variable,
			   bool *is_number)
{
	const char *end = text + strnlen(text, SOURCE_BYTES_MAX);
	size_t length = strlen(variable);
	const char *at = text;

	while (length &&
	       (at = memmem(at, (size_t)(end - at), variable, length))) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));
		const char *begin = line_begin(text, at);
		const char *value;

		line_end = line_end ? line_end : end;
		value = overwritten_by(begin, line_end, variable);
		*is_number =
			value && is_set_always(text, begin, value, line_end);
		if (*is_number ||
		    (value && value_is_computed(value, line_end, variable)))
			return computed_line(text, begin);
		at = line_end;
	}
	return 0;
}

/* "--batch" declares it, batch: int = 8 and batch=8 give it a value. */
static bool is_reading(const char *text, const char *at, size_t length)
{
	const char *behind = at + length;

	if (at > text && (pytext_is_word(at[-1]) || strchr("\"'-", at[-1])))
		return false;
	return !pytext_is_word(*behind) && *behind != '-' && *behind != ':' &&
	       (*behind != '=' || behind[1] == '=');
}

bool source_reads(const char *text, const char *variable)
{
	const char *end = text + strnlen(text, SOURCE_BYTES_MAX);
	size_t length = strlen(variable);

	for (const char *at = text;
	     length && (at = memmem(at, (size_t)(end - at), variable, length));
	     at += length)
		if (is_reading(text, at, length))
			return true;
	return false;
}
