/* Pinned host memory of the simulated driver: there is memory behind it. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_events.h"
#include "probes/phantom/device/sim_objects.h"

/* NOLINTBEGIN(readability-identifier-naming): the driver's names */

#define HOST_FLAGS 7U

EXPORT int cuMemHostAlloc(void **pointer, size_t bytes, unsigned int flags)
{
	struct sim_context *context = NULL;
	struct sim_block *block;
	int result = sim_enter_context(&context);

	if (result)
		return result;
	if (!pointer || !bytes || (flags & ~HOST_FLAGS))
		return sim_leave(INVALID_VALUE);
	result = sim_event_host();
	if (result)
		return sim_leave(result);
	block = sim_block_make(SIM_HOST, bytes, context);
	if (!block)
		return sim_leave(OUT_OF_MEMORY);
	*pointer = (void *)(uintptr_t)block->address;
	return sim_leave(OK);
}

EXPORT int cuMemAllocHost_v2(void **pointer, size_t bytes)
{
	return cuMemHostAlloc(pointer, bytes, 0);
}

EXPORT int cuMemAllocHost(void **pointer, unsigned int bytes)
{
	return cuMemHostAlloc(pointer, bytes, 0);
}

EXPORT int cuMemFreeHost(void *pointer)
{
	struct sim_block *block;
	int result = sim_enter();

	if (result)
		return result;
	block = sim_block_at((uintptr_t)pointer, SIM_HOST);
	if (!block)
		return sim_leave(INVALID_VALUE);
	sim_block_free(block);
	return sim_leave(OK);
}

EXPORT int cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned int flags)
{
	struct sim_context *context = NULL;
	int result = sim_enter_context(&context);

	(void)flags;
	if (result)
		return result;
	if (!pointer || !bytes || bytes > UINT64_MAX - (uintptr_t)pointer)
		return sim_leave(INVALID_VALUE);
	result = sim_event_host();
	if (!result && !sim_block_place(SIM_REGISTERED, (uintptr_t)pointer,
					bytes, context))
		result = HOST_MEMORY_ALREADY_REGISTERED;
	return sim_leave(result);
}

EXPORT int cuMemHostRegister(void *pointer, size_t bytes, unsigned int flags)
{
	return cuMemHostRegister_v2(pointer, bytes, flags);
}

EXPORT int cuMemHostUnregister(void *pointer)
{
	struct sim_block *block;
	int result = sim_enter();

	if (result)
		return result;
	if (!pointer)
		return sim_leave(INVALID_VALUE);
	block = sim_block_at((uintptr_t)pointer, SIM_REGISTERED);
	if (!block)
		return sim_leave(HOST_MEMORY_NOT_REGISTERED);
	sim_block_free(block);
	return sim_leave(OK);
}

EXPORT int cuMemHostGetDevicePointer_v2(uint64_t *device_pointer, void *pointer,
					unsigned int flags)
{
	const struct sim_block *block;
	int result = sim_enter();

	if (result)
		return result;
	block = sim_block_find((uintptr_t)pointer);
	if (!device_pointer || flags || !block ||
	    !(block->kind & (SIM_HOST | SIM_REGISTERED)))
		return sim_leave(INVALID_VALUE);
	*device_pointer = (uintptr_t)pointer;
	return sim_leave(OK);
}

EXPORT int cuMemHostGetFlags(unsigned int *flags, const void *pointer)
{
	int result = sim_enter();

	if (result)
		return result;
	if (!flags || !sim_block_at((uintptr_t)pointer, SIM_HOST))
		return sim_leave(INVALID_VALUE);
	*flags = 2; /* mapped, as all is with unified addresses */
	return sim_leave(OK);
}

const struct sim_export sim_host_exports[] = {
	SIM_SAME(cuMemHostAlloc, 2020),
	SIM_SAME(cuMemAllocHost, 2000),
	SIM_ROW(cuMemAllocHost_v2, "cuMemAllocHost", 3020),
	SIM_SAME(cuMemFreeHost, 2000),
	SIM_SAME(cuMemHostRegister, 4000),
	SIM_ROW(cuMemHostRegister_v2, "cuMemHostRegister", 6050),
	SIM_SAME(cuMemHostUnregister, 4000),
	SIM_ROW(cuMemHostGetDevicePointer_v2, "cuMemHostGetDevicePointer",
		3020),
	SIM_SAME(cuMemHostGetFlags, 2030),
	SIM_END,
};

/* NOLINTEND(readability-identifier-naming) */
