/* Wrappers of linear, pitched and managed memory. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/held.h"
#include "probes/preload/wrap.h"

/* NOLINTBEGIN(readability-identifier-naming): the names are the driver's. */

HELD_ALLOCATION(cuMemAlloc_v2, PRELOAD_CALL_LINEAR, dptr, bytesize, *dptr,
		(cu_pointer * dptr, size_t bytesize), (dptr, bytesize))
HELD_ALLOCATION(cuMemAlloc, PRELOAD_CALL_LINEAR, dptr, bytesize, *dptr,
		(unsigned int *dptr, unsigned int bytesize), (dptr, bytesize))
HELD_ALLOCATION(cuMemAllocManaged, PRELOAD_CALL_MANAGED, dptr, bytesize, *dptr,
		(cu_pointer * dptr, size_t bytesize, unsigned int flags),
		(dptr, bytesize, flags))

HELD_RELEASE(cuMemFree_v2, dptr, (cu_pointer dptr), (dptr))
HELD_RELEASE(cuMemFree, dptr, (unsigned int dptr), (dptr))

/* The driver chooses the pitch; until it has, the least that it can be. */
static uint64_t area(uint64_t width, uint64_t height)
{
	uint64_t bytes;

	return __builtin_mul_overflow(width, height, &bytes) ? UINT64_MAX
							     : bytes;
}

#define PITCHED(elf, free_elf, parameters, arguments)                          \
	WRAPPER cu_result elf parameters                                       \
	{                                                                      \
		fn_##elf *real = REAL(elf);                                    \
		fn_##free_elf *release = REAL(free_elf);                       \
		cu_result result = CU_OUT_OF_MEMORY;                           \
		struct held_request request;                                   \
                                                                               \
		if (!real)                                                     \
			return CU_NOT_FOUND;                                   \
		if (!dptr || !p_pitch || !release ||                           \
		    !request_begin(&request, PRELOAD_CALL_LINEAR,              \
				   area(width_in_bytes, height)))              \
			return real arguments;                                 \
		if (request_is_allowed(&request))                              \
			result = real arguments;                               \
		if (!result &&                                                 \
		    !request_resize(&request, area(*p_pitch, height))) {       \
			(void)release(*dptr);                                  \
			result = CU_OUT_OF_MEMORY;                             \
		}                                                              \
		return request_end(&request, result, result ? 0 : *dptr);      \
	}

PITCHED(cuMemAllocPitch_v2, cuMemFree_v2,
	(cu_pointer * dptr, size_t *p_pitch, size_t width_in_bytes,
	 size_t height, unsigned int element_size_bytes),
	(dptr, p_pitch, width_in_bytes, height, element_size_bytes))
PITCHED(cuMemAllocPitch, cuMemFree,
	(unsigned int *dptr, unsigned int *p_pitch, unsigned int width_in_bytes,
	 unsigned int height, unsigned int element_size_bytes),
	(dptr, p_pitch, width_in_bytes, height, element_size_bytes))

/* NOLINTEND(readability-identifier-naming) */
