/* Memory pools of the simulated driver: made, asked, trimmed. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_pool.h"

#include <string.h>

/* NOLINTBEGIN(readability-identifier-naming): the driver's names */

enum pools_attribute {
	REUSE_FIRST = 1,
	REUSE_LAST = 3,
	RELEASE_THRESHOLD = 4,
	RESERVED_CURRENT = 5,
	RESERVED_HIGH = 6,
	USED_CURRENT = 7,
	USED_HIGH = 8,
};

enum pools_location_type { LOCATION_DEVICE = 1 };
enum pools_allocation_type { PINNED = 1, MANAGED = 2 };

struct pools_location {
	int type, id;
};

struct properties {
	int allocation_type, handle_types;
	struct pools_location location;
	void *security;
	size_t max_bytes;
	unsigned short usage;
	unsigned char reserved[54];
};

/* The pool with the tables held, if that is OK. */
static int enter_pool(const void *handle, struct sim_pool **pool)
{
	int result = sim_enter();

	if (result)
		return result;
	*pool = sim_object_find(handle, SIM_POOL);
	return *pool && !(*pool)->is_dead ? OK : sim_leave(INVALID_VALUE);
}

EXPORT int cuMemPoolCreate(void **handle, const struct properties *properties)
{
	uint32_t device = 0;
	struct sim_pool *pool;
	int result = sim_check();
	bool is_device;

	if (result)
		return result;
	if (!handle || !properties ||
	    (properties->allocation_type != PINNED &&
	     properties->allocation_type != MANAGED))
		return INVALID_VALUE;
	is_device = properties->location.type == LOCATION_DEVICE;
	if (is_device)
		result = sim_device(properties->location.id, &device);
	if (result)
		return result;
	(void)sim_enter();
	pool = sim_pool_make(device, is_device && properties->allocation_type ==
							  PINNED);
	if (!pool)
		return sim_leave(OUT_OF_MEMORY);
	pool->max_bytes = properties->max_bytes;
	*handle = pool;
	return sim_leave(OK);
}

EXPORT int cuMemPoolDestroy(const void *handle)
{
	struct sim_pool *pool = NULL;
	int result = enter_pool(handle, &pool);

	if (result)
		return result;
	if (pool == sim_pool_default(pool->device))
		return sim_leave(INVALID_VALUE);
	sim_pool_destroy(pool);
	return sim_leave(OK);
}

EXPORT int cuMemPoolTrimTo(const void *handle, size_t keep_bytes)
{
	struct sim_pool *pool = NULL;
	int result = enter_pool(handle, &pool);

	if (result)
		return result;
	sim_pool_trim(pool, keep_bytes);
	return sim_leave(OK);
}

/* NULL: not one of the 64-bit ones. */
static uint64_t *place_of(struct sim_pool *pool, int attribute)
{
	switch (attribute) {
	case RELEASE_THRESHOLD:
		return &pool->threshold;
	case RESERVED_CURRENT:
		return &pool->reserved;
	case RESERVED_HIGH:
		return &pool->reserved_high;
	case USED_CURRENT:
		return &pool->used;
	case USED_HIGH:
		return &pool->used_high;
	default:
		return NULL;
	}
}

EXPORT int cuMemPoolGetAttribute(const void *handle, int attribute, void *value)
{
	struct sim_pool *pool = NULL;
	const uint64_t *place;
	int result = enter_pool(handle, &pool);

	if (result)
		return result;
	place = place_of(pool, attribute);
	if (value && place)
		memcpy(value, place, sizeof(*place));
	else if (value && attribute >= REUSE_FIRST && attribute <= REUSE_LAST)
		memcpy(value, &pool->reuse[attribute - REUSE_FIRST],
		       sizeof(*pool->reuse));
	else
		result = INVALID_VALUE;
	return sim_leave(result);
}

EXPORT int cuMemPoolSetAttribute(const void *handle, int attribute,
				 const void *value)
{
	struct sim_pool *pool = NULL;
	int result = enter_pool(handle, &pool);
	uint64_t wide = 0;

	if (result)
		return result;
	if (!value)
		return sim_leave(INVALID_VALUE);
	if (attribute >= REUSE_FIRST && attribute <= REUSE_LAST) {
		memcpy(&pool->reuse[attribute - REUSE_FIRST], value,
		       sizeof(*pool->reuse));
		return sim_leave(OK);
	}
	if (place_of(pool, attribute))
		memcpy(&wide, value, sizeof(wide));
	/* A high mark is only ever set to 0, which begins it anew. */
	if (attribute == RELEASE_THRESHOLD)
		pool->threshold = wide;
	else if (attribute == RESERVED_HIGH && !wide)
		pool->reserved_high = pool->reserved;
	else if (attribute == USED_HIGH && !wide)
		pool->used_high = pool->used;
	else
		result = INVALID_VALUE;
	return sim_leave(result);
}

