/* Text from outside made harmless for terminals and JSON. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/text/text.h"

#include <inttypes.h>
#include <string.h>

size_t text_character(const char *text, size_t length, uint32_t *code)
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

void text_add_utf8(struct strbuf *out, const char *text)
{
	size_t length = strlen(text);

	while (length > 0) {
		uint32_t code;
		size_t size = text_character(text, length, &code);

		if (size > 0)
			strbuf_add(out, text, size);
		else
			strbuf_adds(out, "\xef\xbf\xbd");
		size = size ? size : 1;
		text += size;
		length -= size;
	}
}

bool text_is_utf8(const char *text)
{
	size_t length = strlen(text);

	while (length > 0) {
		uint32_t code;
		size_t size = text_character(text, length, &code);

		if (size == 0)
			return false;
		text += size;
		length -= size;
	}
	return true;
}

/* Would change more on a terminal than one cell. */
static bool is_unsafe(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) ||
	       (code >= 0x200b && code <= 0x200f) ||
	       (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
}

void text_add_safe(struct strbuf *out, const char *text, bool ascii)
{
	size_t length = text ? strlen(text) : 0;

	while (length > 0) {
		uint32_t code = 0;
		size_t size = text_character(text, length, &code);

		if (size == 0 || (size == 1 && is_unsafe(code)))
			strbuf_addf(out, "\\x%02x", (unsigned char)*text);
		else if (is_unsafe(code) || (ascii && size > 1))
			strbuf_addf(out, "\\u{%" PRIx32 "}", code);
		else
			strbuf_add(out, text, size);
		size = size ? size : 1;
		text += size;
		length -= size;
	}
}

size_t text_columns(const char *text)
{
	size_t columns = 0;

	/* Bytes that continue a character take no column. */
	for (; *text; text++)
		columns += ((unsigned char)*text & 0xc0) != 0x80;
	return columns;
}

size_t text_cut(const char *text, size_t columns)
{
	size_t i = 0;

	for (; text[i]; i++) {
		if (((unsigned char)text[i] & 0xc0) == 0x80)
			continue;
		if (columns-- == 0)
			break;
	}
	return i;
}

static size_t last_line_columns(const struct strbuf *out)
{
	const char *text = strbuf_text(out);
	const char *line = strrchr(text, '\n');

	return text_columns(line ? line + 1 : text);
}

void text_add_wrapped(struct strbuf *out, const char *text, size_t indent,
		      size_t columns)
{
	size_t column = last_line_columns(out);
	bool begun = false;

	while (*text) {
		size_t gap = strspn(text, " ");
		size_t length = strcspn(text + gap, " ");
		struct strbuf word = STRBUF_INIT;
		size_t width;

		strbuf_add(&word, text + gap, length);
		width = text_columns(strbuf_text(&word));
		if (begun && column + gap + width > columns) {
			strbuf_addf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else {
			strbuf_add(out, text, gap);
			column += gap;
		}
		strbuf_add(out, strbuf_text(&word), length);
		strbuf_release(&word);
		column += width;
		begun = true;
		text += gap + length;
	}
}

size_t text_distance(const char *a, const char *b)
{
	size_t row[TEXT_NAME_MAX + 1];
	size_t length = strlen(b);

	if (strlen(a) > TEXT_NAME_MAX || length > TEXT_NAME_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < length; j++) {
			size_t best = diagonal + (a[i] != b[j]);

			diagonal = row[j + 1];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (diagonal + 1 < best)
				best = diagonal + 1;
			row[j + 1] = best;
		}
	}
	return row[length];
}
