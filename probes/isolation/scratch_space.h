/* Room for what probes write: where it is, how much, and whether it is RAM. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_ISOLATION_SCRATCH_SPACE_H
#define AUTOFIT_PROBES_ISOLATION_SCRATCH_SPACE_H

#include "base/error.h"
#include "base/strlist.h"
#include "base/units.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/vfs.h>

/* Less before a probe, and none is started. */
#define SCRATCH_FREE_MIN (256 * MIB)
/* Less while one runs, and it is stopped. */
#define SCRATCH_FREE_FLOOR (64 * MIB)
/* The most of a host budget that is kept for scratch in memory. */
#define SCRATCH_RESERVE_MAX (2 * GIB)

struct scratch_space {
	uint64_t free_bytes; /* UINT64_MAX: no limit of its own */
	uint64_t used_bytes; /* of the whole file system; 0: not known */
	bool is_memory;      /* tmpfs or ramfs */
};

/*
 * The file system the folder is on, or will be on once it is made. 0, -ENOSPC
 * below SCRATCH_FREE_MIN, -EROFS, or why it cannot be told; one line names
 * --scratch. space is filled in but for the last.
 */
int scratch_space_check(const char *path, struct scratch_space *space,
			struct error *err);

/*
 * A running probe has filled it: under SCRATCH_FREE_FLOOR is free or, in
 * memory, more than reserve_bytes came on since start. A file system that
 * cannot be asked is not full.
 */
bool scratch_space_is_full(const char *path, const struct scratch_space *start,
			   uint64_t reserve_bytes);

/* Where the folders of probes are to be made. */
struct scratch_choice {
	char *folder;   /* the caller frees; not made yet */
	bool is_memory; /* subtract scratch_space_reserve() from a host budget
			 */
	uint64_t free_bytes;
};

/*
 * given (--scratch) and no other; without it the first with room, of
 * otherwise (the default), TMPDIR of the environment, /var/tmp and /tmp, that
 * is not in memory, else the first with room that is. When none has: what
 * scratch_space_check says of the first.
 */
int scratch_space_choose(struct scratch_choice *choice, const char *given,
			 const char *otherwise,
			 const struct strlist *environment, struct error *err);

/* min(an eighth of the budget, SCRATCH_RESERVE_MAX) */
uint64_t scratch_space_reserve(uint64_t budget_bytes);

/* As the two above, with another statfs(2): for tests. */
typedef int scratch_statfs(const char *path, struct statfs *info);
int scratch_space_check_by(scratch_statfs *look, const char *path,
			   struct scratch_space *space, struct error *err);
bool scratch_space_is_full_by(scratch_statfs *look, const char *path,
			      const struct scratch_space *start,
			      uint64_t reserve_bytes);

struct scratch_candidates {
	const char *given, *otherwise;
	const struct strlist *environment;
};
int scratch_space_choose_by(scratch_statfs *look, struct scratch_choice *choice,
			    const struct scratch_candidates *candidates,
			    struct error *err);

#endif
