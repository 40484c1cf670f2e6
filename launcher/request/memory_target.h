/* The memory that is tuned for: device, budget, headroom, limit. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REQUEST_MEMORY_TARGET_H
#define AUTOFIT_LAUNCHER_REQUEST_MEMORY_TARGET_H

#include "base/error.h"
#include "base/trial.h"
#include "launcher/options/options.h"
#include "probes/observers/gpu/gpu.h"
#include "probes/observers/host/host.h"
#include "probes/probe.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory_target {
	enum probe_device device;
	/* auto with a GPU: the first probe tells which of the two it is. */
	bool may_be_host;
	struct nvml *nvml; /* NULL without GPUs, or where it does not answer */
	struct gpu_device gpus[GPU_MAX];
	struct probe_gpu probe_gpus[GPU_MAX];
	size_t gpu_count;
	/* By their place, those that probes were seen on; 0: not known yet, all
	 * may be. Only what is used bounds the budget. */
	uint64_t used_places;
	size_t limiting; /* the GPU that has least to give */
	bool is_phantom; /* cards that are not there */
	bool stands_for; /* memory_target_stand_for(): limits of another card */
	bool is_unified; /* GPU and host have one memory */
	/* What the GPUs stand in for (--as); the options', NULL: nothing. */
	const char *emulated_as;
	struct host_budget host;
	/* Per device: the smallest GPU, or the whole process tree. */
	uint64_t budget_bytes, headroom_bytes, limit_bytes;
	uint64_t host_headroom_bytes, host_limit_bytes;
	/*
	 * Of each GPU a probe is given no more than this, by --memory, --as or
	 * --shared; 0: no such bound. A GPU without one is budgeted by what is
	 * free on it, and that may change.
	 */
	uint64_t cap_bytes;
	uint64_t total_bytes; /* of the smallest GPU */
	int64_t world_size;
	/* Headroom and limit count on every byte of a GPU being seen. */
	bool assumes_exact;
};

/*
 * Looks at the devices: the driver's list (gpu.h), NVML, /proc. Fills the
 * limits of both kinds. -ENODEV with --device cuda and no GPU, or --as and no
 * GPU; an error as well where a GPU is there that cannot be tuned for: only
 * --device host asks for the CPU then. -EINTR, -ETIME: a signal, --time-limit.
 * -EINVAL with --as and a GPU that is smaller than that model. The
 * caller releases the target, and keeps the options until then.
 */
int memory_target_open(struct memory_target *target,
		       const struct options *options, int64_t world_size,
		       struct error *err);
void memory_target_release(struct memory_target *target);

/* Of the target's GPU: what a program could have when it was opened. */
uint64_t memory_target_usable(const struct memory_target *target,
			      const struct gpu_device *gpu);

/* bytes of host memory are taken for something else: scratch in memory. */
int memory_target_reserve(struct memory_target *target, uint64_t bytes,
			  struct error *err);

/*
 * The first probe used no GPU: from now on it is host memory, and --memory
 * speaks of that.
 */
int memory_target_become_host(struct memory_target *target,
			      const struct options *options, struct error *err);

/*
 * --shared: of each GPU no more than bytes may be used, or less where the
 * options say so. That becomes budget and cap; headroom and limit follow.
 */
void memory_target_share(struct memory_target *target,
			 const struct options *options, uint64_t bytes);

/*
 * A phantom stands for another card from here on, on which programs have
 * usable_bytes, and a process has more_bytes beside its allocations more than
 * on the phantom: budget and limit are less by them, so that what is seen on
 * the phantom can be held against them. The headroom is the other card's.
 */
void memory_target_stand_for(struct memory_target *target,
			     const struct options *options,
			     uint64_t usable_bytes, int64_t more_bytes);

/*
 * A probe's memory was not seen exactly: from now on headroom and limit are
 * those of readings of a whole device. True: the limit is another one; it is
 * never 0.
 */
bool memory_target_lose_exact(struct memory_target *target,
			      const struct options *options,
			      int64_t world_size);

/*
 * A probe was seen on these GPUs. Those that none was seen on bound nothing
 * any more. True: the limit is another one. With --shared all of them count.
 */
bool memory_target_note_used(struct memory_target *target,
			     const struct options *options, uint64_t places);

/*
 * The headroom a size needs after its confirmation: as asked for, else the
 * default, while the peak still rises as much again, but at most an eighth of
 * the budget more, 20% when the peaks vary.
 */
uint64_t memory_target_headroom_for(const struct memory_target *target,
				    const struct options *options,
				    const struct trial *trial);

/* Does the GPU at this place bound the budget? */
bool memory_target_is_bound_by(const struct memory_target *target,
			       size_t place);

#endif
