/* Folders before and after a probe, where nothing keeps it from writing. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_ISOLATION_COMPARE_SNAPSHOT_H
#define AUTOFIT_PROBES_ISOLATION_COMPARE_SNAPSHOT_H

#include "base/error.h"
#include "base/strlist.h"

#include <stdbool.h>
#include <stdint.h>

/* More entries, or deeper: too much to compare (-E2BIG). */
#define SNAPSHOT_ENTRIES_MAX 200000
#define SNAPSHOT_DEPTH_MAX 64

struct snapshot;

/*
 * Everything below the folders (follows no links, enters no other mount) but
 * what lies in excluded: kind, size, mtime, ctime, inode, target of a link.
 * -E2BIG with the folder that is too large; the caller frees it.
 */
int snapshot_take(struct snapshot **snapshot, const struct strlist *folders,
		  const struct strlist *excluded, struct error *err);
/* The same of all below the folders, but -E2BIG with more entries than this. */
int snapshot_take_some(struct snapshot **snapshot,
		       const struct strlist *folders, size_t entries_max,
		       struct error *err);
void snapshot_free(struct snapshot *snapshot);

/* What was seen of one entry; texts are the snapshot's. */
struct snapshot_file {
	const char *path, *target; /* target: of a link */
	uint64_t inode, size;
	/* Times of a folder are 0: its entries tell of them. */
	int64_t changed_ns, modified_ns;
	uint32_t mode; /* kind and permissions */
};

/* The entry with this number, in order of path; false: there are not as many.
 */
bool snapshot_file_at(const struct snapshot *snapshot, size_t number,
		      struct snapshot_file *file);

#endif
