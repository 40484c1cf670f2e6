/* One line to stderr, by level. */
/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_BYTES 2048
/* "\\x9b" */
#define ESCAPED_BYTES 4

static enum log_level current_level = LOG_LEVEL_NORMAL;

void log_set_level(enum log_level level)
{
	current_level = level;
}

/* Control codes of eight bits, marks of direction and of nothing. */
static bool acts_on_terminal(unsigned code)
{
	static const struct {
		unsigned first, last;
	} ranges[] = { { 0, 0x9f },
		       { 0x200b, 0x200f },
		       { 0x2028, 0x202e },
		       { 0x2060, 0x206f },
		       { 0xfeff, 0xfeff } };

	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

/*
 * Bytes of the UTF-8 character at text; 0: the byte is none of one, or it does
 * something to a terminal. Names of files and words of others are in a line.
 */
static size_t plain_character(const char *text)
{
	static const unsigned least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *at = (const unsigned char *)text;
	size_t size = *at < 0x80 ? 1 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
	unsigned code = *at;

	if (size == 1)
		return (*at < 0x20 && *at != '\n') || *at == 0x7f ? 0 : 1;
	if (*at < 0xc2 || *at > 0xf4)
		return 0;
	code &= 0x7fU >> size;
	for (size_t i = 1; i < size; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	/* More bytes than it needs are none. */
	return code < least[size] || acts_on_terminal(code) ? 0 : size;
}

static void print_line(const char *kind, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

static void print_line(const char *kind, const char *format, va_list args)
{
	char line[LINE_MAX_BYTES];
	char safe[ESCAPED_BYTES * LINE_MAX_BYTES];
	size_t length = 0;

	(void)vsnprintf(line, sizeof(line), format, args);
	for (const char *at = line; *at;) {
		size_t size = plain_character(at);

		if (size)
			memcpy(safe + length, at, size);
		else if ((unsigned char)*at < 0x80)
			safe[length] = '?';
		else
			(void)snprintf(safe + length, ESCAPED_BYTES + 1,
				       "\\x%02x", (unsigned char)*at);
		length += size                        ? size
			  : (unsigned char)*at < 0x80 ? 1
						      : ESCAPED_BYTES;
		at += size ? size : 1;
	}
	safe[length] = '\0';
	(void)fprintf(stderr, "autofit: %s%s\n", kind, safe);
}

void log_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line("error: ", format, args);
	va_end(args);
}

void log_warning(const char *format, ...)
{
	va_list args;

	if (current_level < LOG_LEVEL_NORMAL)
		return;
	va_start(args, format);
	print_line("warning: ", format, args);
	va_end(args);
}

void log_verbose(const char *format, ...)
{
	va_list args;

	if (current_level < LOG_LEVEL_VERBOSE)
		return;
	va_start(args, format);
	print_line("", format, args);
	va_end(args);
}
