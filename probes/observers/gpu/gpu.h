/* NVIDIA devices: what there is, what is free, who uses it. No context. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OBSERVERS_GPU_GPU_H
#define AUTOFIT_PROBES_OBSERVERS_GPU_GPU_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GPU_MAX 64
#define GPU_PROCESSES_MAX 256
#define GPU_UUID_MAX 80

struct gpu_device {
	char uuid[GPU_UUID_MAX]; /* "GPU-..." or "MIG-..." */
	char name[96];
	int index;            /* ordinal as the command would see it */
	uint64_t total_bytes; /* by the driver API: what a program can see */
	uint64_t free_bytes;  /* by NVML; 0 when not known */
};

/*
 * The devices the command will see (CUDA_VISIBLE_DEVICES holds), by the
 * driver API in a short-lived child: a driver that crashes or hangs (10 s)
 * does not take autofit along. Returns their number, 0 when there is no
 * driver or no device; a negative errno when the driver is broken.
 */
int cuda_devices_list(struct gpu_device devices[GPU_MAX], struct error *err);

struct nvml;

/* dlopens libnvidia-ml.so.1. -ENOENT when there is none. Caller closes. */
int nvml_open(struct nvml **nvml, struct error *err);
void nvml_close(struct nvml *nvml);

/* Total and free bytes of the whole device. */
int nvml_memory(struct nvml *nvml, const char *uuid, uint64_t *total_bytes,
		uint64_t *free_bytes, struct error *err);

struct gpu_process {
	uint64_t used_bytes; /* 0: the driver does not say */
	pid_t pid;
	int is_compute; /* 0: graphics only, counts as base load */
};

/* Processes on the device, pids as the driver gives them. Their number. */
int nvml_processes(struct nvml *nvml, const char *uuid,
		   struct gpu_process processes[GPU_PROCESSES_MAX],
		   struct error *err);

/* Device names and UUIDs from /proc/driver/nvidia, without any library: what
 * a record's identity rests on. proc_root is "/proc" but in tests. */
int gpu_identities(const char *proc_root, struct gpu_device devices[GPU_MAX]);

/* An AMD GPU is there (KFD topology): "not supported yet". */
int gpu_amd_present(const char *sys_root);

#endif
