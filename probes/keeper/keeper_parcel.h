/* A keeper's orders as bytes, for a keeper that another process forks. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_KEEPER_KEEPER_PARCEL_H
#define AUTOFIT_PROBES_KEEPER_KEEPER_PARCEL_H

#include "base/strbuf.h"
#include "probes/keeper/keeper.h"
#include "probes/leaving/shims.h"

#include <stddef.h>

/*
 * All of a struct keeper_spec but its descriptors, which travel beside it.
 * Writer and reader are of one version: the reader's library is built into the
 * program that writes.
 */
void keeper_parcel_write(struct strbuf *out, const struct keeper_spec *spec);

/* A spec with everything that it points to. */
struct keeper_parcel {
	struct keeper_spec spec;
	struct process_state state;
	struct host_cgroup cgroup;
	struct isolation_spec isolation;
	struct shims shims;
	struct strlist argv, environment, extra_files;
	struct strlist shared, guarded, covers;
};

/*
 * 0 or -EINVAL. Texts are copies; they are never freed, for the process that
 * reads becomes a keeper, whose end frees them. lock_fds and channel_fd are
 * left for the caller.
 */
int keeper_parcel_read(struct keeper_parcel *parcel, const void *data,
		       size_t size);

#endif
