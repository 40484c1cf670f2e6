/* A piece of a text that is not the text's own: where it is, how long. Pure. */
/* SPDX-License-Identifier: MIT */
#include "base/span.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

struct span span_from(const char *at, const char *end)
{
	return (struct span){ at, at < end ? (size_t)(end - at) : 0 };
}

const char *span_end(struct span span)
{
	assert(span.at || !span.length);
	return span.length ? span.at + span.length : span.at;
}

bool span_begins(struct span span, const char *text)
{
	size_t length = strlen(text);

	return span.length >= length && memcmp(span.at, text, length) == 0;
}

bool span_ends(struct span span, const char *text)
{
	size_t length = strlen(text);

	return span.length >= length &&
	       memcmp(span_end(span) - length, text, length) == 0;
}

bool span_is(struct span span, const char *text)
{
	return span.length == strlen(text) && span_begins(span, text);
}

const char *span_find(struct span span, const char *text)
{
	return memmem(span.at, span.length, text, strlen(text));
}

struct span span_trimmed(struct span span)
{
	while (span.length && isspace((unsigned char)*span.at)) {
		span.at++;
		span.length--;
	}
	while (span.length && isspace((unsigned char)span_end(span)[-1]))
		span.length--;
	return span;
}

struct span span_cut_part(struct span *text)
{
	const char *at = span_end(*text);
	struct span part;

	while (at > text->at &&
	       !(at - text->at >= 2 && at[-2] == ':' && at[-1] == ' '))
		at--;
	part = span_from(at, span_end(*text));
	*text = span_from(text->at, at > text->at ? at - 2 : at);
	return span_trimmed(part);
}
