/* Device memory of processes, as the kernel tells it of their open files. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OBSERVERS_GPU_DRM_FDINFO_H
#define AUTOFIT_PROBES_OBSERVERS_GPU_DRM_FDINFO_H

#include "probes/observers/gpu/gpu.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * /proc/<pid>/fdinfo/<fd> of a file of a graphics driver holds lines such as
 * "drm-memory-vram:	1024 KiB" (kernel's drm-usage-stats). Unlike the files
 * of KFD it is of the processes that can be seen from here, by the pids that
 * they have here; only those of the same user may be read.
 */
struct drm_usage {
	char device[24];    /* drm-pdev, "0000:03:00.0" */
	uint64_t client_id; /* the same behind a copy of the descriptor */
	uint64_t vram_bytes;
	bool computes; /* it has used a card's engine for that; Intel's only */
};

/* Pure. False: the text is not of such a file, or names no device. */
bool drm_usage_read(const char *text, struct drm_usage *usage);

/*
 * Adds to the count processes those that have memory of the device and are not
 * among them yet: those with /dev/kfd open compute there, and those who have;
 * others draw. Their number then.
 */
int drm_fdinfo_processes(const char *proc_root, const char *device,
			 struct gpu_process processes[GPU_PROCESSES_MAX],
			 int count);

#endif
