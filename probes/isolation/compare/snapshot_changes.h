/* What changed between two snapshots. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_ISOLATION_COMPARE_SNAPSHOT_CHANGES_H
#define AUTOFIT_PROBES_ISOLATION_COMPARE_SNAPSHOT_CHANGES_H

#include "base/strlist.h"
#include "probes/isolation/compare/snapshot.h"

#include <stddef.h>

/*
 * Append the paths that are new, gone or changed in `after`, at most max of
 * them, in order of path. The access time is no change, nor is the mtime of a
 * folder whose entries are the same. How many there are in all.
 */
size_t snapshot_differences(struct strlist *out, const struct snapshot *before,
			    const struct snapshot *after, size_t max);

/*
 * As above, but of what is there in both, the same file with as many bytes:
 * changed are its mode, owner, times or attributes, or bytes in it.
 */
size_t snapshot_touched(struct strlist *out, const struct snapshot *before,
			const struct snapshot *after, size_t max);

/*
 * As above, but of what was there before only what is lost: files that are
 * gone, or another file, or with another size or mtime; links with another
 * target.
 */
size_t snapshot_lost(struct strlist *out, const struct snapshot *before,
		     const struct snapshot *after, size_t max);

#endif
