/* The CUDA driver API as far as autofit uses it: own declarations. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OBSERVERS_GPU_CUDA_API_H
#define AUTOFIT_PROBES_OBSERVERS_GPU_CUDA_API_H

#include "base/error.h"
#include "probes/observers/gpu/gpu.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Values and signatures are those of cuda.h of CUDA 13.0, with which
 * tests/unit/test_cuda_decl.c compares them where that header is installed.
 * Results are unsigned, as the enum CUresult is to the ABI, because a driver
 * may answer a number that no list knows.
 */
#define CUDA_LIBRARY "libcuda.so.1"

enum cuda_result {
	CUDA_API_SUCCESS = 0,
	CUDA_API_INVALID_VALUE = 1,
	CUDA_API_OUT_OF_MEMORY = 2,
	CUDA_API_NOT_INITIALIZED = 3,
	CUDA_API_STUB_LIBRARY = 34,
	CUDA_API_DEVICE_UNAVAILABLE = 46,
	CUDA_API_NO_DEVICE = 100,
	CUDA_API_INVALID_DEVICE = 101,
	CUDA_API_INVALID_CONTEXT = 201,
	CUDA_API_OPERATING_SYSTEM = 304,
	CUDA_API_SYSTEM_NOT_READY = 802,
	CUDA_API_SYSTEM_DRIVER_MISMATCH = 803,
	CUDA_API_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
	CUDA_API_MPS_CONNECTION_FAILED = 805,
	CUDA_API_MPS_CLIENT_TERMINATED = 810,
	CUDA_API_UNKNOWN = 999,
};

struct cuda_uuid {
	unsigned char bytes[16];
};

/* One slot per function, nothing else: the loader fills it as an array. */
struct cuda_api {
	unsigned int (*init)(unsigned int flags);
	unsigned int (*get_error_name)(unsigned int result, const char **text);
	unsigned int (*device_get_count)(int *count);
	unsigned int (*device_get)(int *device, int ordinal);
	unsigned int (*device_get_name)(char *name, int length, int device);
	unsigned int (*device_get_uuid)(struct cuda_uuid *uuid, int device);
	unsigned int (*device_get_uuid_v2)(struct cuda_uuid *uuid, int device);
	unsigned int (*device_total_mem)(size_t *bytes, int device);
	unsigned int (*device_get_attribute)(int *value, int attribute,
					     int device);
	unsigned int (*context_retain)(void **context, int device);
	unsigned int (*context_release)(int device);
	unsigned int (*context_set)(void *context);
	unsigned int (*memory_info)(size_t *free_bytes, size_t *total_bytes);
};

/* Of device_get_attribute: the device has the host's memory. */
#define CUDA_API_INTEGRATED 18

enum cuda_stage {
	CUDA_STAGE_LISTED = 1, /* 0: nothing was written */
	CUDA_STAGE_NO_LIBRARY,
	CUDA_STAGE_LIBRARY_BROKEN, /* text says why */
	CUDA_STAGE_NOT_STARTED,    /* cuInit answered result */
	CUDA_STAGE_NOT_DESCRIBED,  /* a later call answered result */
};

/* What the child answers. Hostile: a broken driver shared its memory. */
struct cuda_listing {
	uint32_t stage;
	uint32_t result;
	int32_t count;
	char text[192]; /* of the loader, or the name of result */
	struct gpu_device devices[GPU_MAX];
};

/*
 * Load the library here and list what it knows into a zeroed listing. Only
 * for a process that may be killed by what the driver does.
 */
void cuda_listing_fill(const char *library, struct cuda_listing *listing);

/*
 * The bytes free on the devices of the listing that are of unknown source and
 * have memory of their own, by a context on each. As above.
 */
void cuda_listing_ask_free(const char *library, struct cuda_listing *listing);

/* Where to look and for how long; tests look elsewhere and wait less. */
struct cuda_lookup {
	const char *library;
	int deadline_ms;      /* of the driver */
	int nvml_deadline_ms; /* of NVML, once the driver has answered */
	struct gpu_patience patience;
};

/* What cuda_devices_list does, with another library or deadline. */
int cuda_devices_look_up(const struct cuda_lookup *lookup,
			 struct gpu_device devices[GPU_MAX], struct error *err);

#endif
