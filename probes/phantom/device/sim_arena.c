/* Addresses of the simulated devices: reserved once, without memory. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_objects.h"

#include <sys/mman.h>

/* Room for every byte of the devices several times over. */
#define HIGH_BYTES (UINT64_C(1) << 42)
#define HIGH_BYTES_MIN (UINT64_C(1) << 32)
#define LOW_ADDRESS (UINT64_C(256) << 20)
#define LOW_BYTES ((UINT64_C(1) << 32) - LOW_ADDRESS)

struct arena {
	uint64_t address, granules;
	/* The length of what begins at a granule; 0 in all others. */
	uint32_t *lengths;
	/* The end of what was taken last: never within a range. */
	uint64_t cursor;
};

static struct arena arenas[2];

static void *arena_reserve(uint64_t bytes, int protection)
{
	void *address =
		mmap(NULL, bytes, protection,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return address == MAP_FAILED ? NULL : address;
}

static bool open_arena(struct arena *arena, enum sim_arena which)
{
	uint64_t bytes = which == SIM_LOW ? LOW_BYTES : HIGH_BYTES;
	uint64_t address = LOW_ADDRESS;

	if (arena->lengths)
		return true;
	if (which == SIM_HIGH) {
		void *start = NULL;

		/* Under a limit of address space: less. */
		while (bytes >= HIGH_BYTES_MIN &&
		       !(start = arena_reserve(bytes, PROT_NONE)))
			bytes /= 2;
		if (!start)
			return false;
		address = sim_round_up((uintptr_t)start, SIM_GRANULARITY);
		bytes -= SIM_GRANULARITY;
	}
	arena->lengths =
		arena_reserve(bytes / SIM_GRANULARITY * sizeof(uint32_t),
			      PROT_READ | PROT_WRITE);
	arena->address = address;
	arena->granules = bytes / SIM_GRANULARITY;
	return arena->lengths != NULL;
}

/* The first of so many free granules in a row, or the number of all. */
static uint64_t find_run(const struct arena *arena, uint64_t from,
			 uint64_t length)
{
	uint64_t run = 0;

	for (uint64_t i = from; i < arena->granules;) {
		if (arena->lengths[i]) {
			i += arena->lengths[i];
			run = 0;
			continue;
		}
		i++;
		if (++run == length)
			return i - run;
	}
	return arena->granules;
}

uint64_t sim_arena_take(enum sim_arena which, uint64_t bytes)
{
	struct arena *arena = &arenas[which];
	uint64_t length =
		sim_round_up(bytes, SIM_GRANULARITY) / SIM_GRANULARITY;
	uint64_t first;

	if (!length || length > UINT32_MAX || !open_arena(arena, which))
		return 0;
	first = find_run(arena, arena->cursor, length);
	if (first == arena->granules)
		first = find_run(arena, 0, length);
	if (first == arena->granules)
		return 0;
	arena->lengths[first] = (uint32_t)length;
	arena->cursor = first + length;
	return arena->address + first * SIM_GRANULARITY;
}

void sim_arena_give(uint64_t address)
{
	for (int i = 0; i < 2; i++) {
		struct arena *arena = &arenas[i];
		uint64_t first = (address - arena->address) / SIM_GRANULARITY;

		if (address >= arena->address && first < arena->granules)
			arena->lengths[first] = 0;
	}
}
