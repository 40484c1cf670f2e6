/* One PCRE2 pattern under limits, so that no text makes it run for long. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_SIGNATURES_PATTERN_H
#define AUTOFIT_CONFIGS_SIGNATURES_PATTERN_H

#include "base/error.h"
#include "base/strlist.h"

#include <stdbool.h>
#include <stddef.h>

struct pattern;

/* The part [from, to) of text; bytes before it are seen by look-behinds. */
struct pattern_window {
	const char *text;
	size_t from, to;
	bool cut; /* the line goes on behind: $ does not match at its end */
};

struct pattern_span {
	size_t from, to; /* in text */
};

/*
 * 8-bit, any encoding; "." matches every byte. On failure *pattern is NULL and
 * the message tells the place in the pattern. The caller frees it.
 */
int pattern_make(struct pattern **pattern, const char *text, struct error *err);
void pattern_free(struct pattern *pattern);

/* The number of the group with this name, or -1. */
int pattern_group(const struct pattern *pattern, const char *name);
size_t pattern_group_count(const struct pattern *pattern);

/*
 * The first match in the window; span (may be NULL) is where the group is, 0
 * being the whole match. False when there is none, when a limit was passed,
 * or when the group took no part. Allocates nothing; one thread at a time.
 */
bool pattern_match(const struct pattern *pattern,
		   const struct pattern_window *window, int group,
		   struct pattern_span *span);

/*
 * Whether every match of the pattern surely has one of the literals in it:
 * each of its outermost alternatives shows one outside groups and classes.
 * Says no in doubt.
 */
bool pattern_needs(const char *text, const struct strlist *literals);

#endif
