/* Where the probes of a tuning write, and what keeps them from the rest. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_ISOLATION_PROBE_ISOLATION_H
#define AUTOFIT_LAUNCHER_TUNING_ISOLATION_PROBE_ISOLATION_H

#include "base/error.h"
#include "launcher/request/request.h"
#include "probes/isolation/caches.h"
#include "probes/isolation/compare/kept_files.h"
#include "probes/isolation/compare/snapshot.h"
#include "probes/isolation/isolation.h"
#include "probes/isolation/scratch_space.h"

#include <stdbool.h>

struct probe_isolation {
	char *working; /* the folder that autofit was started in */
	struct scratch_choice space; /* the folder of scratch folders */
	struct strlist guarded, shared;
	struct caches caches; /* of shared: what is there must stay */
	bool may_make;        /* folders of caches, where a probe cannot */
	struct isolation_choice choice; /* kind ISOLATION_KINDS: not yet */
	/*
	 * The guarded folders before the first probe, without the excluded
	 * paths. With Landlock for what it does not refuse; NULL: nothing is
	 * compared.
	 */
	struct snapshot *before;
	struct kept_files kept; /* in compare: the bytes of before */
	struct strlist excluded;
};

/*
 * Choose the scratch folder, and list what is guarded and shared. -ENOSPC when
 * no folder has room. The caller releases it, whatever the result.
 */
int probe_isolation_open(struct probe_isolation *isolation,
			 const struct request *request, struct error *err);

/*
 * Choose the isolation, tried out in a folder of this name among the scratch
 * folders, which is removed again. -EPERM with the
 * message for exit 123 when nothing keeps the probes from writing and a
 * checkpoint is there, or there is too much to compare. With Landlock, where
 * TMPDIR of a probe is in its scratch folder, space can be another one then:
 * in a default one with a long path no socket could be made.
 */
int probe_isolation_choose(struct probe_isolation *isolation,
			   const struct request *request, const char *name,
			   struct error *err);
void probe_isolation_release(struct probe_isolation *isolation);

/* The spec of a probe with this scratch folder; its texts are the isolation's.
 */
struct isolation_spec
probe_isolation_spec(const struct probe_isolation *isolation,
		     const char *scratch);

/* Does what probes leave in /dev/shm stay there, and was that not allowed? */
bool probe_isolation_shares_memory(const struct probe_isolation *isolation);

/* After a probe with this scratch folder, before that is removed: caches that
 * it has filled for the first time become the user's. */
void probe_isolation_adopt(struct probe_isolation *isolation,
			   const char *scratch);

#endif
