/* What the simulated driver knows of an address. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_objects.h"

#include <string.h>

/* NOLINTBEGIN(readability-identifier-naming): the driver's names */

enum pointer_attribute {
	CONTEXT = 1,
	MEMORY_TYPE = 2,
	DEVICE_POINTER = 3,
	HOST_POINTER = 4,
	BUFFER_ID = 7,
	IS_MANAGED = 8,
	DEVICE_ORDINAL = 9,
	RANGE_START = 11,
	RANGE_SIZE = 12,
	MAPPED = 13,
	POOL = 17,
};

static bool is_host(const struct sim_block *block)
{
	return block->kind == SIM_HOST || block->kind == SIM_REGISTERED;
}

/* Its value and how wide it is; 0: no such attribute. */
static size_t pointer_value_of(const struct sim_block *block, int attribute,
			       uint64_t address, uint64_t *value)
{
	switch (attribute) {
	case CONTEXT:
		*value = (uintptr_t)block->context;
		return sizeof(void *);
	case MEMORY_TYPE: /* host, device */
		*value = is_host(block) ? 1 : 2;
		return sizeof(unsigned int);
	case DEVICE_POINTER:
		*value = address;
		return sizeof(uint64_t);
	case HOST_POINTER:
		*value = address;
		return is_host(block) || block->kind == SIM_MANAGED
			       ? sizeof(void *)
			       : 0;
	case BUFFER_ID:
	case RANGE_START:
		*value = block->address;
		return sizeof(uint64_t);
	case IS_MANAGED:
		*value = block->kind == SIM_MANAGED;
		return sizeof(unsigned int);
	case DEVICE_ORDINAL:
		*value = (uint32_t)sim_ordinal(block->device);
		return sizeof(int);
	case RANGE_SIZE:
		*value = block->asked_bytes;
		return sizeof(size_t);
	case MAPPED:
		*value = 1;
		return sizeof(bool);
	case POOL:
		*value =
			block->kind == SIM_POOLED ? (uintptr_t)block->owner : 0;
		return sizeof(void *);
	default:
		return 0;
	}
}

EXPORT int cuPointerGetAttribute(void *data, int attribute, uint64_t pointer)
{
	const struct sim_block *block;
	uint64_t value = 0;
	size_t width;
	int result = sim_enter();

	if (result)
		return result;
	block = sim_block_find(pointer);
	width = block ? pointer_value_of(block, attribute, pointer, &value) : 0;
	if (!data || !width)
		return sim_leave(INVALID_VALUE);
	memcpy(data, &value, width); /* little-endian */
	return sim_leave(OK);
}

/* Of an address it does not know all is 0. */
EXPORT int cuPointerGetAttributes(unsigned int count, const int *attributes,
				  void **data, uint64_t pointer)
{
	static const struct sim_block unknown = { .kind = SIM_HOST };
	const struct sim_block *block;
	int result = sim_enter();

	if (result)
		return result;
	if (!count || !attributes || !data)
		return sim_leave(INVALID_VALUE);
	block = sim_block_find(pointer);
	for (unsigned int i = 0; i < count; i++) {
		uint64_t value = 0;
		size_t width = pointer_value_of(block ? block : &unknown,
						attributes[i], pointer, &value);

		if (!block)
			value = 0;
		if (data[i])
			memcpy(data[i], &value, width);
	}
	return sim_leave(OK);
}

EXPORT int cuMemGetAddressRange_v2(uint64_t *base, size_t *bytes,
				   uint64_t pointer)
{
	const struct sim_block *block;
	int result = sim_enter();

	if (result)
		return result;
	block = sim_block_find(pointer);
	if (!block || block->kind == SIM_REGISTERED)
		return sim_leave(NOT_FOUND);
	if (base)
		*base = block->address;
	if (bytes)
		*bytes = block->asked_bytes;
	return sim_leave(OK);
}

EXPORT int cuMemGetAddressRange(unsigned int *base, unsigned int *bytes,
				unsigned int pointer)
{
	uint64_t address = 0;
	size_t size = 0;
	int result = cuMemGetAddressRange_v2(&address, &size, pointer);

	if (result)
		return result;
	if (base)
		*base = (unsigned int)address;
	if (bytes)
		*bytes = (unsigned int)size;
	return OK;
}

const struct sim_export sim_pointer_exports[] = {
	SIM_SAME(cuPointerGetAttribute, 4000),
	SIM_SAME(cuPointerGetAttributes, 7000),
	SIM_SAME(cuMemGetAddressRange, 2000),
	SIM_ROW(cuMemGetAddressRange_v2, "cuMemGetAddressRange", 3020),
	SIM_END,
};

/* NOLINTEND(readability-identifier-naming) */
