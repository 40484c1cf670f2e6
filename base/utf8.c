/* Characters of UTF-8, and those that act on a terminal. Pure. */
/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

size_t utf8_character(const char *text, size_t length, uint32_t *code)
{
	/* Smallest code point of each length: less is overlong. */
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned char first;
	size_t needed;
	uint32_t value;

	if (length == 0)
		return 0;
	first = (unsigned char)text[0];
	if (first < 0x80) {
		*code = first;
		return 1;
	}
	needed = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
	if (first < 0xc0 || first > 0xf4 || needed > length)
		return 0;
	value = first & (0x7fU >> needed);
	for (size_t i = 1; i < needed; i++) {
		unsigned char next = (unsigned char)text[i];

		if ((next & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (next & 0x3f);
	}
	if (value < smallest[needed] || value > 0x10ffff ||
	    (value >= 0xd800 && value <= 0xdfff))
		return 0;
	*code = value;
	return needed;
}

bool utf8_is_unsafe(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) ||
	       (code >= 0x200b && code <= 0x200f) ||
	       (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
}
