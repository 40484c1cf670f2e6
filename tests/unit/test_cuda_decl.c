/* autofit's own declarations of the NVIDIA libraries are those of NVIDIA. */
/* SPDX-License-Identifier: MIT */
/* USES base */
#include "probes/observers/gpu/cuda_api.h"
#include "probes/observers/gpu/nvml_api.h"
#include "probes/observers/selftest/selftest_api.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* The toolkit's usual place is not on the compiler's path. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#pragma GCC diagnostic ignored "-Wpedantic"
#if __has_include(<cuda.h>)
#	include <cuda.h>
#	define HAS_CUDA_H 1
#elif __has_include("/usr/local/cuda/include/cuda.h")
#	include "/usr/local/cuda/include/cuda.h"
#	define HAS_CUDA_H 1
#endif
#if __has_include(<nvml.h>)
#	include <nvml.h>
#	define HAS_NVML_H 1
#elif __has_include("/usr/local/cuda/include/nvml.h")
#	include "/usr/local/cuda/include/nvml.h"
#	define HAS_NVML_H 1
#endif
#pragma GCC diagnostic pop

/* An enum and the unsigned number autofit takes it for are one type in C. */
#define IS_TYPE(what, ...)                                                     \
	_Static_assert(                                                        \
		__builtin_types_compatible_p(__typeof__(what), __VA_ARGS__),   \
		#what)
#define IS_EQUAL(ours, theirs)                                                 \
	_Static_assert((long long)(ours) == (long long)(theirs), #ours)
#define IS_FIELD(ours, our_field, theirs, field)                               \
	_Static_assert(offsetof(ours, our_field) == offsetof(theirs, field) && \
			       sizeof(((ours *)0)->our_field) ==               \
				       sizeof(((theirs *)0)->field),           \
		       #our_field)

#ifdef HAS_CUDA_H
static const struct cuda_api cuda;

IS_EQUAL(CUDA_API_SUCCESS, CUDA_SUCCESS);
IS_EQUAL(CUDA_API_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE);
IS_EQUAL(CUDA_API_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
IS_EQUAL(CUDA_API_NOT_INITIALIZED, CUDA_ERROR_NOT_INITIALIZED);
IS_EQUAL(CUDA_API_STUB_LIBRARY, CUDA_ERROR_STUB_LIBRARY);
IS_EQUAL(CUDA_API_DEVICE_UNAVAILABLE, CUDA_ERROR_DEVICE_UNAVAILABLE);
IS_EQUAL(CUDA_API_NO_DEVICE, CUDA_ERROR_NO_DEVICE);
IS_EQUAL(CUDA_API_INVALID_DEVICE, CUDA_ERROR_INVALID_DEVICE);
IS_EQUAL(CUDA_API_INVALID_CONTEXT, CUDA_ERROR_INVALID_CONTEXT);
IS_EQUAL(CUDA_API_OPERATING_SYSTEM, CUDA_ERROR_OPERATING_SYSTEM);
IS_EQUAL(CUDA_API_SYSTEM_NOT_READY, CUDA_ERROR_SYSTEM_NOT_READY);
IS_EQUAL(CUDA_API_SYSTEM_DRIVER_MISMATCH, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
IS_EQUAL(CUDA_API_COMPAT_NOT_SUPPORTED_ON_DEVICE,
	 CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE);
IS_EQUAL(CUDA_API_MPS_CONNECTION_FAILED, CUDA_ERROR_MPS_CONNECTION_FAILED);
IS_EQUAL(CUDA_API_MPS_CLIENT_TERMINATED, CUDA_ERROR_MPS_CLIENT_TERMINATED);
IS_EQUAL(CUDA_API_UNKNOWN, CUDA_ERROR_UNKNOWN);

IS_TYPE((CUdevice)0, int);
IS_EQUAL(sizeof(CUresult), sizeof(unsigned int));
IS_EQUAL(sizeof(struct cuda_uuid), sizeof(CUuuid));
IS_FIELD(struct cuda_uuid, bytes, CUuuid, bytes);

/* cuda.h names the newest version of a function by its plain name. */
IS_TYPE(cuda.init, __typeof__(&cuInit));
IS_TYPE(cuda.get_error_name,
	unsigned int (*)(unsigned int result, const char **text));
IS_TYPE(&cuGetErrorName, CUresult (*)(CUresult error, const char **text));
IS_TYPE(cuda.device_get_count, __typeof__(&cuDeviceGetCount));
IS_TYPE(cuda.device_get, __typeof__(&cuDeviceGet));
IS_TYPE(cuda.device_get_name, __typeof__(&cuDeviceGetName));
IS_TYPE(&cuDeviceGetUuid, CUresult (*)(CUuuid *, CUdevice));
IS_TYPE(cuda.device_get_uuid_v2, unsigned int (*)(struct cuda_uuid *, int));
IS_TYPE(cuda.device_get_uuid, unsigned int (*)(struct cuda_uuid *, int));
IS_TYPE(cuda.device_total_mem, __typeof__(&cuDeviceTotalMem));

/* What the self-test calls: a handle is a pointer, or a number of 64 bits. */
static const struct selftest_api selftest;

IS_EQUAL(sizeof(CUdeviceptr), sizeof(unsigned long long));
IS_EQUAL(sizeof(CUmemGenericAllocationHandle), sizeof(unsigned long long));
IS_TYPE(selftest.init, __typeof__(&cuInit));
IS_TYPE(selftest.driver_version, __typeof__(&cuDriverGetVersion));
IS_TYPE(selftest.device_get, __typeof__(&cuDeviceGet));
IS_TYPE(selftest.total_mem, __typeof__(&cuDeviceTotalMem));
IS_TYPE(selftest.memory_info, __typeof__(&cuMemGetInfo));
IS_TYPE(selftest.linear, __typeof__(&cuMemAlloc));
IS_TYPE(selftest.linear_free, __typeof__(&cuMemFree));
IS_TYPE(selftest.managed, __typeof__(&cuMemAllocManaged));
IS_TYPE(selftest.virtual_free, __typeof__(&cuMemRelease));
IS_TYPE(selftest.host, __typeof__(&cuMemHostAlloc));
IS_TYPE(selftest.host_free, __typeof__(&cuMemFreeHost));
IS_TYPE(&cuMemAllocAsync, CUresult (*)(CUdeviceptr *, size_t, CUstream));
IS_TYPE(&cuMemFreeAsync, CUresult (*)(CUdeviceptr, CUstream));
IS_TYPE(&cuMemCreate,
	CUresult (*)(CUmemGenericAllocationHandle *, size_t,
		     const CUmemAllocationProp *, unsigned long long));
IS_TYPE(&cuArrayCreate, CUresult (*)(CUarray *, const CUDA_ARRAY_DESCRIPTOR *));
IS_FIELD(struct pool_properties, allocation_type, CUmemAllocationProp, type);
IS_FIELD(struct pool_properties, handle_types, CUmemAllocationProp,
	 requestedHandleTypes);
IS_FIELD(struct pool_properties, location, CUmemAllocationProp, location);
IS_FIELD(struct pool_properties, security, CUmemAllocationProp,
	 win32HandleMetaData);
_Static_assert(sizeof(struct pool_properties) >= sizeof(CUmemAllocationProp),
	       "the rest of it is zero");
IS_EQUAL(CU_AD_FORMAT_FLOAT, 0x20);
IS_EQUAL(CU_MEM_ATTACH_GLOBAL, 1);
IS_EQUAL(CU_MEM_ALLOCATION_TYPE_PINNED, 1);
#endif

#ifdef HAS_NVML_H
static const struct nvml_api nvml;

IS_EQUAL(NVML_API_SUCCESS, NVML_SUCCESS);
IS_EQUAL(NVML_API_UNINITIALIZED, NVML_ERROR_UNINITIALIZED);
IS_EQUAL(NVML_API_INVALID_ARGUMENT, NVML_ERROR_INVALID_ARGUMENT);
IS_EQUAL(NVML_API_NOT_SUPPORTED, NVML_ERROR_NOT_SUPPORTED);
IS_EQUAL(NVML_API_NO_PERMISSION, NVML_ERROR_NO_PERMISSION);
IS_EQUAL(NVML_API_NOT_FOUND, NVML_ERROR_NOT_FOUND);
IS_EQUAL(NVML_API_INSUFFICIENT_SIZE, NVML_ERROR_INSUFFICIENT_SIZE);
IS_EQUAL(NVML_API_DRIVER_NOT_LOADED, NVML_ERROR_DRIVER_NOT_LOADED);
IS_EQUAL(NVML_API_LIBRARY_NOT_FOUND, NVML_ERROR_LIBRARY_NOT_FOUND);
IS_EQUAL(NVML_API_FUNCTION_NOT_FOUND, NVML_ERROR_FUNCTION_NOT_FOUND);
IS_EQUAL(NVML_API_LIB_RM_VERSION_MISMATCH, NVML_ERROR_LIB_RM_VERSION_MISMATCH);
IS_EQUAL(NVML_API_ARGUMENT_VERSION_MISMATCH,
	 NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
IS_EQUAL(NVML_API_VALUE_NOT_AVAILABLE,
	 (unsigned long long)NVML_VALUE_NOT_AVAILABLE);
IS_EQUAL(NVML_API_MEMORY_V2, nvmlMemory_v2);

IS_EQUAL(sizeof(nvmlReturn_t), sizeof(unsigned int));
IS_EQUAL(sizeof(nvmlDevice_t), sizeof(void *));
IS_EQUAL(sizeof(struct nvml_memory), sizeof(nvmlMemory_t));
IS_FIELD(struct nvml_memory, total, nvmlMemory_t, total);
IS_FIELD(struct nvml_memory, free, nvmlMemory_t, free);
IS_EQUAL(sizeof(struct nvml_memory_v2), sizeof(nvmlMemory_v2_t));
IS_FIELD(struct nvml_memory_v2, version, nvmlMemory_v2_t, version);
IS_FIELD(struct nvml_memory_v2, total, nvmlMemory_v2_t, total);
IS_FIELD(struct nvml_memory_v2, free, nvmlMemory_v2_t, free);
IS_EQUAL(sizeof(struct nvml_process), sizeof(nvmlProcessInfo_v1_t));
IS_EQUAL(24, sizeof(nvmlProcessInfo_v2_t));
IS_FIELD(struct nvml_process, pid, nvmlProcessInfo_v2_t, pid);
IS_FIELD(struct nvml_process, used, nvmlProcessInfo_v2_t, usedGpuMemory);

IS_TYPE(nvml.init, __typeof__(&nvmlInit));
IS_TYPE(nvml.shutdown, __typeof__(&nvmlShutdown));
IS_TYPE(nvml.error_string, const char *(*)(unsigned int));
IS_TYPE(&nvmlErrorString, const char *(*)(nvmlReturn_t));
IS_TYPE(nvml.device_by_uuid, unsigned int (*)(const char *, void **));
IS_TYPE(&nvmlDeviceGetHandleByUUID,
	nvmlReturn_t (*)(const char *, nvmlDevice_t *));
IS_TYPE(nvml.memory, unsigned int (*)(void *, struct nvml_memory *));
IS_TYPE(&nvmlDeviceGetMemoryInfo,
	nvmlReturn_t (*)(nvmlDevice_t, nvmlMemory_t *));
IS_TYPE(nvml.memory_v2, unsigned int (*)(void *, struct nvml_memory_v2 *));
IS_TYPE(&nvmlDeviceGetMemoryInfo_v2,
	nvmlReturn_t (*)(nvmlDevice_t, nvmlMemory_v2_t *));
IS_TYPE(nvml.processes[0][0], unsigned int (*)(void *, unsigned int *, void *));
IS_TYPE(&nvmlDeviceGetComputeRunningProcesses,
	nvmlReturn_t (*)(nvmlDevice_t, unsigned int *, nvmlProcessInfo_v2_t *));
#endif

static void cuda_is_as_declared(void **state)
{
	(void)state;
#ifdef HAS_CUDA_H
	/* Read, so that what is compared above is in use. */
	assert_null(cuda.init);
	assert_null(selftest.init);
#else
	print_message("skipped: cuda.h is not installed\n");
	skip();
#endif
}

static void nvml_is_as_declared(void **state)
{
	(void)state;
#ifdef HAS_NVML_H
	assert_null(nvml.init);
#else
	print_message("skipped: nvml.h is not installed\n");
	skip();
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuda_is_as_declared),
		cmocka_unit_test(nvml_is_as_declared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
