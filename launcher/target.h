/* What is tuned for: the device, its budget, its headroom, its limit. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TARGET_H
#define AUTOFIT_LAUNCHER_TARGET_H

#include "base/error.h"
#include "base/strbuf.h"
#include "base/trial.h"
#include "configs/identity_text.h"
#include "launcher/options.h"
#include "probes/observers/gpu.h"
#include "probes/observers/host.h"
#include "probes/probe.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct target {
	enum probe_device device;
	/* auto with a GPU: the first probe tells which of the two it is. */
	bool may_be_host;
	struct nvml *nvml; /* NULL without GPUs */
	struct gpu_device gpus[GPU_MAX];
	struct probe_gpu probe_gpus[GPU_MAX];
	size_t gpu_count;
	struct host_budget host;
	/* Per device: the smallest GPU, or the whole process tree. */
	uint64_t budget_bytes, headroom_bytes, limit_bytes;
	uint64_t host_headroom_bytes, host_limit_bytes;
};

/*
 * Looks at the devices: driver API in a short-lived child, NVML, /proc. Fills
 * the limits of both kinds. -ENODEV with --device cuda and no GPU.
 * The caller releases the target.
 */
int target_open(struct target *target, const struct options *options,
		int64_t world_size, struct error *err);
void target_release(struct target *target);

/* bytes of host memory are taken for something else: scratch in memory. */
int target_reserve(struct target *target, uint64_t bytes, struct error *err);

/*
 * The first probe used no GPU: from now on it is host memory, and --memory
 * speaks of that.
 */
int target_become_host(struct target *target, const struct options *options,
		       struct error *err);

/*
 * The headroom a size needs after its confirmation: as asked for, else the
 * default, doubled while the peak still rises, 20% when the peaks vary.
 */
uint64_t target_headroom_for(const struct target *target,
			     const struct options *options,
			     const struct trial *trial);

/* "host memory", "1x NVIDIA H200". */
void target_words(const struct target *target, struct strbuf *out);

/* What bounds the budget, for the JSON: "--memory", "free at start". */
const char *target_budget_source(const struct target *target,
				 const struct options *options);

/*
 * What identifies the hardware without asking a driver: the models of the GPUs
 * that are visible, from /proc, memory and the limit of the cgroup. visible:
 * CUDA_VISIBLE_DEVICES or NULL. Appends entries of identity_text.h.
 */
void target_fingerprint(struct strbuf *out, const struct options *options,
			const char *visible);

#endif
