/* Values of an identity that people know by other words. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_IDENTITY_IDENTITY_WORDS_H
#define AUTOFIT_CONFIGS_IDENTITY_IDENTITY_WORDS_H

#include "base/strbuf.h"
#include "configs/identity/identity_lists.h"

#include <stdbool.h>

/* "tuned with --grow, now without" for a label that now has this value; NULL:
 * label and values say it as they are. */
const char *identity_words_of(const struct piece *label,
			      const struct piece *now);

/* Appends "4.00 GiB, was 420 MiB"; false, and nothing, where one of them is no
 * number of bytes or both would look the same. */
bool identity_words_add_bytes(struct strbuf *out, const struct piece *now,
			      const struct piece *was);

#endif
