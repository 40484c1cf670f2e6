/* A growable piece of text that knows its length and may hold NUL bytes. */
/* SPDX-License-Identifier: MIT */
#include "base/strbuf.h"

#include "base/alloc.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void strbuf_reserve(struct strbuf *buf, size_t extra)
{
	size_t needed = buf->length + extra + 1;

	assert(buf->data ? buf->length < buf->capacity : !buf->length);
	assert(needed > extra && "no length comes near the end of size_t");
	if (needed <= buf->capacity)
		return;
	if (needed < buf->capacity * 2)
		needed = buf->capacity * 2;
	buf->data = xrealloc(buf->data, needed, 1);
	buf->capacity = needed;
}

void strbuf_add(struct strbuf *buf, const void *data, size_t length)
{
	assert(data || !length);
	strbuf_reserve(buf, length);
	if (length)
		memcpy(buf->data + buf->length, data, length);
	buf->length += length;
	buf->data[buf->length] = '\0';
}

void strbuf_adds(struct strbuf *buf, const char *text)
{
	strbuf_add(buf, text, strlen(text));
}

void strbuf_addch(struct strbuf *buf, char c)
{
	strbuf_add(buf, &c, 1);
}

void strbuf_add_quoted(struct strbuf *buf, const char *text)
{
	strbuf_addch(buf, '"');
	for (; text && *text; text++) {
		if (*text == '"')
			strbuf_addch(buf, '"');
		strbuf_addch(buf, *text);
	}
	strbuf_addch(buf, '"');
}

void strbuf_addu(struct strbuf *buf, size_t number)
{
	char digits[3 * sizeof(number)];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	strbuf_add(buf, digits + at, sizeof(digits) - at);
}

void strbuf_addf(struct strbuf *buf, const char *format, ...)
{
	va_list args;
	va_list again;
	int length;

	va_start(args, format);
	va_copy(again, args);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (length > 0) {
		strbuf_reserve(buf, (size_t)length);
		(void)vsnprintf(buf->data + buf->length, (size_t)length + 1,
				format, again);
		buf->length += (size_t)length;
	}
	va_end(again);
}

const char *strbuf_text(const struct strbuf *buf)
{
	return buf->data ? buf->data : "";
}

char *strbuf_detach(struct strbuf *buf)
{
	char *text = buf->data ? buf->data : xstrdup("");

	memset(buf, 0, sizeof(*buf));
	return text;
}

void strbuf_reset(struct strbuf *buf)
{
	buf->length = 0;
	if (buf->data)
		buf->data[0] = '\0';
}

void strbuf_release(struct strbuf *buf)
{
	free(buf->data);
	memset(buf, 0, sizeof(*buf));
}
