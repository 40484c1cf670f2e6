/* Bytes to lines: split on \n and \r, ANSI sequences stripped. Pure. */
/* SPDX-License-Identifier: MIT */
#include "probes/output/lines.h"

#include "base/alloc.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * Where in a sequence of ECMA-48 the last byte was. An end of line ends every
 * sequence, so that one that is never closed hides no later line.
 */
enum escape {
	ESCAPE_NONE,
	ESCAPE_BEGUN,  /* ESC */
	ESCAPE_CSI,    /* ESC [ up to its final byte */
	ESCAPE_OSC,    /* ESC ] (or P X ^ _) up to BEL or ST */
	ESCAPE_OSC_ST, /* ESC within it: a backslash ends it */
	ESCAPE_SHORT,  /* ESC and intermediate bytes, as ESC ( B */
};

static void lines_append(struct lines *lines, const char *bytes, size_t length)
{
	size_t room = LINE_MAX_BYTES - lines->length;
	size_t needed;

	assert(lines->length <= LINE_MAX_BYTES);
	if (length > room)
		length = room;
	if (length == 0)
		return;
	needed = lines->length + length;
	if (needed > lines->capacity) {
		if (needed < lines->capacity * 2)
			needed = lines->capacity * 2;
		if (needed < 256)
			needed = 256;
		if (needed > LINE_MAX_BYTES)
			needed = LINE_MAX_BYTES;
		lines->data = xrealloc(lines->data, needed, 1);
		lines->capacity = needed;
	}
	assert(needed <= lines->capacity);
	memcpy(lines->data + lines->length, bytes, length);
	lines->length += length;
}

/* The byte after ESC. */
static enum escape escape_begin(unsigned char byte)
{
	switch (byte) {
	case 0x1b:
		return ESCAPE_BEGUN;
	case '[':
		return ESCAPE_CSI;
	case ']':
	case 'P':
	case 'X':
	case '^':
	case '_':
		return ESCAPE_OSC;
	default:
		return byte >= 0x20 && byte <= 0x2f ? ESCAPE_SHORT
						    : ESCAPE_NONE;
	}
}

/* One byte within a sequence: the state after it. */
static enum escape escape_next(enum escape state, unsigned char byte)
{
	if (byte == 0x1b)
		return state == ESCAPE_OSC ? ESCAPE_OSC_ST : ESCAPE_BEGUN;
	switch (state) {
	case ESCAPE_BEGUN:
		return escape_begin(byte);
	case ESCAPE_CSI:
		return byte >= 0x20 && byte <= 0x3f ? ESCAPE_CSI : ESCAPE_NONE;
	case ESCAPE_OSC:
		return byte == 0x07 ? ESCAPE_NONE : ESCAPE_OSC;
	case ESCAPE_OSC_ST:
		return byte == '\\' ? ESCAPE_NONE : escape_begin(byte);
	case ESCAPE_SHORT:
		return byte >= 0x20 && byte <= 0x2f ? ESCAPE_SHORT
						    : ESCAPE_NONE;
	case ESCAPE_NONE:
		break;
	}
	return ESCAPE_NONE;
}

/* A control byte or one above ASCII belongs to no such sequence: keep it. */
static bool breaks_sequence(enum escape state, unsigned char byte)
{
	if (state == ESCAPE_OSC)
		return false;
	return byte != 0x1b && (byte < 0x20 || byte > 0x7e);
}

static void append_stripped(struct lines *lines, const char *bytes,
			    size_t length)
{
	enum escape state = (enum escape)lines->escape;

	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)bytes[i];

		if (byte == '\b')
			continue;
		if (state == ESCAPE_NONE && byte != 0x1b) {
			lines_append(lines, bytes + i, 1);
		} else if (state == ESCAPE_NONE) {
			state = ESCAPE_BEGUN;
		} else if (breaks_sequence(state, byte)) {
			state = ESCAPE_NONE;
			lines_append(lines, bytes + i, 1);
		} else {
			state = escape_next(state, byte);
		}
	}
	lines->escape = (int)state;
}

static bool is_plain(const struct lines *lines, const char *bytes,
		     size_t length)
{
	return lines->escape == ESCAPE_NONE && !memchr(bytes, 0x1b, length) &&
	       !memchr(bytes, '\b', length);
}

static void lines_end_line(struct lines *lines, line_cb *on_line, void *context)
{
	size_t length = lines->length;

	lines->escape = ESCAPE_NONE;
	lines->length = 0;
	assert(length <= LINE_MAX_BYTES);
	if (length > 0)
		on_line(context, lines->data, length);
}

/* The last bytes of a line: delivered where they are, when nothing is held. */
static void take_end(struct lines *lines, const char *bytes, size_t length,
		     line_cb *on_line, void *context)
{
	if (is_plain(lines, bytes, length)) {
		if (lines->length == 0) {
			if (length > LINE_MAX_BYTES)
				length = LINE_MAX_BYTES;
			if (length > 0)
				on_line(context, bytes, length);
			return;
		}
		lines_append(lines, bytes, length);
	} else {
		append_stripped(lines, bytes, length);
	}
	lines_end_line(lines, on_line, context);
}

static void take_part(struct lines *lines, const char *bytes, size_t length)
{
	if (is_plain(lines, bytes, length))
		lines_append(lines, bytes, length);
	else
		append_stripped(lines, bytes, length);
}

/* Bytes without \n; each \r in them ends a line. Returns where the rest is. */
static const char *split_returns(struct lines *lines, const char *bytes,
				 const char *end, line_cb *on_line,
				 void *context)
{
	const char *stop;

	while ((stop = memchr(bytes, '\r', (size_t)(end - bytes)))) {
		take_end(lines, bytes, (size_t)(stop - bytes), on_line,
			 context);
		bytes = stop + 1;
	}
	assert(bytes <= end);
	return bytes;
}

void lines_feed(struct lines *lines, const char *bytes, size_t length,
		line_cb *on_line, void *context)
{
	const char *end = bytes + length;
	const char *stop;

	if (length == 0)
		return;
	while ((stop = memchr(bytes, '\n', (size_t)(end - bytes)))) {
		bytes = split_returns(lines, bytes, stop, on_line, context);
		take_end(lines, bytes, (size_t)(stop - bytes), on_line,
			 context);
		bytes = stop + 1;
	}
	bytes = split_returns(lines, bytes, end, on_line, context);
	take_part(lines, bytes, (size_t)(end - bytes));
}

void lines_finish(struct lines *lines, line_cb *on_line, void *context)
{
	lines_end_line(lines, on_line, context);
}

void lines_release(struct lines *lines)
{
	free(lines->data);
	memset(lines, 0, sizeof(*lines));
}
