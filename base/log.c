/* One line to stderr, by level. */
/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include "base/utf8.h"

#include <assert.h>
#include <stdarg.h>
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

/*
 * Bytes of the character at text that may stand in a line: names of files and
 * words of others are in it. 0: it is none, or does something to a terminal.
 */
static size_t plain_character(const char *text, size_t length)
{
	uint32_t code = 0;
	size_t size = utf8_character(text, length, &code);

	return utf8_is_unsafe(code) && code != '\n' ? 0 : size;
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
		size_t size = plain_character(at, strlen(at));

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
	assert(length < sizeof(safe));
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
