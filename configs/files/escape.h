/* Percent escapes: any bytes as printable ASCII without blanks, ; and #. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_FILES_ESCAPE_H
#define AUTOFIT_CONFIGS_FILES_ESCAPE_H

#include "base/strbuf.h"

#include <stddef.h>

/* Append the text escaped: %XX for what is not printable, blank, % ; or #. */
void escape_add(struct strbuf *out, const char *text);

/*
 * As escape_add, but at most max_bytes (>= 3) and no escape cut in two.
 * Returns how many bytes of text are in the piece.
 */
size_t escape_piece(struct strbuf *out, const char *text, size_t max_bytes);

/*
 * Append what the escaped text stands for. -EINVAL for a % without two hex
 * digits, for %00, and for control bytes; out may then hold a part of it.
 */
int unescape_add(struct strbuf *out, const char *escaped);

#endif
