/* Memory of the simulated libcuda.so.1: linear, pitched, managed, the rest. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_events.h"
#include "probes/phantom/device/sim_owners.h"

/* NOLINTBEGIN(readability-identifier-naming): the driver's names */

#define PITCH_UNIT 512

/* Charged as a whole number of granules. */
static int make_linear(struct sim_context *context, enum sim_arena arena,
		       uint64_t bytes, struct sim_block **made)
{
	uint64_t rounded = sim_round_up(bytes, SIM_GRANULARITY);
	int result = sim_event_allocation(context->device, bytes);

	if (!result)
		result = rounded ? sim_charge(context->device, rounded)
				 : OUT_OF_MEMORY;
	if (result)
		return result;
	*made = arena == SIM_LOW ? sim_block_make_low(rounded, context)
				 : sim_block_make(SIM_LINEAR, rounded, context);
	if (!*made) {
		sim_discharge(context->device, rounded);
		return OUT_OF_MEMORY;
	}
	(*made)->asked_bytes = bytes;
	(*made)->charged_bytes = rounded;
	return OK;
}

static int memory_allocate(enum sim_arena arena, uint64_t *pointer,
			   uint64_t bytes)
{
	struct sim_context *context = NULL;
	struct sim_block *block = NULL;
	int result;

	sim_event_delay();
	result = sim_enter_context(&context);
	if (result)
		return result;
	if (!bytes)
		return sim_leave(INVALID_VALUE);
	result = make_linear(context, arena, bytes, &block);
	if (!result)
		*pointer = block->address;
	return sim_leave(result);
}

EXPORT int cuMemAlloc_v2(uint64_t *pointer, size_t bytes)
{
	if (!pointer)
		return sim_check() ? NOT_INITIALIZED : INVALID_VALUE;
	return memory_allocate(SIM_HIGH, pointer, bytes);
}

EXPORT int cuMemAlloc(unsigned int *pointer, unsigned int bytes)
{
	uint64_t address = 0;
	int result;

	if (!pointer)
		return sim_check() ? NOT_INITIALIZED : INVALID_VALUE;
	result = memory_allocate(SIM_LOW, &address, bytes);
	if (!result)
		*pointer = (unsigned int)address;
	return result;
}

/* A row is whole units; 0: no such array of elements. */
static uint64_t pitch_of(uint64_t width, uint64_t height,
			 unsigned int element_bytes)
{
	uint64_t pitch = sim_round_up(width, PITCH_UNIT);

	if (element_bytes != 4 && element_bytes != 8 && element_bytes != 16)
		return 0;
	return height && pitch <= UINT64_MAX / height ? pitch : 0;
}

EXPORT int cuMemAllocPitch_v2(uint64_t *pointer, size_t *pitch, size_t width,
			      size_t height, unsigned int element_bytes)
{
	uint64_t row_bytes = pitch_of(width, height, element_bytes);
	int result = sim_check();

	if (!result && (!pointer || !pitch || !row_bytes))
		result = INVALID_VALUE;
	if (!result)
		result = memory_allocate(SIM_HIGH, pointer, row_bytes * height);
	if (!result)
		*pitch = row_bytes;
	return result;
}

EXPORT int cuMemAllocPitch(unsigned int *pointer, unsigned int *pitch,
			   unsigned int width, unsigned int height,
			   unsigned int element_bytes)
{
	uint64_t row_bytes = pitch_of(width, height, element_bytes);
	uint64_t address = 0;
	int result = sim_check();

	if (!result && (!pointer || !pitch || !row_bytes))
		result = INVALID_VALUE;
	if (!result)
		result = memory_allocate(SIM_LOW, &address, row_bytes * height);
	if (!result) {
		*pointer = (unsigned int)address;
		*pitch = (unsigned int)row_bytes;
	}
	return result;
}

/* Its pages move: in no budget, as NVML does not see them either. */
EXPORT int cuMemAllocManaged(uint64_t *pointer, size_t bytes,
			     unsigned int flags)
{
	struct sim_context *context = NULL;
	struct sim_block *block = NULL;
	int result;

	sim_event_delay();
	result = sim_enter_context(&context);
	if (result)
		return result;
	if (!pointer || !bytes || (flags != 1 && flags != 2))
		return sim_leave(INVALID_VALUE);
	result = sim_event_allocation(context->device, bytes);
	if (!result) {
		block = sim_block_make(SIM_MANAGED, bytes, context);
		result = block ? OK : OUT_OF_MEMORY;
	}
	if (block)
		*pointer = block->address;
	return sim_leave(result);
}

/* Also what a pool or a graph gave. */
EXPORT int cuMemFree_v2(uint64_t pointer)
{
	struct sim_block *block;
	int result = sim_enter();

	if (result)
		return result;
	if (!pointer)
		return sim_leave(OK);
	block = sim_block_at(pointer, SIM_LINEAR | SIM_MANAGED | SIM_POOLED |
					      SIM_GRAPH_MEMORY | SIM_IMPORTED);
	if (!block)
		return sim_leave(INVALID_VALUE);
	if (block->kind == SIM_GRAPH_MEMORY)
		return sim_leave(sim_graph_give(block));
	if (block->kind == SIM_POOLED)
		sim_pool_give(block);
	sim_block_free(block);
	return sim_leave(OK);
}

EXPORT int cuMemFree(unsigned int pointer)
{
	return cuMemFree_v2(pointer);
}

EXPORT int cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
	struct sim_context *context = NULL;
	struct sim_state *state;
	int result = sim_enter_context(&context);

	if (result)
		return result;
	state = sim_lock();
	if (!state)
		return sim_leave(NO_DEVICE);
	if (free_bytes)
		*free_bytes = sim_free_bytes(state, context->device);
	if (total_bytes)
		*total_bytes = state->devices[context->device].total_bytes;
	sim_unlock(state);
	return sim_leave(OK);
}

EXPORT int cuMemGetInfo(unsigned int *free_bytes, unsigned int *total_bytes)
{
	size_t free_now = 0;
	size_t total = 0;
	int result = cuMemGetInfo_v2(&free_now, &total);

	if (result)
		return result;
	if (free_bytes)
		*free_bytes = free_now > UINT32_MAX ? UINT32_MAX
						    : (unsigned int)free_now;
	if (total_bytes)
		*total_bytes =
			total > UINT32_MAX ? UINT32_MAX : (unsigned int)total;
	return OK;
}

const struct sim_export sim_memory_exports[] = {
	SIM_SAME(cuMemAlloc, 2000),
	SIM_ROW(cuMemAlloc_v2, "cuMemAlloc", 3020),
	SIM_SAME(cuMemAllocPitch, 2000),
	SIM_ROW(cuMemAllocPitch_v2, "cuMemAllocPitch", 3020),
	SIM_SAME(cuMemAllocManaged, 6000),
	SIM_SAME(cuMemFree, 2000),
	SIM_ROW(cuMemFree_v2, "cuMemFree", 3020),
	SIM_SAME(cuMemGetInfo, 2000),
	SIM_ROW(cuMemGetInfo_v2, "cuMemGetInfo", 3020),
	SIM_END,
};

/* NOLINTEND(readability-identifier-naming) */
