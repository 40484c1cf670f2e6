/* Values of an identity that people know by other words. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_IDENTITY_IDENTITY_WORDS_H
#define AUTOFIT_CONFIGS_IDENTITY_IDENTITY_WORDS_H

#include "base/units.h"
#include "configs/identity/identity_lists.h"

#include <stdbool.h>

/* "tuned with --grow, now without" for a label that now has this value; NULL:
 * label and values say it as they are. */
const char *identity_words_of(const struct piece *label,
			      const struct piece *now);

/* "4.00 GiB" of "4294967296 B"; false: it is no number of bytes. */
bool identity_words_bytes(const struct piece *piece, char text[BYTES_TEXT_MAX]);

#endif
