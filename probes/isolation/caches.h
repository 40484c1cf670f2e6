/* Caches that probes share with the user: what is there stays as it is. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_ISOLATION_CACHES_H
#define AUTOFIT_PROBES_ISOLATION_CACHES_H

#include "base/strlist.h"
#include "probes/isolation/shared_paths.h"

#include <stddef.h>
#include <stdint.h>

struct snapshot;

/* More entries in a cache: it costs too much to compare, and is not shared. */
#define CACHE_ENTRIES_MAX 50000

/* A folder as it was before anything of it was used. */
struct cache_before {
	struct snapshot *files;
	int64_t taken_ns; /* of the wall clock, when that was begun */
};

struct caches {
	struct strlist folders;       /* of them all before is known */
	struct cache_before *befores; /* one for each folder */
	struct strlist wanted; /* not there, and to be shared once made */
	struct strlist made;   /* made before anybody used them */
};

/*
 * Find the caches of this environment and append to shared those that probes
 * may write for real, without links where they are there. One with too many
 * entries to compare is left out. Changes nothing. Release it.
 */
void caches_open(struct caches *caches, struct strlist *shared,
		 const struct strlist *environment);

/*
 * Make those that libraries fill on first use and that are not there: where a
 * probe could not make them for itself. caches_release removes them again when
 * nothing has come into them.
 */
void caches_make(struct caches *caches, struct strlist *shared);

/*
 * After a probe in a view, with its scratch folder still there: what it made of
 * such a cache in its layers becomes the real one, so that it is downloaded
 * once. Where it cannot be moved, the next probe fills the real one.
 */
void caches_adopt(struct caches *caches, struct strlist *shared,
		  const char *scratch);

/*
 * Append the files, at most max of them, that were there at the start and are
 * gone or different now; how many there are in all. Indexes, locks and the like
 * are the caches' own, and what was being written at the start is another's.
 */
size_t caches_changed(const struct caches *caches, struct strlist *out,
		      size_t max);

void caches_release(struct caches *caches);

#endif
