/* Many literals looked for in one pass over a text. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_SIGNATURES_LITERALS_H
#define AUTOFIT_CONFIGS_SIGNATURES_LITERALS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LITERAL_MIN_BYTES 4
#define LITERAL_MAX_BYTES 1000
#define LITERALS_MAX 2048
#define LITERAL_OWNERS_MAX 1024

struct literals;

struct literal {
	const char *text;
	size_t owner; /* < LITERAL_OWNERS_MAX; several literals may have one */
};

/* The owners of literals that are in a text. */
struct literals_found {
	uint64_t words[LITERAL_OWNERS_MAX / 64];
};

/*
 * Any bytes but NUL; the texts stay the caller's and must outlive the set. It
 * is fastest when none is shorter than 7 bytes: one short literal makes the
 * whole set slower. -EINVAL when one is too short or too long, -E2BIG when
 * there are too many; *set is then NULL. The caller frees the set.
 */
int literals_make(struct literals **set, const struct literal *items,
		  size_t count, struct error *err);
void literals_free(struct literals *set);

/*
 * Whether any literal is in the text; its owner is added to found. Pure,
 * allocates nothing; its time grows with length alone, save where literals are
 * all but there.
 */
bool literals_find(const struct literals *set, const char *text, size_t length,
		   struct literals_found *found);

static inline bool literals_found_has(const struct literals_found *found,
				      size_t owner)
{
	return found->words[owner / 64] >> (owner % 64) & 1;
}

#endif
