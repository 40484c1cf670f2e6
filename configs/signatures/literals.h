/* Many literals looked for in one pass over a text. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_SIGNATURES_LITERALS_H
#define AUTOFIT_CONFIGS_SIGNATURES_LITERALS_H

#include "base/error.h"
#include "base/strlist.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LITERAL_MIN_BYTES 4
#define LITERAL_MAX_BYTES 1000
#define LITERALS_MAX 1024

struct literals;

/* Which of the literals are in a text: literals_found_has asks for one. */
struct literals_found {
	uint64_t words[LITERALS_MAX / 64];
};

/*
 * Literal i is items[i], any bytes but NUL. It is fastest when none is shorter
 * than 7 bytes: one short literal makes the whole set slower. -EINVAL when one
 * is too short or too long, -E2BIG when there are too many; *set is then NULL.
 * The caller frees the set.
 */
int literals_make(struct literals **set, const struct strlist *items,
		  struct error *err);
void literals_free(struct literals *set);

/*
 * Whether any literal is in the text; found is written only then. Pure,
 * allocates nothing; its time grows with length alone, save where literals
 * are all but there.
 */
bool literals_find(const struct literals *set, const char *text, size_t length,
		   struct literals_found *found);

static inline bool literals_found_has(const struct literals_found *found,
				      size_t index)
{
	return found->words[index / 64] >> (index % 64) & 1;
}

#endif
