/* A piece of a text that is not the text's own: where it is, how long. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_BASE_SPAN_H
#define AUTOFIT_BASE_SPAN_H

#include <stdbool.h>
#include <stddef.h>

/* Any bytes; not NUL-terminated. */
struct span {
	const char *at;
	size_t length;
};

/* Empty when end is not behind at. */
struct span span_from(const char *at, const char *end);
const char *span_end(struct span span);

bool span_begins(struct span span, const char *text);
bool span_ends(struct span span, const char *text);
bool span_is(struct span span, const char *text);

/* Where text first stands in it, or NULL. */
const char *span_find(struct span span, const char *text);

/* Without blanks at both ends. */
struct span span_trimmed(struct span span);
/* The last part of text between ": "; text becomes what is before it. */
struct span span_cut_part(struct span *text);

#endif
