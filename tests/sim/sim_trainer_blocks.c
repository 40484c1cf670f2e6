/* An allocator above the driver, with or without a cache, as PyTorch's. */
/* SPDX-License-Identifier: MIT */
#include "sim_trainer.h"

#include <stdio.h>
#include <stdlib.h>

static struct block *add_block(struct trainer *trainer)
{
	if (trainer->block_count == trainer->block_room) {
		trainer->block_room = trainer->block_room * 2 + 64;
		trainer->blocks =
			realloc(trainer->blocks,
				trainer->block_room * sizeof(*trainer->blocks));
		if (!trainer->blocks)
			abort();
	}
	return &trainer->blocks[trainer->block_count];
}

/* Of the piece that was taken at the start: the driver is not asked again. */
static int divide(struct trainer *trainer, uint64_t bytes, struct block *block)
{
	uint64_t used = 0;

	for (size_t i = 0; i < trainer->block_count; i++)
		used += trainer->blocks[i].bytes;
	*block = (struct block){ .bytes = bytes, .asked_bytes = bytes };
	if (bytes <= trainer->preallocated.bytes - used)
		return 0;
	trainer->refused_bytes = bytes;
	return OUT_OF_MEMORY;
}

static int take_new(struct trainer *trainer, uint64_t bytes,
		    struct block *block)
{
	if (trainer->preallocated.bytes)
		return divide(trainer, bytes, block);
	return memory_take(trainer, bytes, block);
}

static void drop_block(struct trainer *trainer, size_t index)
{
	if (!trainer->preallocated.bytes)
		memory_give(trainer, &trainer->blocks[index]);
	trainer->blocks[index] = trainer->blocks[--trainer->block_count];
}

static void drop_all(struct trainer *trainer, enum block_use use)
{
	for (size_t i = trainer->block_count; i-- > 0;)
		if (trainer->blocks[i].use == use)
			drop_block(trainer, i);
}

void blocks_empty_cache(struct trainer *trainer)
{
	train_pause(trainer, trainer->options.empty_ms * 1000);
	drop_all(trainer, BLOCK_CACHED);
}

static bool take_cached(struct trainer *trainer, uint64_t bytes,
			enum block_use use)
{
	for (size_t i = 0; i < trainer->block_count; i++) {
		struct block *block = &trainer->blocks[i];

		if (block->use == BLOCK_CACHED && block->asked_bytes == bytes) {
			block->use = use;
			return true;
		}
	}
	return false;
}

/* Once more after the cache was given back, as PyTorch does. */
static int take_piece(struct trainer *trainer, uint64_t bytes,
		      enum block_use use)
{
	struct block *block;
	int result;

	if (take_cached(trainer, bytes, use))
		return 0;
	block = add_block(trainer);
	result = take_new(trainer, bytes, block);
	if (result == OUT_OF_MEMORY &&
	    trainer->options.retry == RETRY_PYTORCH) {
		blocks_empty_cache(trainer);
		block = add_block(trainer);
		result = take_new(trainer, bytes, block);
	}
	if (result)
		return result;
	block->use = use;
	trainer->block_count++;
	return 0;
}

int blocks_take(struct trainer *trainer, uint64_t bytes, enum block_use use)
{
	while (bytes) {
		uint64_t piece = bytes < PIECE_BYTES ? bytes : PIECE_BYTES;
		int result = take_piece(trainer, piece, use);

		if (result)
			return result;
		bytes -= piece;
	}
	return 0;
}

void blocks_give(struct trainer *trainer, enum block_use use)
{
	if (trainer->options.allocator == ALLOCATOR_PLAIN) {
		drop_all(trainer, use);
		return;
	}
	for (size_t i = 0; i < trainer->block_count; i++)
		if (trainer->blocks[i].use == use)
			trainer->blocks[i].use = BLOCK_CACHED;
}

static double gib(uint64_t bytes)
{
	return (double)bytes / (double)(1024 * MIB);
}

void blocks_raise(struct trainer *trainer, bool is_silent)
{
	uint64_t bytes = trainer->refused_bytes;
	size_t free_bytes = 0;
	size_t total = 0;
	uint64_t used = 0;
	uint64_t cached = 0;

	for (size_t i = 0; i < trainer->block_count; i++) {
		used += trainer->blocks[i].bytes;
		if (trainer->blocks[i].use == BLOCK_CACHED)
			cached += trainer->blocks[i].bytes;
	}
	if (trainer->preallocated.bytes && !is_silent)
		(void)fprintf(stderr,
			      "jaxlib.xla_extension.XlaRuntimeError: "
			      "RESOURCE_EXHAUSTED: Out of memory while trying "
			      "to allocate %llu bytes.\n",
			      (unsigned long long)bytes);
	if (trainer->preallocated.bytes)
		return;
	(void)trainer->api.get_info(&free_bytes, &total);
	if (is_silent)
		return;
	(void)fprintf(
		stderr,
		"Traceback (most recent call last):\n"
		"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to "
		"allocate %.2f MiB. GPU %d has a total capacity of %.2f GiB of "
		"which %.2f GiB is free. Including non-PyTorch memory, this "
		"process has %.2f GiB memory in use. Of the allocated memory "
		"%.2f GiB is allocated by PyTorch, and %.2f GiB is reserved "
		"by PyTorch but unallocated.\n",
		(double)bytes / (double)MIB, trainer->device, gib(total),
		gib(free_bytes), gib(used), gib(used - cached), gib(cached));
}
