/* Copies of files that nothing keeps a probe from changing, to be put back. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_ISOLATION_COMPARE_KEPT_FILES_H
#define AUTOFIT_PROBES_ISOLATION_COMPARE_KEPT_FILES_H

#include "base/error.h"
#include "base/strlist.h"
#include "probes/isolation/compare/snapshot.h"

#include <stdint.h>

/* Bytes that are copied at most; what shares its blocks costs nothing. */
#define KEPT_BYTES_MAX (UINT64_C(256) << 20)

/* All bytes stand in one file without a name: no kill can leave it behind. */
struct kept_files {
	int fd;          /* -1: nothing is kept */
	int64_t *places; /* of each entry of the snapshot; -1: no copy */
};

/*
 * Keep the bytes of every file of the snapshot, in a file of the folder.
 * -E2BIG when they are more than max_bytes. What the user may not read is
 * passed over. Release it, whatever the result.
 */
int kept_files_take(struct kept_files *kept, const struct snapshot *before,
		    const char *folder, uint64_t max_bytes, struct error *err);

/*
 * Make what differs between the snapshots and stood in the first one as it was:
 * bytes, mode and mtime of files, folders, links. New files stay. -errno with
 * the first that cannot be put back; the others are.
 */
int kept_files_put_back(const struct kept_files *kept,
			const struct snapshot *before,
			const struct snapshot *after, struct error *err);

void kept_files_release(struct kept_files *kept);

#endif
