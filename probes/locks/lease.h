/* One tuning per identity, over machines that share a folder. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_LOCKS_LEASE_H
#define AUTOFIT_PROBES_LOCKS_LEASE_H

#include "base/error.h"
#include "probes/locks/note.h"

#include <stdint.h>
#include <sys/types.h>

/* The holder beats this often; who has seen none for three beats takes over. */
#define LEASE_BEAT_MS INT64_C(2000)
#define LEASE_STALE_MS (3 * LEASE_BEAT_MS)

/* What the file says of its holder; texts are cut and printable. */
struct lease_note {
	char host[65];
	char boot_id[NOTE_BOOT_ID_MAX];
	pid_t pid;
	uint64_t start_time; /* of the process; clock ticks since boot */
	uint64_t pid_space;  /* inode of the PID namespace that pid is of */
	uint64_t beat;       /* counts up while the holder lives */
	char token[33];      /* of this holding */
	char doing[256];     /* "micro 32, probe 3": how far */
};

struct lease {
	char *path; /* NULL: not held */
	struct lease_note note;
	/* What a waiter has seen of another's beats, by its own clock. */
	uint64_t seen_beat;
	char seen_token[33];
	int64_t seen_at_ms;
};

/*
 * folder/<name>.lease, made by link(2) of a file that is complete, as NFS
 * needs it. 0 when taken. -EWOULDBLOCK when another holds it: holder says who;
 * call again later with the same lease, which remembers its beats. Taken over
 * from a dead holder: at once when its process is gone on this machine and
 * boot, else when its beat stood still for LEASE_STALE_MS of this machine's
 * clock. Of several that take over one wins. A torn or hostile file is one
 * whose beat stands still. now_ms is monotonic; name holds letters, digits,
 * '_' and '-' only, else -EINVAL.
 */
int lease_take(struct lease *lease, const char *folder, const char *name,
	       int64_t now_ms, struct lease_note *holder, struct error *err);

/* Beat, with words for those who wait. -ESTALE: another took it over. */
int lease_beat(struct lease *lease, const char *doing, struct error *err);

/* Remove the file if it is still this one's. */
void lease_release(struct lease *lease);

#endif
