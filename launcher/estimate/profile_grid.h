/* A table of a profile with its figures worked out. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_ESTIMATE_PROFILE_GRID_H
#define AUTOFIT_LAUNCHER_ESTIMATE_PROFILE_GRID_H

#include "base/error.h"
#include "base/strbuf.h"
#include "base/strlist.h"
#include "estimator/profiles/profile.h"

#include <stddef.h>

/* All zero: empty. Cells of one row after the other, the first names columns.
 */
struct profile_grid {
	struct strlist cells, notes;
	enum profile_source *sources; /* of each cell */
	size_t columns, capacity;
};

/* err begins with file:line. The caller releases it, whatever the result. */
int profile_grid_fill(struct profile_grid *grid, const struct profile *profile,
		      const struct profile_section *table, struct error *err);
void profile_grid_release(struct profile_grid *grid);
size_t profile_grid_rows(const struct profile_grid *grid);

/* Left-aligned, numbers right-aligned, cells wrapped to fit in 80 columns. */
void profile_grid_text(struct strbuf *out, const struct profile_grid *grid);

#endif
