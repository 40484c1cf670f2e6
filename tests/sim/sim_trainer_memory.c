/* Every kind of device memory, taken and given back, and counted. */
/* SPDX-License-Identifier: MIT */
#include "sim_trainer.h"
#include "sim_trainer_layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows of a pitched allocation: less than what the driver makes of them. */
#define ROW_BYTES 1000
#define PITCH_BYTES 1024
/* Of what a pool takes from the simulated driver. */
#define POOL_STEP_BYTES (32 * MIB)

static uint64_t bytes_round_up(uint64_t bytes, uint64_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

void memory_open(struct trainer *trainer)
{
	const struct api *api = &trainer->api;
	const struct pool_props props = { .type = TYPE_PINNED,
					  .location = device_location(
						  trainer->device) };
	long memory = trainer->options.memory;

	if (memory == MEMORY_ASYNC || memory == MEMORY_MIXED)
		driver_require(trainer,
			       api->pool_default(&trainer->default_pool,
						 trainer->device),
			       "cuDeviceGetDefaultMemPool");
	if (memory == MEMORY_POOL || memory == MEMORY_MIXED)
		driver_require(trainer,
			       api->pool_create(&trainer->pool, &props),
			       "cuMemPoolCreate");
	if (memory == MEMORY_EXPANDABLE)
		virtual_open(trainer);
}

void memory_close(struct trainer *trainer)
{
	if (trainer->pool)
		driver_require(trainer,
			       trainer->api.pool_destroy(trainer->pool),
			       "cuMemPoolDestroy");
	virtual_close(trainer);
	trainer->pool = NULL;
}

static int take_pitched(const struct trainer *trainer, struct block *block)
{
	size_t pitch = 0;
	uint64_t height = block->bytes / PITCH_BYTES;
	int result = trainer->api.alloc_pitch(&block->pointer, &pitch,
					      ROW_BYTES, height, 4);

	if (!result && pitch)
		block->bytes = pitch * height;
	return result;
}

static int take_array(const struct trainer *trainer, struct block *block)
{
	const struct array_description description = {
		.width = PITCH_BYTES,
		.height = block->bytes / PITCH_BYTES,
		.format = FORMAT_UNSIGNED_INT8,
		.channels = 1,
	};

	return trainer->api.array_create(&block->object, &description);
}

/* The node of a graph, by the call of its kind or by that for all kinds. */
static int add_node(const struct trainer *trainer, struct block *block,
		    void *graph)
{
	const struct api *api = &trainer->api;
	struct any_node node = {
		.type = NODE_ALLOC,
		.alloc = { .pool = { .type = TYPE_PINNED,
				     .location =
					     device_location(trainer->device) },
			   .bytes = block->bytes }
	};
	void *added = NULL;
	int result;

	if (block->memory == MEMORY_NODE)
		result =
			api->graph_add_any(&added, graph, NULL, NULL, 0, &node);
	else
		result = api->graph_add(&added, graph, NULL, 0, &node.alloc);
	block->pointer = node.alloc.pointer;
	return result;
}

/* A graph of one node; it is launched once. */
static int take_graph(const struct trainer *trainer, struct block *block)
{
	const struct api *api = &trainer->api;
	void *graph = NULL;
	int result;

	driver_require(trainer, api->graph_create(&graph, 0), "cuGraphCreate");
	result = add_node(trainer, block, graph);
	if (!result)
		result = api->graph_instantiate(&block->object, graph, 0);
	if (!result)
		result = api->graph_launch(block->object, NULL);
	if (result && block->object)
		driver_require(trainer, api->graph_exec_destroy(block->object),
			       "cuGraphExecDestroy");
	driver_require(trainer, api->graph_destroy(graph), "cuGraphDestroy");
	return result;
}

static int take(const struct trainer *trainer, struct block *block)
{
	const struct api *api = &trainer->api;

	switch (block->memory) {
	case MEMORY_PITCHED:
		return take_pitched(trainer, block);
	case MEMORY_VIRTUAL:
		return virtual_take(trainer, block);
	case MEMORY_EXPANDABLE:
		return virtual_take_piece(trainer, block);
	case MEMORY_ASYNC:
		return api->alloc_async(&block->pointer, block->bytes, NULL);
	case MEMORY_POOL:
		return api->alloc_from_pool(&block->pointer, block->bytes,
					    trainer->pool, NULL);
	case MEMORY_ARRAY:
		return take_array(trainer, block);
	case MEMORY_GRAPH:
	case MEMORY_NODE:
		return take_graph(trainer, block);
	case MEMORY_MANAGED:
		return api->alloc_managed(&block->pointer, block->bytes,
					  ATTACH_GLOBAL);
	case MEMORY_LINEAR:
	case MEMORY_MIXED:
		break;
	}
	return api->alloc(&block->pointer, block->bytes);
}

/*
 * What the driver sets aside for the block, or no longer does: pools take it
 * in steps, for all their blocks together.
 */
static int64_t bytes_set_aside(struct trainer *trainer,
			       const struct block *block, int sign)
{
	int64_t bytes = sign * (int64_t)block->bytes;
	uint64_t *used = &trainer->pool_used[block->memory == MEMORY_POOL];
	uint64_t before = bytes_round_up(*used, POOL_STEP_BYTES);

	if (block->memory != MEMORY_POOL && block->memory != MEMORY_ASYNC)
		return bytes;
	*used += (uint64_t)bytes;
	return (int64_t)(bytes_round_up(*used, POOL_STEP_BYTES) - before);
}

static void add(uint64_t *current, uint64_t *peak, int64_t bytes)
{
	*current += (uint64_t)bytes;
	if (*current > *peak)
		*peak = *current;
}

static void note(struct trainer *trainer, const struct block *block, int sign)
{
	struct count *count = &trainer->count;
	int64_t bytes = bytes_set_aside(trainer, block, sign);
	int64_t rounded =
		sign * (int64_t)bytes_round_up((uint64_t)(sign * bytes),
					       GRANULE_BYTES);

	if (block->memory == MEMORY_MANAGED)
		add(&count->managed, &count->managed_peak, bytes);
	else
		add(&count->current, &count->peak, bytes);
	add(&count->rounded, &count->rounded_peak, rounded);
}

/* What the driver is asked for. */
static uint64_t bytes_of(enum memory memory, uint64_t bytes)
{
	switch (memory) {
	case MEMORY_EXPANDABLE:
		return bytes_round_up(bytes, PIECE_BYTES);
	case MEMORY_VIRTUAL:
	case MEMORY_GRAPH:
	case MEMORY_NODE:
		return bytes_round_up(bytes, GRANULE_BYTES);
	case MEMORY_PITCHED:
	case MEMORY_ARRAY:
		return bytes_round_up(bytes, PITCH_BYTES);
	case MEMORY_LINEAR:
	case MEMORY_ASYNC:
	case MEMORY_POOL:
	case MEMORY_MANAGED:
	case MEMORY_MIXED:
		break;
	}
	return bytes;
}

int memory_take(struct trainer *trainer, uint64_t bytes, struct block *block)
{
	enum memory memory = (enum memory)trainer->options.memory;
	int result;

	if (memory == MEMORY_MIXED)
		memory = (enum memory)(trainer->taken % MEMORY_MIXED);
	memset(block, 0, sizeof(*block));
	block->memory = memory;
	block->asked_bytes = bytes;
	block->bytes = bytes_of(memory, bytes);
	result = take(trainer, block);
	if (result == OUT_OF_MEMORY) {
		trainer->count.refused++;
		trainer->refused_bytes = bytes;
		return result;
	}
	driver_require(trainer, result, "an allocation");
	trainer->taken++;
	trainer->count.granted++;
	note(trainer, block, 1);
	return 0;
}

static int give_graph(const struct trainer *trainer, const struct block *block)
{
	const struct api *api = &trainer->api;
	int result = api->free_async(block->pointer, NULL);

	if (!result)
		result = api->synchronize(NULL);
	if (!result)
		result = api->graph_exec_destroy(block->object);
	return result ? result : api->graph_trim(trainer->device);
}

/* What a pool holds goes back at the next synchronization. */
static int give_async(const struct trainer *trainer, const struct block *block)
{
	void *pool = block->memory == MEMORY_POOL ? trainer->pool
						  : trainer->default_pool;
	int result = trainer->api.free_async(block->pointer, NULL);

	if (!result)
		result = trainer->api.synchronize(NULL);
	return result ? result : trainer->api.pool_trim(pool, 0);
}

static int give(const struct trainer *trainer, const struct block *block)
{
	switch (block->memory) {
	case MEMORY_VIRTUAL:
	case MEMORY_EXPANDABLE:
		return virtual_give(trainer, block);
	case MEMORY_ASYNC:
	case MEMORY_POOL:
		return give_async(trainer, block);
	case MEMORY_ARRAY:
		return trainer->api.array_destroy(block->object);
	case MEMORY_GRAPH:
	case MEMORY_NODE:
		return give_graph(trainer, block);
	case MEMORY_LINEAR:
	case MEMORY_PITCHED:
	case MEMORY_MANAGED:
	case MEMORY_MIXED:
		break;
	}
	return trainer->api.free(block->pointer);
}

void memory_give(struct trainer *trainer, struct block *block)
{
	driver_require(trainer, give(trainer, block), "a release");
	note(trainer, block, -1);
}

void *memory_take_host(struct trainer *trainer, uint64_t bytes)
{
	struct count *count = &trainer->count;
	void *host = NULL;

	driver_require(trainer, trainer->api.host_alloc(&host, bytes, 0),
		       "cuMemHostAlloc");
	count->host += bytes;
	if (count->host > count->host_peak)
		count->host_peak = count->host;
	return host;
}

void memory_give_host(struct trainer *trainer, void *host, uint64_t bytes)
{
	driver_require(trainer, trainer->api.host_free(host), "cuMemFreeHost");
	trainer->count.host -= bytes;
}
