/* A stream of bytes with secrets replaced, whatever the pieces. Pure. */
/* SPDX-License-Identifier: MIT */
#include "probes/output/redact.h"

#include "configs/secrets/secrets.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* What is fed at once is copied in pieces, so that held stays small. */
#define PIECE_BYTES ((size_t)65536)
/* Bytes of a group, and the groups of each value, unless one is too short. */
#define WINDOW 4
#define STRIDE 4

/* Four bytes, the first in the lowest place. */
static uint32_t redact_number_of(const char *bytes)
{
	const unsigned char *b = (const unsigned char *)bytes;

	return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
	       (uint32_t)b[3] << 24;
}

/* The place in the filter, by Knuth's multiplicative hash. */
static uint32_t bit_of(uint32_t number)
{
	return number * UINT32_C(2654435761) >> 17;
}

static bool may_begin(const struct redact *redact, const char *bytes)
{
	uint32_t bit = bit_of(redact_number_of(bytes) & redact->mask);

	return redact->filter[bit / 8] >> bit % 8 & 1;
}

/* The first groups of a value: one of them falls on each stride-th byte. */
static void add_to_filter(struct redact *redact, const char *value)
{
	char first[WINDOW + STRIDE] = "";

	assert(*value);
	(void)memccpy(first, value, '\0', WINDOW + STRIDE - 1);
	for (size_t i = 0; i < redact->stride; i++) {
		uint32_t bit =
			bit_of(redact_number_of(first + i) & redact->mask);

		redact->filter[bit / 8] |= (unsigned char)(1U << bit % 8);
	}
}

void redact_open(struct redact *redact, const struct strlist *values)
{
	size_t shortest = WINDOW + STRIDE - 1;

	memset(redact, 0, sizeof(*redact));
	redact->values = values;
	for (size_t i = 0; values && i < values->count; i++) {
		size_t length = strlen(values->items[i]);

		if (length > redact->longest)
			redact->longest = length;
		if (length > 0 && length < shortest)
			shortest = length;
	}
	redact->stride = shortest > WINDOW ? shortest - WINDOW + 1 : 1;
	redact->mask = shortest < WINDOW ? UINT32_MAX >> 8 * (WINDOW - shortest)
					 : UINT32_MAX;
	assert(redact->stride >= 1 && redact->stride <= STRIDE);
	for (size_t i = 0; values && i < values->count; i++)
		if (values->items[i][0])
			add_to_filter(redact, values->items[i]);
}

/* What stands at the beginning of bytes. */
struct found {
	size_t length; /* of the longest value that is whole; 0: none */
	bool is_open;  /* a longer one may stand there, cut off by the end */
};

static struct found look(const struct redact *redact, const char *bytes,
			 size_t length)
{
	struct found found = { 0, false };

	if (length >= WINDOW && !may_begin(redact, bytes))
		return found;
	for (size_t i = 0; i < redact->values->count; i++) {
		const char *value = redact->values->items[i];
		size_t size = strlen(value);

		if (!size || *value != *bytes ||
		    memcmp(value, bytes, size < length ? size : length) != 0)
			continue;
		if (size > length)
			found.is_open = true;
		else if (size > found.length)
			found.length = size;
	}
	return found;
}

/*
 * The first place from at on where a value may begin, or length. Of one that
 * begins before at + stride, the group looked at is one of its first.
 */
static size_t redact_next_place(const struct redact *redact, const char *bytes,
				size_t at, size_t length)
{
	size_t stride = redact->stride;

	assert(at <= length);
	while (length - at >= WINDOW + stride - 1 &&
	       !may_begin(redact, bytes + at + stride - 1))
		at += stride;
	return at;
}

/* Bytes that begin no value, but for those that *** stands for already. */
static void pass(const struct redact *redact, size_t from, size_t to,
		 struct strbuf *out)
{
	if (from < redact->masked)
		from = redact->masked;
	if (from < to)
		strbuf_add(out, redact->held.data + from, to - from);
}

static void mask(struct redact *redact, size_t at, size_t length,
		 struct strbuf *out)
{
	assert(length > 0);
	redact->found++;
	if (at >= redact->masked)
		strbuf_adds(out, SECRET_MASK);
	if (at + length > redact->masked)
		redact->masked = at + length;
}

/* Take what is held from its beginning on, as far as it is decided. */
static void decide(struct redact *redact, bool is_end, struct strbuf *out)
{
	const char *bytes = redact->held.data;
	size_t length = redact->held.length;
	size_t at = 0;

	while (at < length) {
		size_t next = redact_next_place(redact, bytes, at, length);
		struct found found;

		pass(redact, at, next, out);
		at = next;
		if (at == length)
			break;
		found = look(redact, bytes + at, length - at);
		if (found.is_open && !is_end)
			break;
		if (found.length)
			mask(redact, at, found.length, out);
		pass(redact, at, at + 1, out);
		at++;
	}
	assert(at <= length);
	memmove(redact->held.data, bytes + at, length - at);
	redact->held.length = length - at;
	redact->masked -= redact->masked < at ? redact->masked : at;
	assert(redact->masked <= redact->held.length);
}

void redact_feed(struct redact *redact, const char *bytes, size_t length,
		 struct strbuf *out)
{
	if (!redact->longest) {
		strbuf_add(out, bytes, length);
		return;
	}
	while (length > 0) {
		size_t count = length < PIECE_BYTES ? length : PIECE_BYTES;

		strbuf_add(&redact->held, bytes, count);
		decide(redact, false, out);
		bytes += count;
		length -= count;
	}
}

void redact_finish(struct redact *redact, struct strbuf *out)
{
	if (redact->held.length)
		decide(redact, true, out);
}

void redact_release(struct redact *redact)
{
	strbuf_release(&redact->held);
	memset(redact, 0, sizeof(*redact));
}
