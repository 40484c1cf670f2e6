/* Virtual memory of the simulated driver: ranges, and what is mapped there. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_handle.h"

#include <stdlib.h>
#include <sys/mman.h>

/* NOLINTBEGIN(readability-identifier-naming): the driver's names */

struct range {
	struct range *next;
	uint64_t address, bytes;
};

static struct range *ranges;

static bool virtual_is_granular(uint64_t bytes)
{
	return bytes && bytes % SIM_GRANULARITY == 0;
}

/* Addresses of ranges are the driver's own: behind them is no memory. */
static void *virtual_address_of(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

/* On a boundary: more is asked for, and what is too much given back. */
static uint64_t virtual_reserve(uint64_t bytes, uint64_t alignment)
{
	uint64_t extent = bytes + alignment;
	uint64_t start, first;
	void *memory;

	if (extent < bytes)
		return 0;
	memory = mmap(NULL, extent, PROT_NONE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return 0;
	start = (uintptr_t)memory;
	first = sim_round_up(start, alignment);
	if (first > start)
		(void)munmap(memory, first - start);
	(void)munmap(virtual_address_of(first + bytes),
		     start + extent - first - bytes);
	return first;
}

EXPORT int cuMemAddressReserve(uint64_t *pointer, size_t bytes,
			       size_t alignment, uint64_t wish, uint64_t flags)
{
	struct range *range;
	int result = sim_enter();

	(void)wish; /* it may be passed over */
	if (result)
		return result;
	if (alignment < SIM_GRANULARITY)
		alignment = SIM_GRANULARITY;
	if (!pointer || !virtual_is_granular(bytes) || flags ||
	    (alignment & (alignment - 1)))
		return sim_leave(INVALID_VALUE);
	range = calloc(1, sizeof(*range));
	if (!range)
		return sim_leave(OUT_OF_MEMORY);
	range->address = virtual_reserve(bytes, alignment);
	range->bytes = bytes;
	if (!range->address) {
		free(range);
		return sim_leave(OUT_OF_MEMORY);
	}
	range->next = ranges;
	ranges = range;
	*pointer = range->address;
	return sim_leave(OK);
}

static bool holds(const struct range *range, uint64_t pointer, uint64_t bytes)
{
	return pointer >= range->address && bytes <= range->bytes &&
	       pointer - range->address <= range->bytes - bytes;
}

static bool has_mapping(uint64_t address, uint64_t bytes)
{
	for (uint64_t at = 0; at < bytes; at += SIM_GRANULARITY)
		if (sim_block_find(address + at))
			return true;
	return false;
}

EXPORT int cuMemAddressFree(uint64_t pointer, size_t bytes)
{
	struct range **link = &ranges;
	struct range *range;
	int result = sim_enter();

	if (result)
		return result;
	while (*link && (*link)->address != pointer)
		link = &(*link)->next;
	range = *link;
	if (!range || range->bytes != bytes || has_mapping(pointer, bytes))
		return sim_leave(INVALID_VALUE);
	*link = range->next;
	(void)munmap(virtual_address_of(pointer), bytes);
	free(range);
	return sim_leave(OK);
}

EXPORT int cuMemMap(uint64_t pointer, size_t bytes, size_t offset,
		    uint64_t number, uint64_t flags)
{
	const struct range *range = NULL;
	struct sim_handle *handle;
	struct sim_block *block;
	int result = sim_enter();

	if (result)
		return result;
	handle = sim_handle_find(number);
	for (range = ranges; range && !holds(range, pointer, bytes);)
		range = range->next;
	if (!handle || !range || !virtual_is_granular(bytes) || offset ||
	    flags || bytes > handle->bytes || pointer % SIM_GRANULARITY)
		return sim_leave(INVALID_VALUE);
	block = sim_block_place(SIM_MAPPING, pointer, bytes, NULL);
	if (!block) /* something is mapped there */
		return sim_leave(INVALID_VALUE);
	block->device = handle->device;
	block->owner = handle;
	handle->mappings++;
	return sim_leave(OK);
}

/* Whole mappings, one after the other, and nothing else. */
static bool is_mapped(uint64_t pointer, uint64_t bytes)
{
	uint64_t at = pointer;

	while (at - pointer < bytes) {
		const struct sim_block *block = sim_block_at(at, SIM_MAPPING);

		if (!block || block->bytes > bytes - (at - pointer))
			return false;
		at += block->bytes;
	}
	return bytes != 0;
}

EXPORT int cuMemUnmap(uint64_t pointer, size_t bytes)
{
	uint64_t at = pointer;
	int result = sim_enter();

	if (result)
		return result;
	if (!is_mapped(pointer, bytes))
		return sim_leave(INVALID_VALUE);
	while (at - pointer < bytes) {
		struct sim_block *block = sim_block_at(at, SIM_MAPPING);
		struct sim_handle *handle = block->owner;

		at += block->bytes;
		sim_block_free(block);
		handle->mappings--;
		sim_handle_free_unused(handle);
	}
	return sim_leave(OK);
}

/* No byte of it is without memory. */
static bool has_memory(uint64_t pointer, uint64_t bytes)
{
	uint64_t at = pointer;

	while (at - pointer < bytes) {
		const struct sim_block *block = sim_block_find(at);

		if (!block || block->kind != SIM_MAPPING)
			return false;
		at = block->address + block->bytes;
	}
	return bytes != 0;
}

EXPORT int cuMemSetAccess(uint64_t pointer, size_t bytes, const void *accesses,
			  size_t count)
{
	int result = sim_enter();

	if (result)
		return result;
	if (!accesses || !count || !has_memory(pointer, bytes))
		return sim_leave(INVALID_VALUE);
	return sim_leave(OK);
}

EXPORT int cuMemGetAccess(uint64_t *flags, const struct sim_location *location,
			  uint64_t pointer)
{
	int result = sim_enter();

	if (result)
		return result;
	if (!flags || !location || !has_memory(pointer, 1))
		return sim_leave(INVALID_VALUE);
	*flags = 3; /* reading and writing */
	return sim_leave(OK);
}

const struct sim_export sim_virtual_exports[] = {
	SIM_SAME(cuMemAddressReserve, 10020),
	SIM_SAME(cuMemAddressFree, 10020),
	SIM_SAME(cuMemMap, 10020),
	SIM_SAME(cuMemUnmap, 10020),
	SIM_SAME(cuMemSetAccess, 10020),
	SIM_SAME(cuMemGetAccess, 10020),
	SIM_END,
};

/* NOLINTEND(readability-identifier-naming) */
