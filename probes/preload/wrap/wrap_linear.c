/* Wrappers of linear, pitched and managed memory. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/held.h"
#include "probes/preload/wrap.h"

/* NOLINTBEGIN(readability-identifier-naming): the names are the driver's. */

WRAPPER cu_result cuMemAlloc_v2(cu_pointer *dptr, size_t bytesize)
{
	fn_cuMemAlloc_v2 *real = REAL(cuMemAlloc_v2);
	cu_result result = CU_OUT_OF_MEMORY;
	struct held_request request;

	if (!real)
		return CU_NOT_FOUND;
	if (!dptr || !request_begin(&request, PRELOAD_CALL_LINEAR, bytesize))
		return real(dptr, bytesize);
	if (request_is_allowed(&request))
		result = real(dptr, bytesize);
	return request_end(&request, result, result ? 0 : *dptr);
}

WRAPPER cu_result cuMemAlloc(unsigned int *dptr, unsigned int bytesize)
{
	fn_cuMemAlloc *real = REAL(cuMemAlloc);
	cu_result result = CU_OUT_OF_MEMORY;
	struct held_request request;

	if (!real)
		return CU_NOT_FOUND;
	if (!dptr || !request_begin(&request, PRELOAD_CALL_LINEAR, bytesize))
		return real(dptr, bytesize);
	if (request_is_allowed(&request))
		result = real(dptr, bytesize);
	return request_end(&request, result, result ? 0 : *dptr);
}

/* The driver chooses the pitch; until it has, the least that it can be. */
static uint64_t area(uint64_t width, uint64_t height)
{
	uint64_t bytes;

	return __builtin_mul_overflow(width, height, &bytes) ? UINT64_MAX
							     : bytes;
}

WRAPPER cu_result cuMemAllocPitch_v2(cu_pointer *dptr, size_t *p_pitch,
				     size_t width_in_bytes, size_t height,
				     unsigned int element_size_bytes)
{
	fn_cuMemAllocPitch_v2 *real = REAL(cuMemAllocPitch_v2);
	fn_cuMemFree_v2 *release = REAL(cuMemFree_v2);
	cu_result result = CU_OUT_OF_MEMORY;
	struct held_request request;

	if (!real)
		return CU_NOT_FOUND;
	if (!dptr || !p_pitch || !release ||
	    !request_begin(&request, PRELOAD_CALL_LINEAR,
			   area(width_in_bytes, height)))
		return real(dptr, p_pitch, width_in_bytes, height,
			    element_size_bytes);
	if (request_is_allowed(&request))
		result = real(dptr, p_pitch, width_in_bytes, height,
			      element_size_bytes);
	if (!result && !request_resize(&request, area(*p_pitch, height))) {
		(void)release(*dptr);
		result = CU_OUT_OF_MEMORY;
	}
	return request_end(&request, result, result ? 0 : *dptr);
}

WRAPPER cu_result cuMemAllocPitch(unsigned int *dptr, unsigned int *p_pitch,
				  unsigned int width_in_bytes,
				  unsigned int height,
				  unsigned int element_size_bytes)
{
	fn_cuMemAllocPitch *real = REAL(cuMemAllocPitch);
	fn_cuMemFree *release = REAL(cuMemFree);
	cu_result result = CU_OUT_OF_MEMORY;
	struct held_request request;

	if (!real)
		return CU_NOT_FOUND;
	if (!dptr || !p_pitch || !release ||
	    !request_begin(&request, PRELOAD_CALL_LINEAR,
			   area(width_in_bytes, height)))
		return real(dptr, p_pitch, width_in_bytes, height,
			    element_size_bytes);
	if (request_is_allowed(&request))
		result = real(dptr, p_pitch, width_in_bytes, height,
			      element_size_bytes);
	if (!result && !request_resize(&request, area(*p_pitch, height))) {
		(void)release(*dptr);
		result = CU_OUT_OF_MEMORY;
	}
	return request_end(&request, result, result ? 0 : *dptr);
}

WRAPPER cu_result cuMemAllocManaged(cu_pointer *dptr, size_t bytesize,
				    unsigned int flags)
{
	fn_cuMemAllocManaged *real = REAL(cuMemAllocManaged);
	cu_result result = CU_OUT_OF_MEMORY;
	struct held_request request;

	if (!real)
		return CU_NOT_FOUND;
	if (!dptr || !request_begin(&request, PRELOAD_CALL_MANAGED, bytesize))
		return real(dptr, bytesize, flags);
	if (request_is_allowed(&request))
		result = real(dptr, bytesize, flags);
	return request_end(&request, result, result ? 0 : *dptr);
}

WRAPPER cu_result cuMemFree_v2(cu_pointer dptr)
{
	fn_cuMemFree_v2 *real = REAL(cuMemFree_v2);
	struct release release;

	if (!real)
		return CU_NOT_FOUND;
	if (!release_begin(&release, dptr))
		return real(dptr);
	return release_end(&release, real(dptr));
}

WRAPPER cu_result cuMemFree(unsigned int dptr)
{
	fn_cuMemFree *real = REAL(cuMemFree);
	struct release release;

	if (!real)
		return CU_NOT_FOUND;
	if (!release_begin(&release, dptr))
		return real(dptr);
	return release_end(&release, real(dptr));
}

/* NOLINTEND(readability-identifier-naming) */
