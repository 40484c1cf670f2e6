/* AMD devices as the kernel's own files show them: no library is loaded. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OBSERVERS_GPU_KFD_H
#define AUTOFIT_PROBES_OBSERVERS_GPU_KFD_H

#include "base/error.h"
#include "base/strlist.h"
#include "probes/observers/gpu/gpu.h"

#include <stdint.h>

/*
 * ROCm's programs find their GPUs in <sys>/class/kfd/kfd/topology/nodes, in
 * this order; each names its node of <sys>/class/drm, where the driver amdgpu
 * tells size and use of its memory. Who computes there, and with how much, is
 * in <sys>/class/kfd/kfd/proc, by the pids of the first namespace. All of it
 * is read, never written, and bounded.
 */
struct kfd_roots {
	const char *sys; /* "/sys" but in tests */
	const char *ids; /* libdrm's names of boards: amdgpu.ids; may be none */
};

/* "/sys", or what AUTOFIT_SYSFS of the environment says: for tests. */
struct kfd_roots kfd_roots_here(void);

/* What a user allows his programs to see; NULL: is not set. */
struct kfd_visible {
	const char *rocr; /* ROCR_VISIBLE_DEVICES: of all, numbers or UUIDs */
	const char *hip;  /* HIP_VISIBLE_DEVICES, else CUDA_VISIBLE_DEVICES: of
			   * those that are left, numbers */
};
struct kfd_visible kfd_visible_of(const struct strlist *environment);

/*
 * The devices that a HIP program will see. Their number; -EIO where one is
 * there and the kernel does not tell its memory.
 */
int kfd_devices_list(const struct kfd_roots *roots,
		     const struct kfd_visible *visible,
		     struct gpu_device devices[GPU_MAX], struct error *err);

/* Memory and processes of the device look->uuid: fills in the rest of it. */
void kfd_look(const struct kfd_roots *roots, struct gpu_look *look);

#endif
