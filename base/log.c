/* One line to stderr, by level. */
/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

static enum log_level current_level = LOG_LEVEL_NORMAL;

void log_set_level(enum log_level level)
{
	current_level = level;
}

static void print_line(const char *kind, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

static void print_line(const char *kind, const char *format, va_list args)
{
	char line[2048];

	(void)vsnprintf(line, sizeof(line), format, args);
	/* Names of files and words of others are in it: no terminal codes. */
	for (char *c = line; *c; c++)
		if (iscntrl((unsigned char)*c) && *c != '\n')
			*c = '?';
	(void)fprintf(stderr, "autofit: %s%s\n", kind, line);
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
