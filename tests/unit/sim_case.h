/* A case for the simulated driver: a process that calls it by its functions. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_UNIT_SIM_CASE_H
#define AUTOFIT_TESTS_UNIT_SIM_CASE_H

#include "scratch.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define CONTEXT (512 * MIB)
/* Two devices; of the first 1 GiB is held by somebody. */
#define CASE_DEVICES "Sim A:24G:1G:512M;Sim B:8G:0:0"
#define CASE_DRIVER TEST_BINARY_DIR "/sim/libcuda.so.1"
#define CASE_OLD_DRIVER TEST_BINARY_DIR "/sim_old/libcuda.so.1"
#define CASE_NVML TEST_BINARY_DIR "/sim/libnvidia-ml.so.1"

/* Written down once more, as everything about the driver in this fixture. */
struct case_pool {
	int type, handle_types, location_type, location;
	void *security;
	size_t max_bytes;
	unsigned char rest[56];
};

struct case_virtual {
	int type, handle_types, location_type, location;
	void *security;
	unsigned char flags[8];
};

struct case_array {
	size_t width, height, depth;
	unsigned int format, channels, flags;
};

struct case_node {
	struct case_pool pool;
	const void *accesses;
	size_t access_count, bytes;
	uint64_t pointer;
};

struct case_external {
	int type;
	void *handle[2];
	unsigned long long bytes;
	unsigned int flags, rest[16];
};

struct case_buffer {
	unsigned long long offset, bytes;
	unsigned int flags, rest[16];
};

struct case_ipc {
	char bytes[64];
};

/* clang-format off */
#define CASE_CALLS(CALL)                                                       \
CALL(cuInit, (unsigned int))                                                   \
CALL(cuDriverGetVersion, (int *))                                              \
CALL(cuDeviceGet, (int *, int))                                                \
CALL(cuDeviceGetCount, (int *))                                                \
CALL(cuDeviceTotalMem_v2, (size_t *, int))                                     \
CALL(cuDeviceGetPCIBusId, (char *, int, int))                                  \
CALL(cuDeviceGetByPCIBusId, (int *, const char *))                             \
CALL(cuDevicePrimaryCtxRetain, (void **, int))                                 \
CALL(cuDevicePrimaryCtxRelease_v2, (int))                                      \
CALL(cuDevicePrimaryCtxReset_v2, (int))                                        \
CALL(cuDevicePrimaryCtxGetState, (int, unsigned int *, int *))                 \
CALL(cuCtxCreate_v2, (void **, unsigned int, int))                             \
CALL(cuCtxDestroy_v2, (void *))                                                \
CALL(cuCtxSetCurrent, (void *))                                                \
CALL(cuCtxGetCurrent, (void **))                                               \
CALL(cuCtxPushCurrent_v2, (void *))                                            \
CALL(cuCtxPopCurrent_v2, (void **))                                            \
CALL(cuCtxGetDevice, (int *))                                                  \
CALL(cuCtxSynchronize, (void))                                                 \
CALL(cuGetErrorName, (int, const char **))                                     \
CALL(cuMemGetInfo_v2, (size_t *, size_t *))                                    \
CALL(cuMemAlloc, (unsigned int *, unsigned int))                               \
CALL(cuMemAlloc_v2, (uint64_t *, size_t))                                      \
CALL(cuMemAllocPitch_v2, (uint64_t *, size_t *, size_t, size_t, unsigned int)) \
CALL(cuMemAllocManaged, (uint64_t *, size_t, unsigned int))                    \
CALL(cuMemFree, (unsigned int))                                                \
CALL(cuMemFree_v2, (uint64_t))                                                 \
CALL(cuMemAllocAsync, (uint64_t *, size_t, void *))                            \
CALL(cuMemAllocAsync_ptsz, (uint64_t *, size_t, void *))                       \
CALL(cuMemAllocFromPoolAsync, (uint64_t *, size_t, void *, void *))            \
CALL(cuMemFreeAsync, (uint64_t, void *))                                       \
CALL(cuMemPoolCreate, (void **, const struct case_pool *))                     \
CALL(cuMemPoolDestroy, (void *))                                               \
CALL(cuMemPoolTrimTo, (void *, size_t))                                        \
CALL(cuMemPoolGetAttribute, (void *, int, void *))                             \
CALL(cuMemPoolSetAttribute, (void *, int, const void *))                       \
CALL(cuDeviceGetDefaultMemPool, (void **, int))                                \
CALL(cuDeviceGetMemPool, (void **, int))                                       \
CALL(cuDeviceSetMemPool, (int, void *))                                        \
CALL(cuMemGetAllocationGranularity,                                            \
     (size_t *, const struct case_virtual *, int))                             \
