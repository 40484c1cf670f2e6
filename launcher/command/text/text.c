/* Text from outside made harmless for terminals and JSON. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/text/text.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <string.h>

void text_add_utf8(struct strbuf *out, const char *text)
{
	size_t length = strlen(text);

	while (length > 0) {
		uint32_t code;
		size_t size = utf8_character(text, length, &code);

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
		size_t size = utf8_character(text, length, &code);

		if (size == 0)
			return false;
		text += size;
		length -= size;
	}
	return true;
}

void text_add_safe(struct strbuf *out, const char *text, bool ascii)
{
	size_t length = text ? strlen(text) : 0;

	while (length > 0) {
		uint32_t code = 0;
		size_t size = utf8_character(text, length, &code);

		if (size == 0 || (size == 1 && utf8_is_unsafe(code)))
			strbuf_addf(out, "\\x%02x", (unsigned char)*text);
		else if (utf8_is_unsafe(code) || (ascii && size > 1))
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

void text_add_lines(struct strbuf *out, const char *text, size_t indent,
		    size_t columns)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		struct strbuf line = STRBUF_INIT;

		size_t blanks = strspn(text, " ");

		strbuf_add(&line, text, length);
		if (blanks && blanks < indent)
			strbuf_adds(out, strbuf_text(&line));
		else
			text_add_wrapped(out, strbuf_text(&line),
					 blanks > indent ? blanks : indent,
					 columns);
		strbuf_addch(out, '\n');
		strbuf_release(&line);
		text += length;
		text += *text == '\n';
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
