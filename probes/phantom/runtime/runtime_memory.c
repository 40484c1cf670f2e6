/* Memory of a phantom card's CUDA runtime: all of it is the driver's. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/runtime/runtime_launch.h"

#include "probes/phantom/device/sim_kept.h"

/* NOLINTBEGIN(readability-identifier-naming): the runtime's names */
/* NOLINTBEGIN(readability-function-size): the runtime's signatures */

DRIVER_CALL(memory_allocate, "cuMemAlloc_v2",
	    (uint64_t * address, size_t bytes), (address, bytes))
DRIVER_CALL(memory_allocate_async, "cuMemAllocAsync",
	    (uint64_t * address, size_t bytes, void *stream),
	    (address, bytes, stream))
DRIVER_CALL(memory_allocate_managed, "cuMemAllocManaged",
	    (uint64_t * address, size_t bytes, unsigned int flags),
	    (address, bytes, flags))
DRIVER_CALL(memory_free, "cuMemFree_v2", (uint64_t address), (address))
DRIVER_CALL(pointer_attribute, "cuPointerGetAttribute",
	    (void *value, int attribute, uint64_t address),
	    (value, attribute, address))

static int hand_back(void **pointer, uint64_t address, int result)
{
	*pointer = result ? NULL : (void *)(uintptr_t)address;
	return runtime_answer(result);
}

EXPORT int cudaMalloc(void **pointer, size_t bytes)
{
	uint64_t address = 0;
	int result = runtime_enter();

	/* The driver calls this an error. */
	if (!result && bytes)
		result = memory_allocate(&address, bytes);
	return hand_back(pointer, address, result);
}

EXPORT int cudaMallocAsync(void **pointer, size_t bytes, void *stream)
{
	uint64_t address = 0;
	int result = runtime_enter();

	if (!result)
		result = memory_allocate_async(&address, bytes, stream);
	return hand_back(pointer, address, result);
}

EXPORT int cudaMallocManaged(void **pointer, size_t bytes, unsigned int flags)
{
	uint64_t address = 0;
	int result = runtime_enter();

	if (!result)
		result = memory_allocate_managed(&address, bytes, flags);
	return hand_back(pointer, address, result);
}

EXPORT int cudaFree(void *pointer)
{
	int result = runtime_enter();

	if (!result && pointer)
		result = memory_free((uint64_t)(uintptr_t)pointer);
	return runtime_answer(result);
}

FORWARD(cudaFreeAsync, "cuMemFreeAsync", (void *pointer, void *stream),
	(pointer, stream))
FORWARD(cudaMemGetInfo, "cuMemGetInfo_v2",
	(size_t * free_bytes, size_t *total_bytes), (free_bytes, total_bytes))
FORWARD(cudaMemPoolGetAttribute, "cuMemPoolGetAttribute",
	(void *pool, int attribute, void *value), (pool, attribute, value))
FORWARD(cudaMemPoolSetAttribute, "cuMemPoolSetAttribute",
	(void *pool, int attribute, void *value), (pool, attribute, value))
FORWARD(cudaMemPoolSetAccess, "cuMemPoolSetAccess",
	(void *pool, const void *access, size_t count), (pool, access, count))
FORWARD(cudaMemPoolTrimTo, "cuMemPoolTrimTo", (void *pool, size_t bytes),
	(pool, bytes))
FORWARD(cudaHostAlloc, "cuMemHostAlloc",
	(void **pointer, size_t bytes, unsigned int flags),
	(pointer, bytes, flags))
FORWARD(cudaFreeHost, "cuMemFreeHost", (void *pointer), (pointer))
FORWARD(cudaHostRegister, "cuMemHostRegister_v2",
	(void *pointer, size_t bytes, unsigned int flags),
	(pointer, bytes, flags))
FORWARD(cudaHostUnregister, "cuMemHostUnregister", (void *pointer), (pointer))
FORWARD(cudaIpcGetMemHandle, "cuIpcGetMemHandle", (void *handle, void *pointer),
	(handle, pointer))
FORWARD(cudaIpcCloseMemHandle, "cuIpcCloseMemHandle", (void *pointer),
	(pointer))

/* Managed memory is the host's already. Where to is a number or, from CUDA 13
 * on, a struct of two, which is passed as one word of 64 bits. */
