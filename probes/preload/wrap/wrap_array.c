/* Wrappers of arrays: their size follows from what they hold. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/held.h"
#include "probes/preload/properties.h"
#include "probes/preload/wrap.h"

/* NOLINTBEGIN(readability-identifier-naming): the names are the driver's. */

/* As cuda.h numbers them. */
#define FLAG_LAYERED 0x01U
#define FLAG_CUBEMAP 0x04U
#define FLAG_SPARSE 0x40U
#define FLAG_DEFERRED 0x80U

/* More levels has no array: sizes are of 64 bits. */
#define LEVELS_MAX 64

struct format {
	unsigned char number, bits;
};

/* Bits of an element, of one channel where the program counts channels. */
static uint64_t bits_of(unsigned int format, unsigned int channels)
{
	static const struct format counted[] = {
		{ 0x01, 8 },  { 0x02, 16 }, { 0x03, 32 }, { 0x08, 8 },
		{ 0x09, 16 }, { 0x0a, 32 }, { 0x10, 16 }, { 0x20, 32 },
	};
	static const struct format whole[] = {
		{ 0x91, 4 },  { 0x92, 4 },  { 0x93, 8 },  { 0x94, 8 },
		{ 0x95, 8 },  { 0x96, 8 },  { 0x97, 4 },  { 0x98, 4 },
		{ 0x99, 8 },  { 0x9a, 8 },  { 0x9b, 8 },  { 0x9c, 8 },
		{ 0x9d, 8 },  { 0x9e, 8 },  { 0x9f, 24 }, { 0xa1, 24 },
		{ 0xa2, 16 }, { 0xb0, 12 }, { 0xb1, 64 }, { 0xc0, 8 },
		{ 0xc1, 16 }, { 0xc3, 16 }, { 0xc4, 32 }, { 0xc5, 64 },
		{ 0xc6, 8 },  { 0xc7, 16 }, { 0xc9, 16 }, { 0xca, 32 },
		{ 0xcb, 64 },
	};

	for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++) {
		if (counted[i].number == format)
			return (uint64_t)counted[i].bits * channels;
	}
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
		if (whole[i].number == format)
			return whole[i].bits;
	}
	return 32;
}

static uint64_t at_least_1(uint64_t extent)
{
	return extent ? extent : 1;
}

/* Absurd ones are the driver's to refuse: UINT64_MAX. */
static uint64_t array_product(uint64_t a, uint64_t b)
{
	uint64_t result;

	return __builtin_mul_overflow(a, b, &result) ? UINT64_MAX : result;
}

static uint64_t bytes_of_level(const struct array3d_descriptor *array,
			       unsigned int level)
{
	bool is_flat = array->flags & (FLAG_LAYERED | FLAG_CUBEMAP);
	uint64_t depth = is_flat ? array->depth : array->depth >> level;
	uint64_t elements =
		array_product(array_product(at_least_1(array->width >> level),
					    at_least_1(array->height >> level)),
			      at_least_1(depth));

	elements = array_product(elements,
				 bits_of(array->format, array->channels));
	return elements == UINT64_MAX ? elements : (elements + 7) / 8;
}

/* 0: it has no memory of its own. */
static uint64_t bytes_of(const struct array3d_descriptor *array,
			 unsigned int levels)
{
	uint64_t bytes = 0;

	if (array->flags & (FLAG_SPARSE | FLAG_DEFERRED))
		return 0;
	for (unsigned int i = 0; i < levels && i < LEVELS_MAX; i++) {
		if (__builtin_add_overflow(bytes, bytes_of_level(array, i),
					   &bytes))
			return UINT64_MAX;
	}
	return bytes;
}

static uint64_t bytes_2d(const void *descriptor)
{
	const struct array_descriptor *given = descriptor;
	struct array3d_descriptor array = { .width = given->width,
					    .height = given->height,
					    .format = given->format,
					    .channels = given->channels };

	return bytes_of(&array, 1);
}

static uint64_t bytes_2d_v1(const void *descriptor)
{
	const struct array_descriptor_v1 *given = descriptor;
	struct array3d_descriptor array = { .width = given->width,
					    .height = given->height,
					    .format = given->format,
					    .channels = given->channels };

	return bytes_of(&array, 1);
}

static uint64_t bytes_3d(const void *descriptor)
{
	return bytes_of(descriptor, 1);
}

static uint64_t bytes_3d_v1(const void *descriptor)
{
	const struct array3d_descriptor_v1 *given = descriptor;
	struct array3d_descriptor array = { .width = given->width,
					    .height = given->height,
					    .depth = given->depth,
					    .format = given->format,
					    .channels = given->channels,
					    .flags = given->flags };

	return bytes_of(&array, 1);
}

#define ARRAY_CREATION(elf, size_of)                                           \
	HELD_ALLOCATION(elf, PRELOAD_CALL_ARRAY,                               \
			(p_handle) && (p_allocate_array),                      \
			size_of(p_allocate_array), HELD_KEY(*p_handle),        \
			(void **p_handle, const void *p_allocate_array),       \
			(p_handle, p_allocate_array))

ARRAY_CREATION(cuArrayCreate, bytes_2d_v1)
ARRAY_CREATION(cuArrayCreate_v2, bytes_2d)
ARRAY_CREATION(cuArray3DCreate, bytes_3d_v1)
ARRAY_CREATION(cuArray3DCreate_v2, bytes_3d)

HELD_ALLOCATION(cuMipmappedArrayCreate, PRELOAD_CALL_ARRAY,
		p_handle &&p_mipmapped_array_desc,
		bytes_of(p_mipmapped_array_desc, num_mipmap_levels),
		HELD_KEY(*p_handle),
		(void **p_handle, const void *p_mipmapped_array_desc,
		 unsigned int num_mipmap_levels),
		(p_handle, p_mipmapped_array_desc, num_mipmap_levels))

HELD_RELEASE(cuArrayDestroy, HELD_KEY(h_array), (void *h_array), (h_array))
HELD_RELEASE(cuMipmappedArrayDestroy, HELD_KEY(h_mipmapped_array),
	     (void *h_mipmapped_array), (h_mipmapped_array))

/* NOLINTEND(readability-identifier-naming) */
