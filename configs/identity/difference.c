/* Words a difference between two identities in a few short words. Pure. */
/* SPDX-License-Identifier: MIT */
#include "configs/identity/difference.h"

#include <string.h>

struct strbuf *difference_next(struct difference *difference)
{
	struct strbuf *out = difference->out;

	difference->count++;
	if (!out || difference->count > DIFFERENCE_SHOWN)
		return NULL;
	if (difference->count > 1)
		strbuf_adds(out, "; ");
	return out;
}

void difference_finish(const struct difference *difference)
{
	if (difference->out && difference->count > DIFFERENCE_SHOWN)
		strbuf_addf(difference->out, ", and %zu more",
			    difference->count - DIFFERENCE_SHOWN);
}

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* How many bytes the first of a character promises; 0: it is no first one. */
static size_t promised_bytes(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first <= 0xdf)
		return 2;
	if (first >= 0xe0 && first <= 0xef)
		return 3;
	return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

/* Bytes of the character that may be shown as it is, or 0. */
static size_t shown_bytes(const char *text)
{
	unsigned char first = (unsigned char)text[0];
	unsigned char second = (unsigned char)text[1];
	size_t length = promised_bytes(first);

	if (length == 1)
		return first >= 0x20 && first != 0x7f;
	for (size_t i = 1; i < length; i++)
		if (!is_continuation(text[i]))
			return 0;
	/* C1 controls, too long forms, surrogates, beyond Unicode. */
	if ((first == 0xc2 && second < 0xa0) ||
	    (first == 0xe0 && second < 0xa0) ||
	    (first == 0xed && second >= 0xa0) ||
	    (first == 0xf0 && second < 0x90) ||
	    (first == 0xf4 && second >= 0x90))
		return 0;
	return length;
}

/* As much as ends within max_bytes. */
static void add_shown(struct strbuf *out, const char *text, size_t max_bytes)
{
	size_t used = 0;

	while (text[used]) {
		size_t length = shown_bytes(text + used);

		if (used + (length ? length : 1) > max_bytes)
			return;
		if (length)
			strbuf_add(out, text + used, length);
		else
			strbuf_addch(out, '?');
		used += length ? length : 1;
	}
}

void plain_add(struct strbuf *out, const char *text, size_t max_bytes,
	       enum plain_end end)
{
	static const char dots[] = "...";
	size_t length = strlen(text);
	size_t keep = max_bytes - (sizeof(dots) - 1);

	if (length <= max_bytes) {
		add_shown(out, text, length);
		return;
	}
	if (end == PLAIN_HEAD) {
		add_shown(out, text, keep);
		strbuf_adds(out, dots);
		return;
	}
	text += length - keep;
	while (is_continuation(*text))
		text++;
	strbuf_adds(out, dots);
	add_shown(out, text, keep);
}