#if PHANTOM_MAJOR < 13
EXPORT int cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device,
				void *stream)
{
#else
EXPORT int cudaMemPrefetchAsync(const void *pointer, size_t bytes,
				uint64_t device, unsigned int flags,
				void *stream)
{
	(void)flags;
#endif
	(void)pointer;
	(void)bytes;
	(void)device;
	(void)stream;
	return RUNTIME_OK;
}

enum { KIND_NONE = 0, KIND_HOST = 1, KIND_DEVICE = 2 };
enum { ATTRIBUTE_TYPE = 2, ATTRIBUTE_ORDINAL = 9 };

/* As the driver knows it; none: the program's own. */
static int kind_of(const void *pointer)
{
	unsigned int type = KIND_NONE;

	if (!pointer || pointer_attribute(&type, ATTRIBUTE_TYPE,
					  (uint64_t)(uintptr_t)pointer))
		return KIND_NONE;
	return (int)type;
}

struct runtime_pointer {
	int kind, device;
	const void *device_pointer, *host_pointer;
};

EXPORT int cudaPointerGetAttributes(struct runtime_pointer *found,
				    const void *pointer)
{
	int result = runtime_enter();

	if (result)
		return runtime_answer(result);
	*found = (struct runtime_pointer){ .kind = kind_of(pointer),
					   .device = -1 };
	if (found->kind == KIND_NONE)
		return RUNTIME_OK;
	(void)pointer_attribute(&found->device, ATTRIBUTE_ORDINAL,
				(uint64_t)(uintptr_t)pointer);
	found->device_pointer = pointer;
	found->host_pointer = found->kind == KIND_HOST ? pointer : NULL;
	return RUNTIME_OK;
}

/* As cudaMemcpyKind numbers them. */
enum direction {
	HOST_TO_HOST,
	HOST_TO_DEVICE,
	DEVICE_TO_HOST,
	DEVICE_TO_DEVICE,
	BY_POINTERS,
};

static enum direction direction_of(const void *target, const void *source)
{
	bool to_device = kind_of(target) == KIND_DEVICE;
	bool from_device = kind_of(source) == KIND_DEVICE;

	if (to_device)
		return from_device ? DEVICE_TO_DEVICE : HOST_TO_DEVICE;
	return from_device ? DEVICE_TO_HOST : HOST_TO_HOST;
}

DRIVER_CALL(keep, "autofit_phantom_keep",
	    (uint64_t address, const void *data, size_t bytes,
	     enum sim_kept kind),
	    (address, data, bytes, kind))
DRIVER_CALL(keep_copy, "autofit_phantom_keep_copy",
	    (uint64_t to, uint64_t from, size_t bytes), (to, from, bytes))
DRIVER_CALL(kept, "autofit_phantom_kept",
	    (uint64_t address, void *data, size_t bytes),
	    (address, data, bytes))

/*
 * What was computed is not known, so that a copy back gives zeros. A lone byte
 * after an all() is true, for programs ask so whether a mask hides anything.
 */
static void read_back(void *target, uint64_t source, size_t bytes)
{
	if (kept(source, NULL, bytes) == SIM_KEPT_ANSWER &&
	    kept(source, target, bytes) == SIM_KEPT_ANSWER)
		return;
	memset(target, bytes == 1 && runtime_says_all(), bytes);
	runtime_note_read(bytes);
}

static int copy(void *target, const void *source, size_t bytes, int kind)
{
	int result = runtime_enter();

	if (result || !bytes || target == source)
		return result;
	if (kind == BY_POINTERS)
		kind = (int)direction_of(target, source);
	if (kind == HOST_TO_HOST)
		memmove(target, source, bytes);
	else if (kind == HOST_TO_DEVICE)
		(void)keep((uintptr_t)target, source, bytes, SIM_KEPT_COPY);
	else if (kind == DEVICE_TO_DEVICE)
		(void)keep_copy((uintptr_t)target, (uintptr_t)source, bytes);
	else if (kind == DEVICE_TO_HOST)
		read_back(target, (uintptr_t)source, bytes);
	return RUNTIME_OK;
}

EXPORT int cudaMemcpy(void *target, const void *source, size_t bytes, int kind)
{
	return runtime_answer(copy(target, source, bytes, kind));
}

EXPORT int cudaMemcpyAsync(void *target, const void *source, size_t bytes,
			   int kind, void *stream)
{
	(void)stream;
	return runtime_answer(copy(target, source, bytes, kind));
}

EXPORT int cudaMemcpyPeerAsync(void *target, int target_device,
			       const void *source, int source_device,
			       size_t bytes, void *stream)
{
	(void)target_device;
	(void)source_device;
	(void)stream;
	return runtime_answer(copy(target, source, bytes, DEVICE_TO_DEVICE));
}

EXPORT int cudaMemcpy2DAsync(void *target, size_t target_pitch,
			     const void *source, size_t source_pitch,
			     size_t width, size_t height, int kind,
			     void *stream)
{
	int result = RUNTIME_OK;

	(void)stream;
	for (size_t row = 0; row < height && !result; row++)
		result = copy((char *)target + row * target_pitch,
			      (const char *)source + row * source_pitch, width,
			      kind);
	return runtime_answer(result);
}

EXPORT int cudaMemset(void *pointer, int value, size_t bytes)
{
	int result = runtime_enter();

	(void)value;
	if (!result)
		(void)keep((uintptr_t)pointer, NULL, bytes, SIM_KEPT_NOT);
	return runtime_answer(result);
}

EXPORT int cudaMemsetAsync(void *pointer, int value, size_t bytes, void *stream)
{
	(void)stream;
	return cudaMemset(pointer, value, bytes);
}

/* NOLINTEND(readability-function-size) */
/* NOLINTEND(readability-identifier-naming) */
