/* Physical memory of the simulated driver: made, shared, given back. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_events.h"
#include "probes/phantom/device/sim_handle.h"
#include "probes/phantom/device/sim_share.h"

/* NOLINTBEGIN(readability-identifier-naming): the driver's names */

enum handles_location_type { LOCATION_DEVICE = 1, LOCATION_LAST = 4 };
enum handles_allocation_type { PINNED = 1, MANAGED = 2 };

static bool handles_is_granular(uint64_t bytes)
{
	return bytes && bytes % SIM_GRANULARITY == 0;
}

struct sim_handle *sim_handle_find(uint64_t number)
{
	return sim_object_find((void *)(uintptr_t)number, SIM_HANDLE);
}

void sim_handle_free_unused(struct sim_handle *handle)
{
	if (handle->references || handle->mappings)
		return;
	if (handle->charged_bytes)
		sim_discharge(handle->device, handle->charged_bytes);
	sim_object_free(handle);
}

static int check_properties(const struct sim_properties *properties,
			    uint32_t *device)
{
	int result = sim_check();

	if (result)
		return result;
	if (!properties || properties->type != PINNED ||
	    properties->location.type < LOCATION_DEVICE ||
	    properties->location.type > LOCATION_LAST)
		return INVALID_VALUE;
	if (properties->location.type == LOCATION_DEVICE)
		result = sim_device(properties->location.id, device);
	return result;
}

EXPORT int
cuMemGetAllocationGranularity(size_t *granularity,
			      const struct sim_properties *properties,
			      unsigned int option)
{
	uint32_t device = 0;
	int result = check_properties(properties, &device);

	if (!result && (!granularity || option > 1))
		return INVALID_VALUE;
	if (!result)
		*granularity = SIM_GRANULARITY;
	return result;
}

/* Bytes of the host are in no budget. */
static int create(struct sim_handle *handle, uint64_t bytes)
{
	bool is_device = handle->properties.location.type == LOCATION_DEVICE;
	int result = sim_event_allocation(handle->device, bytes);

	if (!result && is_device)
		result = sim_charge(handle->device, bytes);
	if (!result && is_device)
		handle->charged_bytes = bytes;
	handle->bytes = bytes;
	handle->references = 1;
	return result;
}

EXPORT int cuMemCreate(uint64_t *number, size_t bytes,
		       const struct sim_properties *properties, uint64_t flags)
{
	struct sim_handle *handle;
	uint32_t device = 0;
	int result;

	sim_event_delay();
	result = check_properties(properties, &device);
	if (!result && (!number || !handles_is_granular(bytes) || flags))
		result = INVALID_VALUE;
	if (result)
		return result;
	(void)sim_enter();
	handle = sim_object_make(SIM_HANDLE, sizeof(*handle), NULL);
	if (!handle)
		return sim_leave(OUT_OF_MEMORY);
	handle->properties = *properties;
	handle->device = device;
	result = create(handle, bytes);
	if (result)
		sim_object_free(handle);
	else
		*number = (uintptr_t)handle;
	return sim_leave(result);
}

EXPORT int cuMemRelease(uint64_t number)
{
	struct sim_handle *handle;
	int result = sim_enter();

	if (result)
		return result;
	handle = sim_handle_find(number);
	if (!handle || !handle->references)
		return sim_leave(INVALID_VALUE);
	handle->references--;
	sim_handle_free_unused(handle);
	return sim_leave(OK);
}

EXPORT int cuMemRetainAllocationHandle(uint64_t *number, const void *pointer)
{
	const struct sim_block *block;
	struct sim_handle *handle;
	int result = sim_enter();

	if (result)
		return result;
	block = sim_block_find((uintptr_t)pointer);
	if (!number || !block || block->kind != SIM_MAPPING)
		return sim_leave(INVALID_VALUE);
	handle = block->owner;
	handle->references++;
	*number = (uintptr_t)handle;
	return sim_leave(OK);
}

EXPORT int
cuMemGetAllocationPropertiesFromHandle(struct sim_properties *properties,
				       uint64_t number)
{
	const struct sim_handle *handle;
	int result = sim_enter();

	if (result)
		return result;
	handle = sim_handle_find(number);
	if (!properties || !handle)
		return sim_leave(INVALID_VALUE);
	*properties = handle->properties;
	return sim_leave(OK);
}

EXPORT int cuMemExportToShareableHandle(void *shared, uint64_t number, int type,
					uint64_t flags)
{
	const struct sim_handle *handle;
	struct sim_shared what = { .kind = SIM_HANDLE };
	int result = sim_enter();

	if (result)
		return result;
	handle = sim_handle_find(number);
	if (!shared || !handle || flags)
		return sim_leave(INVALID_VALUE);
	what.bytes = handle->bytes;
	what.device = handle->device;
	return sim_leave(sim_share(shared, type, &what));
}

/* Who exported it pays for it. */
EXPORT int cuMemImportFromShareableHandle(uint64_t *number, const void *shared,
					  int type)
{
	struct sim_shared what = { .kind = SIM_HANDLE };
	struct sim_handle *handle;
	int result = sim_enter();

	if (result)
		return result;
	if (!number)
		return sim_leave(INVALID_VALUE);
	result = sim_take_shared(shared, type, &what);
	if (result)
		return sim_leave(result);
	handle = sim_object_make(SIM_HANDLE, sizeof(*handle), NULL);
	if (!handle)
		return sim_leave(OUT_OF_MEMORY);
	handle->bytes = what.bytes;
	handle->device = what.device;
	handle->references = 1;
	handle->properties.type = PINNED;
	handle->properties.location.type = LOCATION_DEVICE;
	handle->properties.location.id = sim_ordinal(what.device);
	*number = (uintptr_t)handle;
	return sim_leave(OK);
}

const struct sim_export sim_handle_exports[] = {
	SIM_SAME(cuMemGetAllocationGranularity, 10020),
	SIM_SAME(cuMemCreate, 10020),
	SIM_SAME(cuMemRelease, 10020),
	SIM_SAME(cuMemRetainAllocationHandle, 11000),
	SIM_SAME(cuMemGetAllocationPropertiesFromHandle, 10020),
	SIM_SAME(cuMemExportToShareableHandle, 10020),
	SIM_SAME(cuMemImportFromShareableHandle, 10020),
	SIM_END,
};

/* NOLINTEND(readability-identifier-naming) */
