/* A failure in words for the user, and a number for the program. */
/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *err, int code, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	assert(code < 0);
	err->code = code;
	va_start(args, format);
	(void)vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	return code;
}

int error_set_errno(struct error *err, int code, const char *format, ...)
{
	va_list args;
	size_t used;

	if (!err)
		return code;
	assert(code < 0);
	err->code = code;
	va_start(args, format);
	(void)vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	used = strlen(err->message);
	(void)snprintf(err->message + used, sizeof(err->message) - used, ": %s",
		       strerror(-code));
	return code;
}

int error_prefix(struct error *err, const char *format, ...)
{
	char rest[sizeof(err->message)];
	va_list args;
	size_t used;

	if (!err)
		return -1;
	assert(err->code < 0 && "there is a message");
	memcpy(rest, err->message, sizeof(rest));
	va_start(args, format);
	(void)vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	used = strlen(err->message);
	(void)snprintf(err->message + used, sizeof(err->message) - used, ": %s",
		       rest);
	return err->code;
}
