/* The errors of the simulated driver by name. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_cuda.h"

/* NOLINTBEGIN(readability-identifier-naming): the driver's names */

static const struct {
	int error;
	const char *name, *text;
} rows[] = {
	{ OK, "CUDA_SUCCESS", "no error" },
	{ INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument" },
	{ OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory" },
	{ NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED",
	  "initialization error" },
	{ NO_DEVICE, "CUDA_ERROR_NO_DEVICE",
	  "no CUDA-capable device is detected" },
	{ INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE",
	  "invalid device ordinal" },
	{ INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT",
	  "invalid device context" },
	{ INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE",
	  "invalid resource handle" },
	{ NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found" },
	{ CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED",
	  "context is destroyed" },
	{ HOST_MEMORY_ALREADY_REGISTERED,
	  "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
	  "part or all of the requested memory range is already mapped" },
	{ HOST_MEMORY_NOT_REGISTERED, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
	  "pointer does not correspond to a registered memory region" },
	{ LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED",
	  "unspecified launch failure" },
	{ NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED",
	  "operation not supported" },
	{ 803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
	  "system has unsupported display driver / cuda driver combination" },
	{ STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
	  "operation not permitted when stream is capturing" },
	{ STREAM_CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
	  "the capture was not initiated in this stream" },
	{ UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error" },
};

EXPORT int cuGetErrorName(int error, const char **name)
{
	if (!name)
		return INVALID_VALUE;
	*name = NULL;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].error == error)
			*name = rows[i].name;
	return *name ? OK : INVALID_VALUE;
}

EXPORT int cuGetErrorString(int error, const char **text)
{
	if (!text)
		return INVALID_VALUE;
	*text = NULL;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].error == error)
			*text = rows[i].text;
	return *text ? OK : INVALID_VALUE;
}

const struct sim_export sim_error_exports[] = {
	SIM_SAME(cuGetErrorName, 6000),
	SIM_SAME(cuGetErrorString, 6000),
	SIM_END,
};

/* NOLINTEND(readability-identifier-naming) */
