/* Memory apart from its addresses: cuMemCreate, cuMemMap. */
/* SPDX-License-Identifier: MIT */
#include "sim_trainer.h"
#include "sim_trainer_layout.h"

#include <stdlib.h>
#include <string.h>

#define SEGMENT_PIECES 8192 /* 160 GiB of addresses */

void virtual_open(struct trainer *trainer)
{
	trainer->segment_used = calloc(SEGMENT_PIECES, 1);
	if (!trainer->segment_used)
		abort();
	driver_require(trainer,
		       trainer->api.reserve(&trainer->segment,
					    SEGMENT_PIECES * PIECE_BYTES, 0, 0,
					    0),
		       "cuMemAddressReserve");
}

void virtual_close(struct trainer *trainer)
{
	if (trainer->segment)
		driver_require(
			trainer,
			trainer->api.unreserve(trainer->segment,
					       SEGMENT_PIECES * PIECE_BYTES),
			"cuMemAddressFree");
	free(trainer->segment_used);
	trainer->segment_used = NULL;
	trainer->segment = 0;
}

/* Physical memory at address; the handle is given up as soon as it is mapped,
 * as NCCL does, or kept with the mapping, as PyTorch does. */
static int map_at(const struct trainer *trainer, struct block *block)
{
	const struct api *api = &trainer->api;
	const struct allocation_prop prop = { .type = TYPE_PINNED,
					      .location = device_location(
						      trainer->device) };
	const struct access_description access = {
		device_location(trainer->device), ACCESS_READ_WRITE
	};
	int result = api->create(&block->handle, block->bytes, &prop, 0);

	if (result)
		return result;
	result = api->map(block->pointer, block->bytes, 0, block->handle, 0);
	if (!result) {
		result = api->set_access(block->pointer, block->bytes, &access,
					 1);
		if (result)
			driver_require(trainer,
				       api->unmap(block->pointer, block->bytes),
				       "cuMemUnmap");
	}
	if (result || block->memory == MEMORY_VIRTUAL)
		driver_require(trainer, api->drop(block->handle),
			       "cuMemRelease");
	return result;
}

int virtual_take(const struct trainer *trainer, struct block *block)
{
	int result;

	driver_require(
		trainer,
		trainer->api.reserve(&block->pointer, block->bytes, 0, 0, 0),
		"cuMemAddressReserve");
	result = map_at(trainer, block);
	if (result)
		driver_require(
			trainer,
			trainer->api.unreserve(block->pointer, block->bytes),
			"cuMemAddressFree");
	return result;
}

/* The first free range of so many pieces; SEGMENT_PIECES: none. */
static size_t find_range(const struct trainer *trainer, size_t count)
{
	size_t length = 0;

	for (size_t piece = 0; piece < SEGMENT_PIECES; piece++) {
		length = trainer->segment_used[piece] ? 0 : length + 1;
		if (length == count)
			return piece + 1 - count;
	}
	return SEGMENT_PIECES;
}

int virtual_take_piece(const struct trainer *trainer, struct block *block)
{
	size_t count = block->bytes / PIECE_BYTES;
	size_t first = find_range(trainer, count);
	int result;

	if (first == SEGMENT_PIECES)
		return OUT_OF_MEMORY;
	block->pointer = trainer->segment + first * PIECE_BYTES;
	result = map_at(trainer, block);
	if (!result)
		memset(trainer->segment_used + first, 1, count);
	return result;
}

int virtual_give(const struct trainer *trainer, const struct block *block)
{
	const struct api *api = &trainer->api;
	int result = api->unmap(block->pointer, block->bytes);

	if (result)
		return result;
	if (block->memory == MEMORY_VIRTUAL)
		return api->unreserve(block->pointer, block->bytes);
	memset(trainer->segment_used +
		       (block->pointer - trainer->segment) / PIECE_BYTES,
	       0, block->bytes / PIECE_BYTES);
	return api->drop(block->handle);
}
