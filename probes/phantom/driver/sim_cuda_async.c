/* Stream-ordered memory of the simulated driver, and what pools hold. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_pool.h"

#include "probes/phantom/device/sim_events.h"
#include "probes/phantom/device/sim_owners.h"

/* NOLINTBEGIN(readability-identifier-naming): the driver's names */

/* What pools take from the device at once. */
#define STEP_BYTES (UINT64_C(32) << 20)

static struct sim_pool *pools;
static struct sim_pool *default_pools[SIM_DEVICES];
static struct sim_pool *current_pools[SIM_DEVICES]; /* NULL: the default */

struct sim_pool *sim_pool_make(uint32_t device, bool is_charged)
{
	struct sim_pool *pool = sim_object_make(SIM_POOL, sizeof(*pool), NULL);

	if (!pool)
		return NULL;
	pool->device = device;
	pool->is_charged = is_charged;
	pool->next = pools;
	pools = pool;
	for (int i = 0; i < 3; i++)
		pool->reuse[i] = 1;
	return pool;
}

struct sim_pool *sim_pool_default(uint32_t device)
{
	if (!default_pools[device])
		default_pools[device] = sim_pool_make(device, true);
	return default_pools[device];
}

struct sim_pool *sim_pool_current(uint32_t device)
{
	return current_pools[device] ? current_pools[device]
				     : sim_pool_default(device);
}

void sim_pool_set_current(uint32_t device, struct sim_pool *pool)
{
	current_pools[device] = pool;
}

static int async_reserve(struct sim_pool *pool, uint64_t bytes)
{
	uint64_t wanted = sim_round_up(pool->used + bytes, STEP_BYTES);
	uint64_t more;
	int result = OK;

	if (!wanted)
		return OUT_OF_MEMORY;
	if (wanted <= pool->reserved)
		return OK;
	if (pool->max_bytes && wanted > pool->max_bytes)
		wanted = pool->max_bytes;
	if (wanted < pool->used + bytes)
		return OUT_OF_MEMORY;
	more = wanted - pool->reserved;
	if (pool->is_charged)
		result = sim_charge(pool->device, more);
	if (result)
		return result;
	pool->reserved = wanted;
	if (pool->reserved > pool->reserved_high)
		pool->reserved_high = pool->reserved;
	return OK;
}

void sim_pool_trim(struct sim_pool *pool, uint64_t keep_bytes)
{
	uint64_t keep = sim_round_up(pool->used, STEP_BYTES);
	uint64_t asked = sim_round_up(keep_bytes, STEP_BYTES);

	/* 0: so many that they cannot be rounded up. */
	if (!asked && keep_bytes)
		asked = pool->reserved;
	if (keep < asked)
		keep = asked;
	if (keep >= pool->reserved)
		return;
	if (pool->is_charged)
		sim_discharge(pool->device, pool->reserved - keep);
	pool->reserved = keep;
}

static void free_pool(struct sim_pool *pool)
{
	struct sim_pool **link = &pools;

	while (*link != pool)
		link = &(*link)->next;
	*link = pool->next;
	sim_object_free(pool);
}

void sim_pool_destroy(struct sim_pool *pool)
{
	if (current_pools[pool->device] == pool)
		current_pools[pool->device] = NULL;
	pool->is_dead = true;
	sim_pool_trim(pool, 0);
	if (!pool->used)
		free_pool(pool);
}

void sim_pool_give(struct sim_block *block)
{
	struct sim_pool *pool = block->owner;

	pool->used -= block->asked_bytes;
	if (pool->is_dead) {
		sim_pool_trim(pool, 0);
		if (!pool->used)
			free_pool(pool);
	}
}

void sim_pools_settle(void)
{
	for (struct sim_pool *pool = pools; pool; pool = pool->next)
		sim_pool_trim(pool, pool->threshold);
}

void sim_pools_drop(uint32_t device)
{
	for (struct sim_pool *pool = pools; pool; pool = pool->next)
		if (pool->device == device)
			sim_pool_trim(pool, 0);
}

