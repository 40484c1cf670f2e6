/* The locks of a tuning: one per device, and the rescue of what was left. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_ADMISSION_DEVICE_LOCKS_H
#define AUTOFIT_LAUNCHER_ADMISSION_DEVICE_LOCKS_H

#include "base/error.h"
#include "launcher/request/memory_target.h"
#include "launcher/request/request.h"
#include "probes/locks/lock.h"

#include <stdbool.h>
#include <stddef.h>

struct device_locks {
	struct lock locks[GPU_MAX + 1];
	size_t lock_count;
	/* Theirs, and those of the node's locks: all for the keeper. */
	int fds[2 * GPU_MAX + 1];
	size_t count;
	struct lock_note note; /* what stands in each of the locks */
	/* Of the locks that all users share; NULL: the node's, see
	 * node_lock.h. */
	const char *node_folder;
	/* Asked while it waits: true gives up, -EINTR. NULL: never. */
	bool (*must_end)(void *context);
	void *context;
};

/*
 * Takes the lock of every GPU of the target, or of host memory. A GPU has two:
 * the user's own, with the note, and one for all users of the node; where no
 * folder allows that one there is only the first. While another holds one,
 * waits and says once for whom; -EBUSY with --no-wait, -EINTR when must_end
 * says so. Processes that a killed tuning left behind are killed first. Locks
 * that are held already stay held: call again when the target turned out to be
 * the host. waited tells that records may have changed meanwhile.
 */
int device_locks_take(struct device_locks *guard, const struct request *request,
		      const struct memory_target *target, bool *waited,
		      struct error *err);

/*
 * The same of one GPU more, by its UUID, and without a wait: -EBUSY while
 * another holds it. One that is held already stays held.
 */
int device_locks_try(struct device_locks *guard, const struct request *request,
		     const char *uuid, struct error *err);

/*
 * A probe with this id is about to start, with its folder in scratch; "" when
 * it is over. Whoever takes the locks after a kill cleans up by that.
 */
int device_locks_note_probe(struct device_locks *guard, const char *probe_id,
			    const char *scratch, struct error *err);

/* The same of a probe that runs beside another, on this GPU alone. */
int device_locks_note_beside(struct device_locks *guard, const char *uuid,
			     const char *probe_id, const char *scratch,
			     struct error *err);
void device_locks_release(struct device_locks *guard);

#endif
