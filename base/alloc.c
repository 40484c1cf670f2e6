/* Allocation that cannot fail: out of memory in autofit itself ends it. */
/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Most lists stay below. */
#define FIRST_CAPACITY 16

static void out_of_memory(void) __attribute__((noreturn));

static void out_of_memory(void)
{
	static const char text[] = "autofit: out of memory in autofit itself\n";

	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	_exit(125);
}

static void *or_die(void *memory)
{
	if (!memory)
		out_of_memory();
	return memory;
}

void *xmalloc(size_t size)
{
	return or_die(malloc(size ? size : 1));
}

void *xcalloc(size_t count, size_t size)
{
	return or_die(calloc(count ? count : 1, size ? size : 1));
}

void *xrealloc(void *old, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		out_of_memory();
	return or_die(realloc(old, count && size ? count * size : 1));
}

void *xgrow(void *items, size_t count, size_t *capacity, size_t size)
{
	assert(count <= *capacity);
	if (count < *capacity)
		return items;
	*capacity = *capacity ? 2 * *capacity : FIRST_CAPACITY;
	return xrealloc(items, *capacity, size);
}

char *xstrdup(const char *text)
{
	return or_die(strdup(text));
}

char *xstrndup(const char *text, size_t length)
{
	return or_die(strndup(text, length));
}

char *xasprintf(const char *format, ...)
{
	char *text = NULL;
	va_list args;
	int length;

	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	if (length < 0)
		out_of_memory();
	return text;
}
