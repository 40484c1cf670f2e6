/* Contents of files by a short stamp, to see later whether they changed. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_IDENTITY_STAMPS_H
#define AUTOFIT_CONFIGS_IDENTITY_STAMPS_H

#include "base/strbuf.h"
#include "base/strlist.h"

#include <stdbool.h>

#define STAMPS_MAX 4096
#define STAMP_TEXT_MAX 64

/*
 * 16 hex digits of the content (size and mtime where it is over 4 MiB), or
 * "gone" when it is no regular file that can be read.
 */
void stamp_file(const char *path, char stamp[STAMP_TEXT_MAX]);

/* Append "stamp path" for the file. */
void stamps_add(struct strlist *stamps, const char *path);

/*
 * Do all files still have their stamps? difference (may be NULL) receives what
 * does not, for the user: "model.py changed; utils.py is gone". A malformed
 * stamp counts as changed. Reads at most STAMPS_MAX files.
 */
bool stamps_hold(const struct strlist *stamps, struct strbuf *difference);

#endif