EXPORT int cuMemPoolSetAccess(const void *handle, const void *accesses,
			      size_t count)
{
	struct sim_pool *pool = NULL;
	int result = enter_pool(handle, &pool);

	if (result)
		return result;
	return sim_leave(count && !accesses ? INVALID_VALUE : OK);
}

EXPORT int cuMemPoolGetAccess(int *flags, const void *handle,
			      const struct pools_location *location)
{
	struct sim_pool *pool = NULL;
	int result = enter_pool(handle, &pool);

	if (result)
		return result;
	if (!flags || !location)
		return sim_leave(INVALID_VALUE);
	*flags = 3; /* reading and writing */
	return sim_leave(OK);
}

typedef struct sim_pool *find_pool(uint32_t device);

static int give_pool(find_pool *find, void **handle, int ordinal)
{
	uint32_t device = 0;
	struct sim_pool *pool;
	int result = sim_device(ordinal, &device);

	if (result)
		return result;
	if (!handle)
		return INVALID_VALUE;
	(void)sim_enter();
	pool = find(device);
	*handle = pool;
	return sim_leave(pool ? OK : OUT_OF_MEMORY);
}

EXPORT int cuDeviceGetDefaultMemPool(void **handle, int device)
{
	return give_pool(sim_pool_default, handle, device);
}

EXPORT int cuDeviceGetMemPool(void **handle, int device)
{
	return give_pool(sim_pool_current, handle, device);
}

EXPORT int cuDeviceSetMemPool(int ordinal, const void *handle)
{
	struct sim_pool *pool = NULL;
	uint32_t device = 0;
	int result = sim_device(ordinal, &device);

	if (!result)
		result = enter_pool(handle, &pool);
	if (result)
		return result;
	if (pool->device != device)
		return sim_leave(INVALID_VALUE);
	sim_pool_set_current(device, pool);
	return sim_leave(OK);
}

/* Of devices only; other places have no pool here. */
static int check_location(const struct pools_location *location, int type)
{
	if (sim_check())
		return NOT_INITIALIZED;
	if (!location || location->type != LOCATION_DEVICE)
		return INVALID_VALUE;
	return type == PINNED ? OK : NOT_SUPPORTED;
}

EXPORT int cuMemGetDefaultMemPool(void **handle,
				  const struct pools_location *location,
				  int type)
{
	int result = check_location(location, type);

	return result ? result
		      : cuDeviceGetDefaultMemPool(handle, location->id);
}

EXPORT int cuMemGetMemPool(void **handle, const struct pools_location *location,
			   int type)
{
	int result = check_location(location, type);

	return result ? result : cuDeviceGetMemPool(handle, location->id);
}

EXPORT int cuMemSetMemPool(const struct pools_location *location, int type,
			   const void *handle)
{
	int result = check_location(location, type);

	return result ? result : cuDeviceSetMemPool(location->id, handle);
}

const struct sim_export sim_pool_exports[] = {
	SIM_SAME(cuMemPoolCreate, 11020),
	SIM_SAME(cuMemPoolDestroy, 11020),
	SIM_SAME(cuMemPoolTrimTo, 11020),
	SIM_SAME(cuMemPoolGetAttribute, 11020),
	SIM_SAME(cuMemPoolSetAttribute, 11020),
	SIM_SAME(cuMemPoolSetAccess, 11020),
	SIM_SAME(cuMemPoolGetAccess, 11020),
	SIM_SAME(cuDeviceGetDefaultMemPool, 11020),
	SIM_SAME(cuDeviceGetMemPool, 11020),
	SIM_SAME(cuDeviceSetMemPool, 11020),
	SIM_SAME(cuMemGetDefaultMemPool, 13000),
	SIM_SAME(cuMemGetMemPool, 13000),
	SIM_SAME(cuMemSetMemPool, 13000),
	SIM_END,
};

/* NOLINTEND(readability-identifier-naming) */
