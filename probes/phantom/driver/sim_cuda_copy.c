/* Copies and fills of the simulated driver: their arguments are looked at. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_owners.h"

/* NOLINTBEGIN(readability-identifier-naming): the driver's names */

/* The first and the last byte are the driver's: mappings may join between. */
static bool copy_is_known(uint64_t pointer, uint64_t bytes)
{
	return !bytes ||
	       (sim_block_find(pointer) && sim_block_find(pointer + bytes - 1));
}

/* What a copy or fill touches; 0 for what is not the driver's. */
static int copy_check(uint64_t target, uint64_t source, uint64_t bytes,
		      const void *stream)
{
	struct sim_context *context = NULL;
	int result = sim_enter_context(&context);

	if (result)
		return result;
	if (!sim_stream_is_known(stream))
		return sim_leave(INVALID_HANDLE);
	if ((target && !copy_is_known(target, bytes)) ||
	    (source && !copy_is_known(source, bytes)))
		return sim_leave(INVALID_VALUE);
	return sim_leave(OK);
}

static int to_device(uint64_t target, const void *source, uint64_t bytes,
		     const void *stream)
{
	if ((!target || !source) && bytes && !sim_check())
		return INVALID_VALUE;
	return copy_check(target, 0, bytes, stream);
}

static int to_host(const void *target, uint64_t source, uint64_t bytes,
		   const void *stream)
{
	if ((!target || !source) && bytes && !sim_check())
		return INVALID_VALUE;
	return copy_check(0, source, bytes, stream);
}

static int within(uint64_t target, uint64_t source, uint64_t bytes,
		  const void *stream)
{
	if ((!target || !source) && bytes && !sim_check())
		return INVALID_VALUE;
	return copy_check(target, source, bytes, stream);
}

static int fill(uint64_t target, unsigned int width, uint64_t count,
		const void *stream)
{
	if (!sim_check() && ((!target && count) || target % width ||
			     count > UINT64_MAX / width))
		return INVALID_VALUE;
	return copy_check(target, 0, count * width, stream);
}

/* Any two places, of the host or of a device. */
static int anywhere(uint64_t target, uint64_t source, uint64_t bytes,
		    const void *stream)
{
	if ((!target || !source) && bytes && !sim_check())
		return INVALID_VALUE;
	return copy_check(0, 0, bytes, stream);
}

/* The blocking form, the old one, and both for each thread's own stream. */
#define COPY(name, target_type, source_type, how)                              \
	EXPORT int name##_v2(target_type target, source_type source,           \
			     size_t bytes)                                     \
	{                                                                      \
		return how(target, source, bytes, NULL);                       \
	}                                                                      \
	EXPORT int name##_v2_ptds(target_type target, source_type source,      \
				  size_t bytes)                                \
	{                                                                      \
		return how(target, source, bytes, NULL);                       \
	}                                                                      \
	EXPORT int name##Async_v2(target_type target, source_type source,      \
				  size_t bytes, const void *stream)            \
	{                                                                      \
		return how(target, source, bytes, stream);                     \
	}                                                                      \
	EXPORT int name##Async_v2_ptsz(target_type target, source_type source, \
				       size_t bytes, const void *stream)       \
	{                                                                      \
		return how(target, source, bytes, stream);                     \
	}

COPY(cuMemcpyHtoD, uint64_t, const void *, to_device)
COPY(cuMemcpyDtoH, void *, uint64_t, to_host)
COPY(cuMemcpyDtoD, uint64_t, uint64_t, within)

EXPORT int cuMemcpyHtoD(unsigned int target, const void *source,
			unsigned int bytes)
{
	return to_device(target, source, bytes, NULL);
}

EXPORT int cuMemcpyDtoH(void *target, unsigned int source, unsigned int bytes)
{
	return to_host(target, source, bytes, NULL);
}

EXPORT int cuMemcpyDtoD(unsigned int target, unsigned int source,
			unsigned int bytes)
{
	return within(target, source, bytes, NULL);
}

EXPORT int cuMemcpy(uint64_t target, uint64_t source, size_t bytes)
{
	return anywhere(target, source, bytes, NULL);
}

EXPORT int cuMemcpyAsync(uint64_t target, uint64_t source, size_t bytes,
			 const void *stream)
{
	return anywhere(target, source, bytes, stream);
}

SIM_TWIN(cuMemcpy_ptds, cuMemcpy,
	 (uint64_t target, uint64_t source, size_t bytes),
	 (target, source, bytes))
SIM_TWIN(cuMemcpyAsync_ptsz, cuMemcpyAsync,
	 (uint64_t target, uint64_t source, size_t bytes, const void *stream),
	 (target, source, bytes, stream))

#define FILL(name, value_type, width)                                          \
	EXPORT int name(unsigned int target, value_type value,                 \
			unsigned int count)                                    \
	{                                                                      \
		(void)value;                                                   \
		return fill(target, width, count, NULL);                       \
	}                                                                      \
	EXPORT int name##_v2(uint64_t target, value_type value, size_t count)  \
	{                                                                      \
		(void)value;                                                   \
		return fill(target, width, count, NULL);                       \
	}                                                                      \
	EXPORT int name##_v2_ptds(uint64_t target, value_type value,           \
				  size_t count)                                \
	{                                                                      \
		return name##_v2(target, value, count);                        \
	}                                                                      \
	EXPORT int name##Async(uint64_t target, value_type value,              \
			       size_t count, const void *stream)               \
	{                                                                      \
		(void)value;                                                   \
		return fill(target, width, count, stream);                     \
	}                                                                      \
	EXPORT int name##Async_ptsz(uint64_t target, value_type value,         \
				    size_t count, const void *stream)          \
	{                                                                      \
		return name##Async(target, value, count, stream);              \
	}

FILL(cuMemsetD8, unsigned char, 1)
FILL(cuMemsetD16, unsigned short, 2)
FILL(cuMemsetD32, unsigned int, 4)

#define COPY_ROWS(name)                                                        \
	SIM_ROW(name##_v2, #name, 3020),                                       \
		SIM_PER_THREAD(name##_v2_ptds, #name, 7000),                   \
		SIM_ROW(name##Async_v2, #name "Async", 3020),                  \
		SIM_PER_THREAD(name##Async_v2_ptsz, #name "Async", 7000)
#define FILL_ROWS(name)                                                        \
	SIM_SAME(name, 2000), SIM_ROW(name##_v2, #name, 3020),                 \
		SIM_PER_THREAD(name##_v2_ptds, #name, 7000),                   \
		SIM_SAME(name##Async, 3020),                                   \
		SIM_PER_THREAD(name##Async_ptsz, #name "Async", 7000)

const struct sim_export sim_copy_exports[] = {
	COPY_ROWS(cuMemcpyHtoD),
	COPY_ROWS(cuMemcpyDtoH),
	COPY_ROWS(cuMemcpyDtoD),
	SIM_SAME(cuMemcpyHtoD, 2000),
	SIM_SAME(cuMemcpyDtoH, 2000),
	SIM_SAME(cuMemcpyDtoD, 2000),
	SIM_SAME(cuMemcpy, 4000),
	SIM_PER_THREAD(cuMemcpy_ptds, "cuMemcpy", 7000),
	SIM_SAME(cuMemcpyAsync, 4000),
	SIM_PER_THREAD(cuMemcpyAsync_ptsz, "cuMemcpyAsync", 7000),
	FILL_ROWS(cuMemsetD8),
	FILL_ROWS(cuMemsetD16),
	FILL_ROWS(cuMemsetD32),
	SIM_END,
};

/* NOLINTEND(readability-identifier-naming) */
