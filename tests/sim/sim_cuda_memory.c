/* Memory of the simulated libcuda.so.1: one budget over all processes. */
/* SPDX-License-Identifier: MIT */
#include "sim_cuda.h"

#include <stdlib.h>
#include <sys/mman.h>

/* NOLINTBEGIN(readability-identifier-naming): the driver's names */

/* One allocation of this process: address space without memory behind it. */
struct block {
	struct block *next;
	void *address;
	uint64_t bytes;
	uint32_t device;
};

static struct block *blocks;
static pthread_mutex_t blocks_lock = PTHREAD_MUTEX_INITIALIZER;

/* Take or give back bytes of the budget that all processes share. */
static bool charge(uint32_t device, uint64_t bytes)
{
	struct sim_state *state = sim_lock();
	struct sim_process *self = state ? sim_self(state) : NULL;
	bool fits = self && sim_free_bytes(state, device) >= bytes;

	if (fits)
		self->used_bytes[device] += bytes;
	if (state)
		sim_unlock(state);
	return fits;
}

static void discharge(uint32_t device, uint64_t bytes)
{
	struct sim_state *state = sim_lock();
	struct sim_process *self = state ? sim_self(state) : NULL;

	/* Already nothing when the context went first. */
	if (self && self->used_bytes[device] >= bytes)
		self->used_bytes[device] -= bytes;
	if (state)
		sim_unlock(state);
}

static struct block *make_block(uint32_t device, uint64_t bytes)
{
	struct block *block = malloc(sizeof(*block));

	if (!block)
		return NULL;
	block->address =
		mmap(NULL, bytes, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	block->bytes = bytes;
	block->device = device;
	if (block->address == MAP_FAILED) {
		free(block);
		return NULL;
	}
	return block;
}

EXPORT int cuMemAlloc_v2(unsigned long long *pointer, size_t size)
{
	uint64_t bytes = (size + SIM_GRANULARITY - 1) & ~(SIM_GRANULARITY - 1);
	uint32_t device = 0;
	struct block *block;
	int result = sim_current_device(&device);

	if (result)
		return result;
	if (!pointer || !size)
		return INVALID_VALUE;
	if (bytes < size || !charge(device, bytes))
		return OUT_OF_MEMORY;
	block = make_block(device, bytes);
	if (!block) {
		discharge(device, bytes);
		return OUT_OF_MEMORY;
	}
	(void)pthread_mutex_lock(&blocks_lock);
	block->next = blocks;
	blocks = block;
	(void)pthread_mutex_unlock(&blocks_lock);
	*pointer = (uintptr_t)block->address;
	return OK;
}

EXPORT int cuMemFree_v2(unsigned long long pointer)
{
	struct block **link = &blocks;
	struct block *block;

	if (sim_check())
		return NOT_INITIALIZED;
	if (!pointer)
		return OK;
	(void)pthread_mutex_lock(&blocks_lock);
	while (*link && (uintptr_t)(*link)->address != pointer)
		link = &(*link)->next;
	block = *link;
	if (block)
		*link = block->next;
	(void)pthread_mutex_unlock(&blocks_lock);
	if (!block)
		return INVALID_VALUE;
	discharge(block->device, block->bytes);
	(void)munmap(block->address, block->bytes);
	free(block);
	return OK;
}

EXPORT int cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
	struct sim_state *state;
	uint32_t device = 0;
	int result = sim_current_device(&device);

	if (result)
		return result;
	state = sim_lock();
	if (!state)
		return NO_DEVICE;
	if (free_bytes)
		*free_bytes = sim_free_bytes(state, device);
	if (total_bytes)
		*total_bytes = state->devices[device].total_bytes;
	sim_unlock(state);
	return OK;
}

/* NOLINTEND(readability-identifier-naming) */
