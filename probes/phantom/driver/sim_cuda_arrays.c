/* Arrays and mipmapped arrays of the simulated driver. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_events.h"
#include "probes/phantom/device/sim_objects.h"

/* NOLINTBEGIN(readability-identifier-naming): the driver's names */

struct description {
	size_t width, height;
	unsigned int format, channels;
};

struct description_3d {
	size_t width, height, depth;
	unsigned int format, channels, flags;
};

struct old_description {
	unsigned int width, height, format, channels;
};

struct old_description_3d {
	unsigned int width, height, depth, format, channels, flags;
};

struct arrays_array {
	struct sim_object object;
	struct sim_block *block; /* NULL: one level of a mipmapped one */
	struct description_3d description;
	unsigned int levels; /* 0: not mipmapped */
};

/* 0: none that is known here. */
static uint64_t element_bytes(unsigned int format)
{
	switch (format) {
	case 0x01: /* 8 bits */
	case 0x08:
		return 1;
	case 0x02: /* 16 */
	case 0x09:
	case 0x10:
		return 2;
	case 0x03: /* 32 */
	case 0x0a:
	case 0x20:
		return 4;
	default:
		return 0;
	}
}

static bool arrays_is_sound(const struct description_3d *what)
{
	const uint64_t side_max = UINT64_C(1) << 20;

	return what->width && what->width <= side_max &&
	       what->height <= side_max && what->depth <= 16384 &&
	       element_bytes(what->format) &&
	       (what->channels == 1 || what->channels == 2 ||
		what->channels == 4);
}

static uint64_t arrays_at_least_one(uint64_t side)
{
	return side ? side : 1;
}

static uint64_t arrays_bytes_of(const struct description_3d *what,
				unsigned int level)
{
	return arrays_at_least_one(what->width >> level) *
	       arrays_at_least_one(what->height >> level) *
	       arrays_at_least_one(what->depth >> level) * what->channels *
	       element_bytes(what->format);
}

static int arrays_take(struct arrays_array *array, struct sim_context *context,
		       uint64_t bytes)
{
	uint64_t rounded = sim_round_up(bytes, SIM_GRANULARITY);
	int result = sim_event_allocation(context->device, bytes);

	if (!result)
		result = sim_charge(context->device, rounded);
	if (result)
		return result;
	array->block = sim_block_make(SIM_ARRAY_MEMORY, rounded, context);
	if (!array->block) {
		sim_discharge(context->device, rounded);
		return OUT_OF_MEMORY;
	}
	array->block->charged_bytes = rounded;
	return OK;
}

static int arrays_make(void **handle, const struct description_3d *what,
		       unsigned int levels)
{
	struct sim_context *context = NULL;
	uint64_t bytes = 0;
	struct arrays_array *array;
	int result;

	sim_event_delay();
	result = sim_enter_context(&context);
	if (result)
		return result;
	if (!handle || !arrays_is_sound(what) || levels > 21)
		return sim_leave(INVALID_VALUE);
	for (unsigned int i = 0; i < (levels ? levels : 1); i++)
		bytes += arrays_bytes_of(what, i);
	array = sim_object_make(SIM_ARRAY, sizeof(*array), context);
	if (!array)
		return sim_leave(OUT_OF_MEMORY);
	array->description = *what;
	array->levels = levels;
	result = arrays_take(array, context, bytes);
	if (result)
		sim_object_free(array);
	else
		*handle = array;
	return sim_leave(result);
}

EXPORT int cuArray3DCreate_v2(void **handle, const struct description_3d *what)
{
	if (!what)
		return sim_check() ? NOT_INITIALIZED : INVALID_VALUE;
	return arrays_make(handle, what, 0);
}

/* The same, of another description: flat ones, and those of 32 bits. */
#define ARRAY_CREATION(name, type, its_depth)                                  \
	EXPORT int name(void **handle, const struct type *what)                \
	{                                                                      \
		struct description_3d wide = { 0 };                            \
                                                                               \
		if (!what)                                                     \
			return sim_check() ? NOT_INITIALIZED : INVALID_VALUE;  \
		wide.width = what->width;                                      \
		wide.height = what->height;                                    \
		wide.depth = its_depth;                                        \
		wide.format = what->format;                                    \
		wide.channels = what->channels;                                \
		return arrays_make(handle, &wide, 0);                          \
	}

