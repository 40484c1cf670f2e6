/* Idle GPUs like the command's own, on which probes may run as well. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_ADMISSION_SPARE_GPUS_H
#define AUTOFIT_LAUNCHER_ADMISSION_SPARE_GPUS_H

#include "base/error.h"
#include "launcher/admission/device_locks.h"
#include "launcher/request/memory_target.h"
#include "launcher/request/request.h"
#include "probes/observers/gpu/gpu.h"

#include <stdbool.h>
#include <stddef.h>

struct spare_gpu {
	struct gpu_device device;
	struct probe_gpu before; /* as it was at the last look */
	char *only; /* "NAME=value": a program with that sees no other */
	bool is_idle;
};

#define SPARE_GPUS_MAX 7

struct spare_gpus {
	struct spare_gpu gpus[SPARE_GPUS_MAX];
	size_t count;
	struct nvml *nvml; /* tells of them all */
};

/*
 * Of the GPUs that autofit sees, those that are no slice and of the same name
 * and size as the target's first one, on which nobody computes, which have room
 * for its budget, and whose locks can be had without a wait: guard holds them
 * from here on. Of others that CUDA_VISIBLE_DEVICES leaves out nothing is known
 * here. Returns how many there are; 0: why says what is missing. The caller
 * releases, before the request.
 */
size_t spare_gpus_find(struct spare_gpus *spare, const struct request *request,
		       const struct memory_target *target,
		       struct device_locks *guard, struct error *why);

/* Before each use: who is idle now, and what is used there. The number. */
size_t spare_gpus_look(struct spare_gpus *spare,
		       const struct memory_target *target);

/* NULL members: ok. The locks are the guard's. */
void spare_gpus_release(struct spare_gpus *spare);

#endif
