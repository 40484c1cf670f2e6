/* What this process has in the simulated driver: handles and addresses. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PHANTOM_DEVICE_SIM_OBJECTS_H
#define AUTOFIT_PROBES_PHANTOM_DEVICE_SIM_OBJECTS_H

#include "probes/phantom/device/sim_cuda.h"

/* All of it for who entered. */

enum sim_object_kind {
	SIM_CONTEXT,
	SIM_STREAM,
	SIM_EVENT,
	SIM_MODULE,
	SIM_FUNCTION,
	SIM_ARRAY,
	SIM_POOL,
	SIM_HANDLE,
	SIM_GRAPH,
	SIM_NODE,
	SIM_EXEC,
	SIM_EXTERNAL,
};

/* Begins whatever a program holds by a pointer. */
struct sim_object {
	enum sim_object_kind kind;
	struct sim_object *next, **link; /* of its context */
};

struct sim_context {
	struct sim_object object;
	uint32_t device; /* its number in the state */
	bool is_primary, is_alive;
	uint32_t retained; /* a primary one: how often */
	unsigned int flags;
	uint64_t charged_bytes; /* itself and its code */
	uint64_t launches;
	uint64_t module_bytes, grow_bytes, grow_launch; /* sim_state.h */
	size_t limits[8];
	struct sim_object *objects;
	struct sim_block *blocks;
};

/* Zeroed; it goes with the context (NULL: with the process). NULL: no room. */
void *sim_object_make(enum sim_object_kind kind, size_t size,
		      struct sim_context *context);
/* The pointer, if it is one of that kind; else NULL. */
void *sim_object_find(const void *pointer, enum sim_object_kind kind);
void sim_object_free(void *pointer);

enum sim_block_kind {
	SIM_LINEAR = 1,
	SIM_MANAGED = 2,
	SIM_POOLED = 4,
	SIM_GRAPH_MEMORY = 8,
	SIM_ARRAY_MEMORY = 16,
	SIM_HOST = 32,
	SIM_REGISTERED = 64,
	SIM_MAPPING = 128,
	SIM_IMPORTED = 256,
};

/* A range of addresses with something behind it. */
struct sim_block {
	struct sim_block *next, **link; /* of its context */
	enum sim_block_kind kind;
	uint64_t address;
	uint64_t bytes;         /* of the range */
	uint64_t asked_bytes;   /* what the program asked for */
	uint64_t charged_bytes; /* given back when it is freed */
	uint32_t device;
	struct sim_context *context; /* NULL: it goes with the process */
	void *owner; /* a pool, a handle, a graph's allocation */
};

/*
 * Made at an address of the driver's choice (behind it is no memory; host and
 * managed ones have it) or at the caller's. NULL: no room, or not disjoint.
 */
struct sim_block *sim_block_make(enum sim_block_kind kind, uint64_t bytes,
				 struct sim_context *context);
struct sim_block *sim_block_make_low(uint64_t bytes,
				     struct sim_context *context); /* 32 bits */
struct sim_block *sim_block_place(enum sim_block_kind kind, uint64_t address,
				  uint64_t bytes, struct sim_context *context);

/* The block an address lies in; the one of these kinds that begins there. */
struct sim_block *sim_block_find(uint64_t address);
struct sim_block *sim_block_at(uint64_t address, unsigned int kinds);
/* Gives back what it was charged. */
void sim_block_free(struct sim_block *block);

/* Addresses without memory behind them: whole granules. 0: no room. */
enum sim_arena {
	SIM_HIGH,
	SIM_LOW, /* below 4 GiB; never mapped, as nobody reads there */
};
uint64_t sim_arena_take(enum sim_arena which, uint64_t bytes);
void sim_arena_give(uint64_t address); /* of others: nothing */

#endif
