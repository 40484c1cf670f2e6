/* What launchers put before each line, and the rank that it names. Pure. */
/* SPDX-License-Identifier: MIT */
#include "probes/output/lines.h"

#include <assert.h>
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* From '[' to ']', and the time that some put before it. */
#define BRACKET_MAX 64
#define TIME_MAX 40
#define DIGITS_MAX 6
/* srun aligns its labels to the right: less than the four of an indent. */
#define LABEL_SPACES_MAX 3
#define PREFIXES_MAX 2

static size_t digits(const char *text, size_t length)
{
	size_t i = 0;

	while (i < length && isdigit((unsigned char)text[i]))
		i++;
	return i <= DIGITS_MAX ? i : 0;
}

static int number(const char *text, size_t count)
{
	int value = 0;

	for (size_t i = 0; i < count; i++)
		value = value * 10 + (text[i] - '0');
	assert(count >= 1 && count <= DIGITS_MAX);
	return value;
}

static bool begins(const char *line, size_t length, const char *literal)
{
	size_t count = strlen(literal);

	return length >= count && memcmp(line, literal, count) == 0;
}

static bool is_in_bracket(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_,.@=-", c));
}

/* "[" up to and with "]" that ends in a number; 0: it is none of a rank. */
static size_t bracket(const char *line, size_t length, int *rank)
{
	size_t end = 1;
	size_t start;

	if (length < 3 || line[0] != '[')
		return 0;
	if (begins(line, length, "[rank: "))
		end = strlen("[rank: ");
	while (end < length && end < BRACKET_MAX && is_in_bracket(line[end]))
		end++;
	if (end >= length || line[end] != ']')
		return 0;
	start = end;
	while (start > 1 && isdigit((unsigned char)line[start - 1]))
		start--;
	if (!digits(line + start, end - start))
		return 0;
	*rank = number(line + start, end - start);
	return end + 1;
}

/* Bracket, stream, colon. Whether a space belongs to it depends on who. */
static size_t bracketed(const char *line, size_t length, int *rank)
{
	size_t at = bracket(line, length, rank);
	bool spaced = begins(line, length, "[rank") || memchr(line, '@', at);

	if (!at)
		return 0;
	if (begins(line + at, length - at, "<stdout>") ||
	    begins(line + at, length - at, "<stderr>"))
		at += strlen("<stdout>");
	if (at < length && line[at] == ':')
		at++;
	else if (!begins(line, length, "[rank:") &&
		 !begins(line, length, "[rank="))
		return 0;
	if (at + 1 < length && line[at] == ' ' &&
	    (spaced || line[at + 1] != ' '))
		at++;
	return at;
}

/* "Sat Nov 21 07:52:14 2026[1]<stderr>:" */
size_t lines_launcher_time(const char *line, size_t length)
{
	const char *open =
		memchr(line, '[', length < TIME_MAX ? length : TIME_MAX);
	size_t at = open ? (size_t)(open - line) : 0;
	size_t count;
	int rank;

	if (!at)
		return 0;
	count = bracket(open, length - at, &rank);
	if (!count || !begins(open + count, length - at - count, "<std"))
		return 0;
	for (size_t i = 0; i < at; i++)
		if (!isalnum((unsigned char)line[i]) &&
		    !(line[i] && strchr(" :,.-/", line[i])))
			return 0;
	return at;
}

static size_t timed(const char *line, size_t length, int *rank)
{
	size_t at = lines_launcher_time(line, length);
	size_t count = at ? bracketed(line + at, length - at, rank) : 0;

	return count ? at + count : 0;
}

/* " 3: " */
static size_t label(const char *line, size_t length, int *rank)
{
	size_t at = 0;
	size_t count;

	while (at < length && at < LABEL_SPACES_MAX && line[at] == ' ')
		at++;
	count = digits(line + at, length - at);
	if (!count || !begins(line + at + count, length - at - count, ": "))
		return 0;
	*rank = number(line + at, count);
	return at + count + 2;
}

/* "(RayTrainWorker pid=812, ip=10.0.0.7) " */
static size_t worker(const char *line, size_t length)
{
	size_t end = length < BRACKET_MAX ? length : BRACKET_MAX;
	const char *close;

	if (!end || line[0] != '(' || !memmem(line, end, " pid=", 5))
		return 0;
	close = memchr(line, ')', end);
	if (!close || (size_t)(close - line) + 1 >= length || close[1] != ' ')
		return 0;
	return (size_t)(close - line) + 2;
}

static size_t one_prefix(const char *line, size_t length, int *rank)
{
	size_t at = 0;

	if (!length)
		return 0;
	if (line[0] == '[')
		return bracketed(line, length, rank);
	if (line[0] == '(')
		return worker(line, length);
	if (line[0] == ' ' || isdigit((unsigned char)line[0]))
		at = label(line, length, rank);
	if (!at && isalnum((unsigned char)line[0]))
		at = timed(line, length, rank);
	return at;
}

size_t lines_launcher_prefix(const char *line, size_t length, int *rank)
{
	size_t at = 0;

	for (int i = 0; i < PREFIXES_MAX; i++) {
		int named = -1;
		size_t count = one_prefix(line + at, length - at, &named);

		if (!count)
			break;
		at += count;
		if (named >= 0)
			*rank = named;
	}
	assert(at <= length);
	return at;
}
