/* Small questions about texts. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_BASE_MATCH_H
#define AUTOFIT_BASE_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool text_ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length &&
	       strcmp(text + length - end_length, end) == 0;
}

/* How many lines of it are ended by a newline. */
static inline size_t text_newlines(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

/* The list ends with NULL. */
static inline bool text_is_listed(const char *const *list, const char *text)
{
	for (; *list; list++)
		if (strcmp(*list, text) == 0)
			return true;
	return false;
}

#endif