static int async_take(struct sim_context *context, struct sim_pool *pool,
		      uint64_t bytes, uint64_t *pointer)
{
	struct sim_block *block;
	int result = sim_event_allocation(pool->device, bytes);

	if (!result)
		result = async_reserve(pool, bytes);
	if (result)
		return result;
	block = sim_block_make(SIM_POOLED, bytes, context);
	if (!block)
		return OUT_OF_MEMORY;
	block->device = pool->device;
	block->owner = pool;
	pool->used += bytes;
	if (pool->used > pool->used_high)
		pool->used_high = pool->used;
	*pointer = block->address;
	return OK;
}

/* pool NULL: the current one of the context's device. */
static int async_allocate(uint64_t *pointer, uint64_t bytes, const void *pool,
			  const void *stream)
{
	struct sim_context *context = NULL;
	struct sim_graph *graph;
	struct sim_pool *from;
	int result;

	sim_event_delay();
	result = sim_enter_context(&context);
	if (result)
		return result;
	if (!pointer || !bytes)
		return sim_leave(INVALID_VALUE);
	if (!sim_stream_is_known(stream))
		return sim_leave(INVALID_HANDLE);
	graph = sim_stream_graph(stream);
	if (graph)
		return sim_leave(sim_graph_add_allocation(
			graph, context->device, bytes, pointer));
	from = pool ? sim_object_find(pool, SIM_POOL)
		    : sim_pool_current(context->device);
	if (!from || from->is_dead)
		return sim_leave(pool ? INVALID_VALUE : OUT_OF_MEMORY);
	return sim_leave(async_take(context, from, bytes, pointer));
}

EXPORT int cuMemAllocAsync(uint64_t *pointer, size_t bytes, const void *stream)
{
	return async_allocate(pointer, bytes, NULL, stream);
}

EXPORT int cuMemAllocFromPoolAsync(uint64_t *pointer, size_t bytes,
				   const void *pool, const void *stream)
{
	if (!pool)
		return sim_check() ? NOT_INITIALIZED : INVALID_VALUE;
	return async_allocate(pointer, bytes, pool, stream);
}

EXPORT int cuMemFreeAsync(uint64_t pointer, const void *stream)
{
	struct sim_context *context = NULL;
	struct sim_graph *graph;
	struct sim_block *block;
	int result = sim_enter_context(&context);

	if (result)
		return result;
	if (!sim_stream_is_known(stream))
		return sim_leave(INVALID_HANDLE);
	graph = sim_stream_graph(stream);
	if (graph)
		return sim_leave(sim_graph_add_free(graph, pointer));
	block = sim_block_at(pointer,
			     SIM_POOLED | SIM_GRAPH_MEMORY | SIM_IMPORTED);
	if (!block)
		return sim_leave(INVALID_VALUE);
	if (block->kind == SIM_GRAPH_MEMORY)
		return sim_leave(sim_graph_give(block));
	if (block->kind == SIM_POOLED)
		sim_pool_give(block);
	sim_block_free(block);
	return sim_leave(OK);
}

SIM_TWIN(cuMemAllocAsync_ptsz, cuMemAllocAsync,
	 (uint64_t * pointer, size_t bytes, const void *stream),
	 (pointer, bytes, stream))
SIM_TWIN(cuMemAllocFromPoolAsync_ptsz, cuMemAllocFromPoolAsync,
	 (uint64_t * pointer, size_t bytes, const void *pool,
	  const void *stream),
	 (pointer, bytes, pool, stream))
SIM_TWIN(cuMemFreeAsync_ptsz, cuMemFreeAsync,
	 (uint64_t pointer, const void *stream), (pointer, stream))

const struct sim_export sim_async_exports[] = {
	SIM_SAME(cuMemAllocAsync, 11020),
	SIM_PER_THREAD(cuMemAllocAsync_ptsz, "cuMemAllocAsync", 11020),
	SIM_SAME(cuMemAllocFromPoolAsync, 11020),
	SIM_PER_THREAD(cuMemAllocFromPoolAsync_ptsz, "cuMemAllocFromPoolAsync",
		       11020),
	SIM_SAME(cuMemFreeAsync, 11020),
	SIM_PER_THREAD(cuMemFreeAsync_ptsz, "cuMemFreeAsync", 11020),
	SIM_END,
};

/* NOLINTEND(readability-identifier-naming) */