CALL(cuMemCreate,                                                              \
     (uint64_t *, size_t, const struct case_virtual *, uint64_t))              \
CALL(cuMemRelease, (uint64_t))                                                 \
CALL(cuMemRetainAllocationHandle, (uint64_t *, uint64_t))                      \
CALL(cuMemAddressReserve, (uint64_t *, size_t, size_t, uint64_t, uint64_t))    \
CALL(cuMemAddressFree, (uint64_t, size_t))                                     \
CALL(cuMemMap, (uint64_t, size_t, size_t, uint64_t, uint64_t))                 \
CALL(cuMemUnmap, (uint64_t, size_t))                                           \
CALL(cuMemSetAccess, (uint64_t, size_t, const void *, size_t))                 \
CALL(cuMemExportToShareableHandle, (void *, uint64_t, int, uint64_t))          \
CALL(cuMemImportFromShareableHandle, (uint64_t *, intptr_t, int))              \
CALL(cuArray3DCreate_v2, (void **, const struct case_array *))                 \
CALL(cuArrayDestroy, (void *))                                                 \
CALL(cuMipmappedArrayCreate,                                                   \
     (void **, const struct case_array *, unsigned int))                       \
CALL(cuMipmappedArrayDestroy, (void *))                                        \
CALL(cuGraphCreate, (void **, unsigned int))                                   \
CALL(cuGraphAddMemAllocNode,                                                   \
     (void **, void *, const void *, size_t, struct case_node *))              \
CALL(cuGraphAddMemFreeNode,                                                    \
     (void **, void *, const void *, size_t, uint64_t))                        \
CALL(cuGraphInstantiateWithFlags, (void **, void *, uint64_t))                 \
CALL(cuGraphLaunch, (void *, void *))                                          \
CALL(cuGraphExecDestroy, (void *))                                             \
CALL(cuGraphDestroy, (void *))                                                 \
CALL(cuDeviceGetGraphMemAttribute, (int, int, void *))                         \
CALL(cuDeviceGraphMemTrim, (int))                                              \
CALL(cuMemHostAlloc, (void **, size_t, unsigned int))                          \
CALL(cuMemFreeHost, (void *))                                                  \
CALL(cuMemHostRegister_v2, (void *, size_t, unsigned int))                     \
CALL(cuMemHostUnregister, (void *))                                            \
CALL(cuMemHostGetDevicePointer_v2, (uint64_t *, void *, unsigned int))         \
CALL(cuImportExternalMemory, (void **, const struct case_external *))          \
CALL(cuExternalMemoryGetMappedBuffer,                                          \
     (uint64_t *, void *, const struct case_buffer *))                         \
CALL(cuDestroyExternalMemory, (void *))                                        \
CALL(cuMemPoolExportToShareableHandle, (void *, void *, int, uint64_t))        \
CALL(cuMemPoolImportFromShareableHandle, (void **, intptr_t, int, uint64_t))   \
CALL(cuMemPoolExportPointer, (char *, uint64_t))                               \
CALL(cuMemPoolImportPointer, (uint64_t *, void *, const char *))               \
CALL(cuIpcGetMemHandle, (struct case_ipc *, uint64_t))                         \
CALL(cuIpcOpenMemHandle_v2, (uint64_t *, struct case_ipc, unsigned int))       \
CALL(cuIpcCloseMemHandle, (uint64_t))                                          \
CALL(cuMemGetAddressRange_v2, (uint64_t *, size_t *, uint64_t))                \
CALL(cuPointerGetAttribute, (void *, int, uint64_t))                           \
CALL(cuMemcpyHtoD_v2, (uint64_t, const void *, size_t))                        \
CALL(cuMemcpyDtoHAsync_v2, (void *, uint64_t, size_t, void *))                 \
CALL(cuMemsetD32Async, (uint64_t, unsigned int, size_t, void *))               \
CALL(cuModuleLoadData, (void **, const void *))                                \
CALL(cuModuleUnload, (void *))                                                 \
CALL(cuModuleGetFunction, (void **, void *, const char *))                     \
CALL(cuLaunchKernel,                                                           \
     (void *, unsigned int, unsigned int, unsigned int, unsigned int,          \
      unsigned int, unsigned int, unsigned int, void *, void **, void **))     \
