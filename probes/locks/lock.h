/* One tuning per device: a flock that the keeper of a probe shares. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_LOCKS_LOCK_H
#define AUTOFIT_PROBES_LOCKS_LOCK_H

#include "base/error.h"
#include "probes/locks/note.h"

#include <stdint.h>
#include <sys/types.h>

/* What the lock file says of its holder, and of a probe under way. */
struct lock_note {
	pid_t pid;         /* 0: nobody wrote yet */
	char command[256]; /* shortened, printable */
	char probe_id[33]; /* "": no probe under way */
	char boot_id[NOTE_BOOT_ID_MAX];
	uint64_t probe_start; /* clock ticks since boot, as /proc/pid/stat */
	char scratch[512];    /* the folder that scratch folders are made in */
};

struct lock {
	int fd; /* close-on-exec; a forked keeper inherits it. -1: none */
	char path[512];
};

/*
 * Lock folder/<name>.lock (name: a GPU's UUID or "host"). 0 when taken: left
 * then holds what the last holder left there (a probe_id: it was killed with
 * a probe under way). -EWOULDBLOCK when another holds it; left says who.
 * The file is 0600 and stays.
 */
int lock_take(struct lock *lock, const char *folder, const char *name,
	      struct lock_note *left, struct error *err);

/* Write who holds it and which probe is under way; synced. */
int lock_write(struct lock *lock, const struct lock_note *note,
	       struct error *err);

/* Empties the file and lets go. */
void lock_release(struct lock *lock);

#endif
