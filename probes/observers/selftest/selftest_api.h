/* The functions of the driver that the self-test calls: own declarations. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OBSERVERS_SELFTEST_SELFTEST_API_H
#define AUTOFIT_PROBES_OBSERVERS_SELFTEST_SELFTEST_API_H

#include "probes/preload/properties.h"

#include <stddef.h>

/*
 * As cuda.h has them, with which tests/unit/test_cuda_decl.c compares them.
 * One slot per function, nothing else: the loader fills it as an array, and
 * what a driver has none of is NULL.
 */
struct selftest_api {
	unsigned int (*init)(unsigned int flags);
	unsigned int (*driver_version)(int *version);
	unsigned int (*device_get)(int *device, int ordinal);
	unsigned int (*total_mem)(size_t *bytes, int device);
	unsigned int (*context_retain)(void **context, int device);
	unsigned int (*context_release)(int device);
	unsigned int (*context_set)(void *context);
	unsigned int (*memory_info)(size_t *free_bytes, size_t *total_bytes);
	unsigned int (*lookup)(const char *symbol, void **function, int version,
			       unsigned long long flags, void *status);
	unsigned int (*linear)(unsigned long long *place, size_t bytes);
	unsigned int (*linear_free)(unsigned long long place);
	unsigned int (*pool)(unsigned long long *place, size_t bytes,
			     void *stream);
	unsigned int (*pool_free)(unsigned long long place, void *stream);
	unsigned int (*stream_wait)(void *stream);
	unsigned int (*virtual)(unsigned long long *handle, size_t bytes,
				const struct pool_properties *properties,
				unsigned long long flags);
	unsigned int (*virtual_free)(unsigned long long handle);
	unsigned int (*array)(void **array,
			      const struct array_descriptor *descriptor);
	unsigned int (*array_free)(void *array);
	unsigned int (*managed)(unsigned long long *place, size_t bytes,
				unsigned int flags);
	unsigned int (*host)(void **memory, size_t bytes, unsigned int flags);
	unsigned int (*host_free)(void *memory);
};

#endif
