/* Words a difference between two identities in a few short words. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_IDENTITY_DIFFERENCE_H
#define AUTOFIT_CONFIGS_IDENTITY_DIFFERENCE_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

/* More entries are only counted. */
#define DIFFERENCE_SHOWN 3

struct difference {
	struct strbuf *out; /* the caller's; NULL: nothing is written */
	size_t count;
};

/*
 * Begin an entry: the caller appends its words to the buffer that is returned.
 * NULL when enough were shown, or there is nowhere to write.
 */
struct strbuf *difference_next(struct difference *difference);

/* After the last entry: ", and 2 more". */
void difference_finish(const struct difference *difference);

enum plain_end { PLAIN_HEAD, PLAIN_TAIL };

/*
 * Append the text with '?' for control bytes and what is not UTF-8. Longer
 * than max_bytes (over 3): only that end of it is kept, with "..." for the
 * rest; no character is cut in two.
 */
void plain_add(struct strbuf *out, const char *text, size_t max_bytes,
	       enum plain_end end);

#endif
