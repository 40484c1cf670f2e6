/* Single arguments: how they are shown, and what they look like. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/text/argument.h"

#include "base/units.h"

#include <ctype.h>
#include <string.h>

const char *argument_brief(char text[BRIEF_MAX], const char *argument)
{
	static const char dots[] = "...";
	size_t length = strlen(argument);
	size_t kept = length < BRIEF_MAX ? length : BRIEF_MAX - sizeof(dots);

	/* Not in the middle of a UTF-8 character. */
	while (kept < length && kept > 0 && (argument[kept] & 0xc0) == 0x80)
		kept--;
	for (size_t i = 0; i < kept; i++)
		text[i] =
			iscntrl((unsigned char)argument[i]) ? '?' : argument[i];
	text[kept] = '\0';
	if (kept < length)
		memcpy(text + kept, dots, sizeof(dots));
	return text;
}

bool count_parse(const char *text, int64_t *value)
{
	return *text && text[strspn(text, "0123456789")] == '\0' &&
	       integer_parse(text, value, NULL) == 0 && *value > 0;
}

bool fraction_parse(const char *text, int64_t *value)
{
	size_t length = strcspn(text, ".");
	char digits[24];

	if (text[length] != '.' || length >= sizeof(digits) ||
	    text[length + 1 + strspn(text + length + 1, "0")] != '\0')
		return false;
	memcpy(digits, text, length);
	digits[length] = '\0';
	return count_parse(digits, value);
}

static bool is_number_start(const char *text)
{
	return isdigit((unsigned char)text[0]) || text[0] == '.';
}

bool argument_is_option(const char *text)
{
	return text[0] == '-' && text[1] && !is_number_start(text + 1);
}

bool argument_is_glued(const char *text)
{
	return text[0] == '-' && isalpha((unsigned char)text[1]) &&
	       isdigit((unsigned char)text[2]);
}

size_t argument_key_length(const char *text)
{
	const char *equals = strchr(text, '=');
	size_t sigils, length;

	/* Most words that are no options have none. */
	if (!equals)
		return 0;
	length = (size_t)(equals - text);
	sigils = strspn(text, "+~");
	if (length == sigils ||
	    !(isalpha((unsigned char)text[sigils]) || text[sigils] == '_'))
		return 0;
	for (size_t i = sigils; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("_.-", text[i]))
			return 0;
	return length;
}

bool argument_is_pair_key(const char *text)
{
	return isupper((unsigned char)*text) && strpbrk(text, "._") &&
	       text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._")] ==
		       '\0';
}

bool argument_is_plain(const char *argument)
{
	return !argument_is_option(argument) &&
	       !argument_is_pair_key(argument) &&
	       argument_key_length(argument) == 0;
}

bool argument_is_pipe(const char *path)
{
	return strcmp(path, "/dev/stdin") == 0 ||
	       strncmp(path, "/dev/fd/", 8) == 0 ||
	       strncmp(path, "/proc/self/fd/", 14) == 0;
}

bool argument_is_python(const char *name)
{
	return strncmp(name, "python", 6) == 0 &&
	       name[6 + strspn(name + 6, "0123456789.")] == '\0';
}
