/* NVML in this process: memory and processes of GPUs, without a context. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OBSERVERS_GPU_NVML_LIBRARY_H
#define AUTOFIT_PROBES_OBSERVERS_GPU_NVML_LIBRARY_H

#include "base/error.h"
#include "probes/observers/gpu/gpu.h"

/*
 * Any of these may hang, crash or end the process, for the driver does: only
 * for a child that may be killed. Everybody else asks nvml_open and its like
 * of gpu.h, which start such a child.
 */
struct nvml_library;

/* dlopens library. -ENOENT when there is none. Caller closes. */
int nvml_library_open(struct nvml_library **nvml, const char *library,
		      struct error *err);
void nvml_library_close(struct nvml_library *nvml);

/* -ENOTSUP where the GPU has no memory of its own. */
int nvml_library_memory(struct nvml_library *nvml, const char *uuid,
			struct gpu_memory *memory, struct error *err);

/* Processes on the device, pids as the driver gives them. Their number. */
int nvml_library_processes(struct nvml_library *nvml, const char *uuid,
			   struct gpu_process processes[GPU_PROCESSES_MAX],
			   struct error *err);

#endif
