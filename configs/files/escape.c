/* Percent escapes: any bytes as printable ASCII without blanks, ; and #. */
/* SPDX-License-Identifier: MIT */
#include "configs/files/escape.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

static bool escape_is_plain(unsigned char c)
{
	return c > 0x20 && c < 0x7f && c != '%' && c != ';' && c != '#';
}

size_t escape_piece(struct strbuf *out, const char *text, size_t max_bytes)
{
	static const char digits[] = "0123456789ABCDEF";
	size_t used = 0;
	size_t i = 0;

	for (; text[i]; i++) {
		unsigned char c = (unsigned char)text[i];
		char escaped[3] = { '%', digits[c >> 4], digits[c & 15] };
		size_t length = escape_is_plain(c) ? 1 : sizeof(escaped);

		if (length > max_bytes - used)
			break;
		strbuf_add(out, length == 1 ? text + i : escaped, length);
		used += length;
	}
	return i;
}

void escape_add(struct strbuf *out, const char *text)
{
	(void)escape_piece(out, text, SIZE_MAX);
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* The byte behind a %, or -EINVAL. */
static int escaped_byte(const char *digits)
{
	int high = hex_value(digits[0]);
	int low = high < 0 ? -1 : hex_value(digits[1]);

	/* A NUL would end the text for everybody who reads it later. */
	if (low < 0 || (high == 0 && low == 0))
		return -EINVAL;
	return high * 16 + low;
}

int unescape_add(struct strbuf *out, const char *escaped)
{
	for (const char *at = escaped; *at; at++) {
		int c = (unsigned char)*at;

		if (c < 0x20 || c == 0x7f)
			return -EINVAL;
		if (c == '%') {
			c = escaped_byte(at + 1);
			if (c < 0)
				return c;
			at += 2;
		}
		strbuf_addch(out, (char)c);
	}
	return 0;
}
