/* Comparing names without libc: its functions may not be usable yet. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PRELOAD_TEXT_H
#define AUTOFIT_PROBES_PRELOAD_TEXT_H

#include <stdbool.h>

/*
 * dlsym is called before a program has begun, also by those who replace
 * strcmp and its kin (sanitizers) and look for what they replace: until they
 * have found it, theirs must not be called.
 */

/* As strcmp. */
static inline int text_compare(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return (unsigned char)*a - (unsigned char)*b;
}

static inline bool text_is(const char *a, const char *b)
{
	return text_compare(a, b) == 0;
}

static inline bool text_begins(const char *text, const char *prefix)
{
	while (*prefix && *text == *prefix) {
		text++;
		prefix++;
	}
	return *prefix == '\0';
}

#endif
