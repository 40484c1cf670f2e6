/* A failure in words for the user, and a number for the program. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <assert.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A path is long: so much is written, of which a message keeps the ends. */
#define WHOLE_MAX (PATH_MAX + 1024)

/* What was attempted stands in front, why it failed at the end. */
static void keep_ends(struct error *err, const char *whole)
{
	static const char gap[] = "...";
	const size_t half = (sizeof(err->message) - sizeof(gap)) / 2;
	size_t length = strlen(whole);

	if (length < sizeof(err->message))
		memcpy(err->message, whole, length + 1);
	else
		(void)snprintf(err->message, sizeof(err->message), "%.*s%s%s",
			       (int)half, whole, gap, whole + length - half);
}

int error_set(struct error *err, int code, const char *format, ...)
{
	char whole[WHOLE_MAX];
	va_list args;

	if (!err)
		return code;
	assert(code < 0);
	err->code = code;
	va_start(args, format);
	(void)vsnprintf(whole, sizeof(whole), format, args);
	va_end(args);
	keep_ends(err, whole);
	return code;
}

/* "what: why", of which what may be long. */
static void set_joined(struct error *err, const char *why, const char *format,
		       va_list args) __attribute__((format(printf, 3, 0)));

static void set_joined(struct error *err, const char *why, const char *format,
		       va_list args)
{
	char whole[WHOLE_MAX + sizeof(err->message)];
	size_t used;

	(void)vsnprintf(whole, WHOLE_MAX, format, args);
	used = strlen(whole);
	(void)snprintf(whole + used, sizeof(whole) - used, ": %s", why);
	keep_ends(err, whole);
}

int error_set_errno(struct error *err, int code, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	assert(code < 0);
	err->code = code;
	va_start(args, format);
	set_joined(err, strerror(-code), format, args);
	va_end(args);
	return code;
}

int error_prefix(struct error *err, const char *format, ...)
{
	char rest[sizeof(err->message)];
	va_list args;

	if (!err)
		return -1;
	assert(err->code < 0 && "there is a message");
	memcpy(rest, err->message, sizeof(rest));
	va_start(args, format);
	set_joined(err, rest, format, args);
	va_end(args);
	return err->code;
}
