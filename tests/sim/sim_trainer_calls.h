/* The functions of the driver that the simulated trainer calls. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_SIM_TRAINER_CALLS_H
#define AUTOFIT_TESTS_SIM_TRAINER_CALLS_H

#include <stddef.h>

/*
 * CALL(field, base, elf, version, stream, arguments): every function of the
 * driver that is used, as cuda.h declares it. stream 1: it has a variant for
 * the default stream of each thread.
 */
/* clang-format off */
#define TRAINER_CALLS(CALL)                                                    \
CALL(init, cuInit, cuInit, 2000, 0, (unsigned int))                            \
CALL(device_get, cuDeviceGet, cuDeviceGet, 2000, 0, (int *, int))              \
CALL(device_count, cuDeviceGetCount, cuDeviceGetCount, 2000, 0, (int *))       \
CALL(total_mem, cuDeviceTotalMem, cuDeviceTotalMem_v2, 3020, 0,                \
     (size_t *, int))                                                          \
CALL(retain, cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, 7000, 0,      \
     (void **, int))                                                           \
CALL(context_release, cuDevicePrimaryCtxRelease,                               \
     cuDevicePrimaryCtxRelease_v2, 11000, 0, (int))                            \
CALL(context_create, cuCtxCreate, cuCtxCreate_v2, 3020, 0,                     \
     (void **, unsigned int, int))                                             \
CALL(context_destroy, cuCtxDestroy, cuCtxDestroy_v2, 4000, 0, (void *))        \
CALL(set_current, cuCtxSetCurrent, cuCtxSetCurrent, 4000, 0, (void *))         \
CALL(get_info, cuMemGetInfo, cuMemGetInfo_v2, 3020, 0, (size_t *, size_t *))   \
CALL(error_name, cuGetErrorName, cuGetErrorName, 6000, 0, (int, const char **))\
CALL(alloc, cuMemAlloc, cuMemAlloc_v2, 3020, 0,                                \
     (unsigned long long *, size_t))                                           \
CALL(free, cuMemFree, cuMemFree_v2, 3020, 0, (unsigned long long))             \
CALL(alloc_pitch, cuMemAllocPitch, cuMemAllocPitch_v2, 3020, 0,                \
     (unsigned long long *, size_t *, size_t, size_t, unsigned int))           \
CALL(alloc_managed, cuMemAllocManaged, cuMemAllocManaged, 6000, 0,             \
     (unsigned long long *, size_t, unsigned int))                             \
CALL(alloc_async, cuMemAllocAsync, cuMemAllocAsync, 11020, 1,                  \
     (unsigned long long *, size_t, void *))                                   \
CALL(free_async, cuMemFreeAsync, cuMemFreeAsync, 11020, 1,                     \
     (unsigned long long, void *))                                             \
CALL(pool_default, cuDeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool,       \
     11020, 0, (void **, int))                                                 \
CALL(pool_create, cuMemPoolCreate, cuMemPoolCreate, 11020, 0,                  \
     (void **, const void *))                                                  \
CALL(pool_destroy, cuMemPoolDestroy, cuMemPoolDestroy, 11020, 0, (void *))     \
CALL(pool_trim, cuMemPoolTrimTo, cuMemPoolTrimTo, 11020, 0, (void *, size_t))  \
CALL(alloc_from_pool, cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync,        \
     11020, 1, (unsigned long long *, size_t, void *, void *))                 \
CALL(create, cuMemCreate, cuMemCreate, 10020, 0,                               \
     (unsigned long long *, size_t, const void *, unsigned long long))         \
CALL(drop, cuMemRelease, cuMemRelease, 10020, 0, (unsigned long long))         \
CALL(reserve, cuMemAddressReserve, cuMemAddressReserve, 10020, 0,              \
     (unsigned long long *, size_t, size_t, unsigned long long,                \
      unsigned long long))                                                     \
CALL(unreserve, cuMemAddressFree, cuMemAddressFree, 10020, 0,                  \
     (unsigned long long, size_t))                                             \
CALL(map, cuMemMap, cuMemMap, 10020, 0,                                        \
     (unsigned long long, size_t, size_t, unsigned long long,                  \
      unsigned long long))                                                     \
CALL(unmap, cuMemUnmap, cuMemUnmap, 10020, 0, (unsigned long long, size_t))    \
CALL(set_access, cuMemSetAccess, cuMemSetAccess, 10020, 0,                     \
     (unsigned long long, size_t, const void *, size_t))                       \
CALL(array_create, cuArray3DCreate, cuArray3DCreate_v2, 3020, 0,               \
     (void **, const void *))                                                  \
CALL(array_destroy, cuArrayDestroy, cuArrayDestroy, 2000, 0, (void *))         \
CALL(host_alloc, cuMemHostAlloc, cuMemHostAlloc, 2020, 0,                      \
     (void **, size_t, unsigned int))                                          \
CALL(host_free, cuMemFreeHost, cuMemFreeHost, 2000, 0, (void *))               \
CALL(graph_create, cuGraphCreate, cuGraphCreate, 10000, 0,                     \
     (void **, unsigned int))                                                  \
CALL(graph_add, cuGraphAddMemAllocNode, cuGraphAddMemAllocNode, 11040, 0,      \
     (void **, void *, const void *, size_t, void *))                          \
CALL(graph_add_any, cuGraphAddNode, cuGraphAddNode_v3, 13040, 0,               \
     (void **, void *, const void *, const void *, size_t, void *))            \
CALL(graph_instantiate, cuGraphInstantiateWithFlags,                           \
     cuGraphInstantiateWithFlags, 11040, 0,                                    \
     (void **, void *, unsigned long long))                                    \
CALL(graph_launch, cuGraphLaunch, cuGraphLaunch, 10000, 1, (void *, void *))   \
CALL(graph_exec_destroy, cuGraphExecDestroy, cuGraphExecDestroy, 10000, 0,     \
     (void *))                                                                 \
CALL(graph_destroy, cuGraphDestroy, cuGraphDestroy, 10000, 0, (void *))        \
CALL(graph_trim, cuDeviceGraphMemTrim, cuDeviceGraphMemTrim, 11040, 0, (int))  \
CALL(module_load, cuModuleLoadData, cuModuleLoadData, 2000, 0,                 \
     (void **, const void *))                                                  \
CALL(function, cuModuleGetFunction, cuModuleGetFunction, 2000, 0,              \
     (void **, void *, const char *))                                          \
CALL(launch, cuLaunchKernel, cuLaunchKernel, 4000, 1,                          \
     (void *, unsigned int, unsigned int, unsigned int, unsigned int,          \
      unsigned int, unsigned int, unsigned int, void *, void **, void **))     \
CALL(synchronize, cuStreamSynchronize, cuStreamSynchronize, 2000, 1, (void *)) \
CALL(copy_in, cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, 3020, 1,                \
     (unsigned long long, const void *, size_t, void *))                       \
CALL(copy_out, cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, 3020, 1,               \
     (void *, unsigned long long, size_t, void *))
/* clang-format on */

struct api {
/* NOLINTBEGIN(bugprone-macro-parentheses): a declaration */
#define CALL(field, base, elf, version, stream, arguments)                     \
	int(*field) arguments;
	TRAINER_CALLS(CALL)
#undef CALL
	/* NOLINTEND(bugprone-macro-parentheses) */
};

#endif