ARRAY_CREATION(cuArrayCreate_v2, description, 0)
ARRAY_CREATION(cuArrayCreate, old_description, 0)
ARRAY_CREATION(cuArray3DCreate, old_description_3d, what->depth)

EXPORT int cuMipmappedArrayCreate(void **handle,
				  const struct description_3d *what,
				  unsigned int levels)
{
	if (!what || !levels)
		return sim_check() ? NOT_INITIALIZED : INVALID_VALUE;
	return arrays_make(handle, what, levels);
}

static int destroy(const void *handle, bool is_mipmapped)
{
	struct arrays_array *array;
	int result = sim_enter();

	if (result)
		return result;
	array = sim_object_find(handle, SIM_ARRAY);
	if (!array || !array->block || (array->levels != 0) != is_mipmapped)
		return sim_leave(INVALID_HANDLE);
	sim_block_free(array->block);
	sim_object_free(array);
	return sim_leave(OK);
}

EXPORT int cuArrayDestroy(const void *handle)
{
	return destroy(handle, false);
}

EXPORT int cuMipmappedArrayDestroy(const void *handle)
{
	return destroy(handle, true);
}

/* It has no memory of its own, and goes with the context. */
EXPORT int cuMipmappedArrayGetLevel(void **handle, const void *mipmapped,
				    unsigned int level)
{
	struct sim_context *context = NULL;
	const struct arrays_array *whole;
	struct arrays_array *array;
	int result = sim_enter_context(&context);

	if (result)
		return result;
	whole = sim_object_find(mipmapped, SIM_ARRAY);
	if (!handle || !whole || level >= whole->levels)
		return sim_leave(INVALID_VALUE);
	array = sim_object_make(SIM_ARRAY, sizeof(*array), context);
	if (!array)
		return sim_leave(OUT_OF_MEMORY);
	array->description = whole->description;
	*handle = array;
	return sim_leave(OK);
}

EXPORT int cuArrayGetDescriptor_v2(struct description *what, const void *handle)
{
	const struct arrays_array *array;
	int result = sim_enter();

	if (result)
		return result;
	array = sim_object_find(handle, SIM_ARRAY);
	if (!array)
		return sim_leave(INVALID_HANDLE);
	if (!what)
		return sim_leave(INVALID_VALUE);
	what->width = array->description.width;
	what->height = array->description.height;
	what->format = array->description.format;
	what->channels = array->description.channels;
	return sim_leave(OK);
}

/* Its sparse mappings are not simulated. */
EXPORT int cuMemMapArrayAsync(const void *mappings, unsigned int count,
			      const void *stream)
{
	(void)mappings;
	(void)count;
	(void)stream;
	return sim_check() ? NOT_INITIALIZED : NOT_SUPPORTED;
}

SIM_TWIN(cuMemMapArrayAsync_ptsz, cuMemMapArrayAsync,
	 (const void *mappings, unsigned int count, const void *stream),
	 (mappings, count, stream))

const struct sim_export sim_array_exports[] = {
	SIM_SAME(cuArrayCreate, 2000),
	SIM_ROW(cuArrayCreate_v2, "cuArrayCreate", 3020),
	SIM_SAME(cuArray3DCreate, 2000),
	SIM_ROW(cuArray3DCreate_v2, "cuArray3DCreate", 3020),
	SIM_SAME(cuMipmappedArrayCreate, 5000),
	SIM_SAME(cuArrayDestroy, 2000),
	SIM_SAME(cuMipmappedArrayDestroy, 5000),
	SIM_SAME(cuMipmappedArrayGetLevel, 5000),
	SIM_ROW(cuArrayGetDescriptor_v2, "cuArrayGetDescriptor", 3020),
	SIM_SAME(cuMemMapArrayAsync, 11010),
	SIM_PER_THREAD(cuMemMapArrayAsync_ptsz, "cuMemMapArrayAsync", 11010),
	SIM_END,
};

/* NOLINTEND(readability-identifier-naming) */
