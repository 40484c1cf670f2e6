/* What this process has in the simulated driver: handles and addresses. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_objects.h"

#include <search.h>
#include <stdlib.h>
#include <sys/mman.h>

static void *objects; /* trees of <search.h> */
static void *blocks;

static int compare_objects(const void *a, const void *b)
{
	uintptr_t one = (uintptr_t)a;
	uintptr_t other = (uintptr_t)b;

	return (one > other) - (one < other);
}

/* Equal is what overlaps: no two in the tree do. */
static int compare_blocks(const void *a, const void *b)
{
	const struct sim_block *one = a;
	const struct sim_block *other = b;

	if (one->address + one->bytes <= other->address)
		return -1;
	return one->address >= other->address + other->bytes;
}

void *sim_object_make(enum sim_object_kind kind, size_t size,
		      struct sim_context *context)
{
	struct sim_object *object = calloc(1, size);

	if (!object)
		return NULL;
	object->kind = kind;
	if (!tsearch(object, &objects, compare_objects)) {
		free(object);
		return NULL;
	}
	if (context) {
		object->next = context->objects;
		object->link = &context->objects;
		if (object->next)
			object->next->link = &object->next;
		context->objects = object;
	}
	return object;
}

void *sim_object_find(const void *pointer, enum sim_object_kind kind)
{
	struct sim_object **found = tfind(pointer, &objects, compare_objects);

	return found && (*found)->kind == kind ? *found : NULL;
}

void sim_object_free(void *pointer)
{
	struct sim_object *object = pointer;

	(void)tdelete(object, &objects, compare_objects);
	if (object->link)
		*object->link = object->next;
	if (object->next)
		object->next->link = object->link;
	free(object);
}

struct sim_block *sim_block_place(enum sim_block_kind kind, uint64_t address,
				  uint64_t bytes, struct sim_context *context)
{
	struct sim_block *block = calloc(1, sizeof(*block));
	struct sim_block **found;

	if (!block)
		return NULL;
	block->kind = kind;
	block->address = address;
	block->bytes = block->asked_bytes = bytes;
	block->context = context;
	found = tsearch(block, &blocks, compare_blocks);
	if (!found || *found != block) {
		free(block);
		return NULL;
	}
	if (context) {
		block->device = context->device;
		block->next = context->blocks;
		block->link = &context->blocks;
		if (block->next)
			block->next->link = &block->next;
		context->blocks = block;
	}
	return block;
}

/* What a program may write to has memory behind it. */
static bool is_real(enum sim_block_kind kind)
{
	return kind == SIM_HOST || kind == SIM_MANAGED;
}

static uint64_t take_real(uint64_t bytes)
{
	void *address =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return address == MAP_FAILED ? 0 : (uintptr_t)address;
}

static void give_address(enum sim_block_kind kind, uint64_t address,
			 uint64_t bytes)
{
	if (is_real(kind))
		(void)munmap((void *)(uintptr_t)address, bytes);
	else
		sim_arena_give(address);
}

struct sim_block *sim_block_make(enum sim_block_kind kind, uint64_t bytes,
				 struct sim_context *context)
{
	uint64_t address = is_real(kind) ? take_real(bytes)
					 : sim_arena_take(SIM_HIGH, bytes);
	struct sim_block *block;

	if (!address)
		return NULL;
	block = sim_block_place(kind, address, bytes, context);
	if (!block)
		give_address(kind, address, bytes);
	return block;
}

struct sim_block *sim_block_make_low(uint64_t bytes,
				     struct sim_context *context)
{
	uint64_t address = sim_arena_take(SIM_LOW, bytes);
	struct sim_block *block;

	if (!address)
		return NULL;
	block = sim_block_place(SIM_LINEAR, address, bytes, context);
	if (!block)
		sim_arena_give(address);
	return block;
}

struct sim_block *sim_block_find(uint64_t address)
{
	const struct sim_block place = { .address = address, .bytes = 1 };
	struct sim_block **found = tfind(&place, &blocks, compare_blocks);

	return found ? *found : NULL;
}

struct sim_block *sim_block_at(uint64_t address, unsigned int kinds)
{
	struct sim_block *block = sim_block_find(address);

	return block && block->address == address && (block->kind & kinds)
		       ? block
		       : NULL;
}

void sim_block_free(struct sim_block *block)
{
	(void)tdelete(block, &blocks, compare_blocks);
	if (block->link)
		*block->link = block->next;
	if (block->next)
		block->next->link = block->link;
	if (block->charged_bytes)
		sim_discharge(block->device, block->charged_bytes);
	if (block->kind != SIM_REGISTERED && block->kind != SIM_MAPPING)
		give_address(block->kind, block->address, block->bytes);
	free(block);
}
