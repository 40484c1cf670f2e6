/* NVML as far as autofit uses it: own declarations. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OBSERVERS_GPU_NVML_API_H
#define AUTOFIT_PROBES_OBSERVERS_GPU_NVML_API_H

#include <stddef.h>
#include <stdint.h>

/*
 * Values, layouts and signatures are those of nvml.h of NVML API 13, with
 * which tests/unit/test_cuda_decl.c compares them where that is installed.
 */
#define NVML_LIBRARY "libnvidia-ml.so.1"

enum nvml_result {
	NVML_API_SUCCESS = 0,
	NVML_API_UNINITIALIZED = 1,
	NVML_API_INVALID_ARGUMENT = 2,
	NVML_API_NOT_SUPPORTED = 3,
	NVML_API_NO_PERMISSION = 4,
	NVML_API_NOT_FOUND = 6,
	NVML_API_INSUFFICIENT_SIZE = 7,
	NVML_API_DRIVER_NOT_LOADED = 9,
	NVML_API_LIBRARY_NOT_FOUND = 12,
	NVML_API_FUNCTION_NOT_FOUND = 13,
	NVML_API_LIB_RM_VERSION_MISMATCH = 18,
	NVML_API_ARGUMENT_VERSION_MISMATCH = 25,
};

/* usedGpuMemory where the driver does not say. */
#define NVML_API_VALUE_NOT_AVAILABLE UINT64_MAX

struct nvml_memory {
	unsigned long long total;
	unsigned long long free;
	unsigned long long used;
};

struct nvml_memory_v2 {
	unsigned int version; /* NVML_API_MEMORY_V2 */
	unsigned long long total;
	unsigned long long reserved;
	unsigned long long free;
	unsigned long long used;
};

#define NVML_API_MEMORY_V2                                                     \
	((unsigned int)sizeof(struct nvml_memory_v2) | 2U << 24)

/*
 * One running process. What follows these fields depends on the driver, not
 * only on the function's version: elements of 16 (first), 24 (_v2, _v3) and,
 * with drivers 535.43 to 535.86, 32 bytes (_v3) are known.
 */
struct nvml_process {
	unsigned int pid;
	unsigned long long used;
};

#define NVML_API_PROCESS_BYTES_MAX 32

/* A device is nvmlDevice_t, a pointer to what only the driver knows. */
typedef unsigned int (*nvml_processes_function)(void *device,
						unsigned int *count,
						void *infos);

enum nvml_process_list {
	NVML_LIST_COMPUTE,
	NVML_LIST_MPS,
	NVML_LIST_GRAPHICS,
	NVML_LISTS,
};

#define NVML_LIST_VERSIONS 3

/* One slot per function, nothing else: the loader fills it as an array. */
struct nvml_api {
	unsigned int (*init)(void);
	unsigned int (*shutdown)(void);
	const char *(*error_string)(unsigned int result);
	unsigned int (*device_by_uuid)(const char *uuid, void **device);
	unsigned int (*memory)(void *device, struct nvml_memory *memory);
	unsigned int (*memory_v2)(void *device, struct nvml_memory_v2 *memory);
	/* Newest version first; a slot is NULL where the driver has none. */
	nvml_processes_function processes[NVML_LISTS][NVML_LIST_VERSIONS];
};

#endif
