/* A stream of bytes with secrets replaced, whatever the pieces. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OUTPUT_REDACT_H
#define AUTOFIT_PROBES_OUTPUT_REDACT_H

#include "base/strbuf.h"
#include "base/strlist.h"

#include <stddef.h>
#include <stdint.h>

#define REDACT_FILTER_BYTES 4096

struct redact {
	const struct strlist *values; /* the caller's; NULL or empty: none */
	struct strbuf held; /* a beginning of a value, not yet decided */
	size_t longest;     /* bytes of the longest value */
	size_t masked;  /* first bytes of held that *** stands for already */
	uint64_t found; /* values masked so far */
	size_t stride;  /* each so many bytes one group is looked at */
	uint32_t mask;  /* of four bytes, those that the filter looks at */
	/* Groups of bytes that values begin with: what is not in it is none. */
	unsigned char filter[REDACT_FILTER_BYTES];
};

/* values must outlive it. */
void redact_open(struct redact *redact, const struct strlist *values);

/*
 * Append to out what is decided of the stream so far, each value as ***; of
 * values that overlap, one *** for all. At most the longest value's length is
 * held back. With no values bytes pass as they are at the cost of a copy; with
 * some, over 100 MB/s.
 */
void redact_feed(struct redact *redact, const char *bytes, size_t length,
		 struct strbuf *out);
/* Append what is still held. */
void redact_finish(struct redact *redact, struct strbuf *out);
void redact_release(struct redact *redact);

#endif