CALL(cuStreamCreate, (void **, unsigned int))                                  \
CALL(cuStreamDestroy_v2, (void *))                                             \
CALL(cuStreamSynchronize, (void *))                                            \
CALL(cuStreamIsCapturing, (void *, int *))                                     \
CALL(cuStreamBeginCapture_v2, (void *, unsigned int))                          \
CALL(cuStreamEndCapture, (void *, void **))                                    \
CALL(cuEventCreate, (void **, unsigned int))                                   \
CALL(cuEventRecord, (void *, void *))                                          \
CALL(cuEventSynchronize, (void *))                                             \
CALL(cuGetExportTable, (const void **, const void *))                          \
CALL(cuGetProcAddress_v2, (const char *, void **, int, uint64_t, int *))
/* clang-format on */

/* NULL: this driver has none. */
struct case_driver {
	/* NOLINTBEGIN(bugprone-macro-parentheses): a declaration */
	/* NOLINTBEGIN(readability-identifier-naming): the driver's names */
#define CASE_FIELD(name, arguments) int(*name) arguments;
	CASE_CALLS(CASE_FIELD)
#undef CASE_FIELD
	/* NOLINTEND(readability-identifier-naming) */
	/* NOLINTEND(bugprone-macro-parentheses) */
	void *library;
};

/* What a forked process does; it ends there when something is not so. */
typedef void case_deed(const struct case_driver *cu);

struct case_row {
	const char *name;
	case_deed *deed;
	const char *fault; /* NULL: none */
};

static inline void case_expect(long long actual, long long wanted,
			       const char *text, int line)
{
	if (actual == wanted)
		return;
	(void)fprintf(stderr, "line %d: %s is %lld, not %lld\n", line, text,
		      actual, wanted);
	_exit(1);
}

#define IS(actual, wanted)                                                     \
	case_expect((long long)(actual), (long long)(wanted), #actual, __LINE__)
#define OK(call) IS(call, 0)

static inline void *case_open(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		(void)fprintf(stderr, "%s\n", dlerror());
	IS(library != NULL, 1);
	return library;
}

static inline void case_load(struct case_driver *cu, const char *path)
{
	void *found;

	cu->library = case_open(path);
#define CASE_LOAD(name, arguments)                                             \
	found = dlsym(cu->library, #name);                                     \
	memcpy(&cu->name, &found, sizeof(found));
	CASE_CALLS(CASE_LOAD)
#undef CASE_LOAD
}

/* The first device's primary context, made current. */
static inline void case_begin(const struct case_driver *cu)
{
	void *context = NULL;

	OK(cu->cuInit(0));
	OK(cu->cuDevicePrimaryCtxRetain(&context, 0));
	OK(cu->cuCtxSetCurrent(context));
}

/* Of the current device, by all processes and the unseen one. */
static inline uint64_t case_used(const struct case_driver *cu)
{
	size_t free_bytes = 0;
	size_t total = 0;

	OK(cu->cuMemGetInfo_v2(&free_bytes, &total));
	return total - free_bytes;
}

/* Beyond what is used once there is a context. */
static inline uint64_t case_taken(const struct case_driver *cu)
{
	return case_used(cu) - GIB - CONTEXT;
}

static inline uint64_t case_alloc(const struct case_driver *cu, uint64_t bytes)
{
	uint64_t pointer = 0;

	OK(cu->cuMemAlloc_v2(&pointer, bytes));
	return pointer;
}

static inline int case_alloc_result(const struct case_driver *cu,
				    uint64_t bytes)
{
	uint64_t pointer = 0;

	return cu->cuMemAlloc_v2(&pointer, bytes);
}

static inline void case_set(const char *name, const char *value)
{
	assert_int_equal(value ? setenv(name, value, 1) : unsetenv(name), 0);
}

/* Each row in a process and with a state of its own. */
static inline void case_play(const char *folder, const char *driver,
			     const struct case_row *rows, size_t count)
{
	char path[SCRATCH_PATH_MAX];

	case_set("AUTOFIT_SIM_DEVICES", CASE_DEVICES);
	case_set("CUDA_VISIBLE_DEVICES", NULL);
	case_set("RANK", NULL);
	for (size_t i = 0; i < count; i++) {
		struct case_driver cu = { 0 };
		int status = -1;
		pid_t pid;

		print_message("%s\n", rows[i].name);
		(void)snprintf(path, sizeof(path), "%s/%zu", folder, i);
		(void)remove(path);
		case_set("AUTOFIT_SIM_STATE", path);
		case_set("AUTOFIT_SIM_FAULT", rows[i].fault);
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			case_load(&cu, driver);
			rows[i].deed(&cu);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

#endif
