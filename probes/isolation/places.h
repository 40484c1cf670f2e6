/* Where a probe writes for real, and where never, by path. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_ISOLATION_PLACES_H
#define AUTOFIT_PROBES_ISOLATION_PLACES_H

#include "base/strlist.h"

#include <stdbool.h>
#include <stddef.h>

struct place {
	const char *path; /* the caller's */
	bool shared;      /* written for real; else guarded */
};

struct places {
	struct place *items; /* a place stands before those inside it */
	size_t count;
};

/*
 * Of two lists (either may be NULL). What stands in both is shared: the user
 * has asked for it. The lists stay the caller's, and must outlive it.
 */
void places_make(struct places *places, const struct strlist *shared,
		 const struct strlist *guarded);
void places_release(struct places *places);

/* The deepest place that path is, or is strictly below; NULL: none. */
const struct place *places_at(const struct places *places, const char *path);
const struct place *places_above(const struct places *places, const char *path);

/* Is a guarded place strictly below path? */
bool places_has_guarded_below(const struct places *places, const char *path);

#endif
