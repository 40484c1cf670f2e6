/* NAME=value, and names of variables. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/shell/shell_assignment.h"

#include <string.h>

bool shell_name_begins(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool assignment_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool shell_name_goes_on(char c)
{
	return shell_name_begins(c) || assignment_is_digit(c);
}

size_t shell_name_length(const char *text, size_t length)
{
	size_t count = 0;

	if (length == 0 || !shell_name_begins(text[0]))
		return 0;
	while (count < length && shell_name_goes_on(text[count]))
		count++;
	return count;
}

bool shell_assignment_read(const char *text, struct shell_span word,
			   struct shell_assignment *assignment)
{
	size_t at = word.start +
		    shell_name_length(text + word.start, word.end - word.start);

	*assignment = (struct shell_assignment){ .name = word, .value = word };
	if (at == word.start)
		return false;
	assignment->name.end = at;
	if (at < word.end && text[at] == '[') {
		const char *close = memchr(text + at, ']', word.end - at);

		if (!close)
			return false;
		at = (size_t)(close - text) + 1;
		assignment->is_element = true;
	}
	if (at < word.end && text[at] == '+') {
		assignment->appends = true;
		at++;
	}
	if (at == word.end || text[at] != '=')
		return false;
	assignment->value.start = ++at;
	if (at + 1 < word.end && text[at] == '(' && text[word.end - 1] == ')') {
		assignment->is_array = true;
		assignment->value.start++;
		assignment->value.end--;
	}
	return true;
}
