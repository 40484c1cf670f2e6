/* A growable piece of text that knows its length and may hold NUL bytes. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_BASE_STRBUF_H
#define AUTOFIT_BASE_STRBUF_H

#include <stddef.h>

struct strbuf {
	char *data; /* NULL or NUL-terminated; see strbuf_text */
	size_t length;
	size_t capacity;
};

#define STRBUF_INIT                                                            \
	{                                                                      \
		0                                                              \
	}

void strbuf_add(struct strbuf *buf, const void *data, size_t length);
void strbuf_adds(struct strbuf *buf, const char *text);
void strbuf_addch(struct strbuf *buf, char c);
/* Between double quotes, of which those in the text are doubled, as a cell of
 * CSV (RFC 4180); NULL is an empty text. */
void strbuf_add_quoted(struct strbuf *buf, const char *text);
/* In decimal digits. */
void strbuf_addu(struct strbuf *buf, size_t number);
void strbuf_addf(struct strbuf *buf, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The text, "" when empty. Valid until the next change. */
const char *strbuf_text(const struct strbuf *buf);

/* Give the text away (the caller frees it) and start empty. */
char *strbuf_detach(struct strbuf *buf);

/* Empty it, keeping the memory. */
void strbuf_reset(struct strbuf *buf);
void strbuf_release(struct strbuf *buf);

#endif
