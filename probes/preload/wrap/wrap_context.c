/* Wrappers of contexts: what they take, and what goes with them. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/cap.h"
#include "probes/preload/device.h"
#include "probes/preload/held.h"
#include "probes/preload/wrap.h"

#include <errno.h>

/* NOLINTBEGIN(readability-identifier-naming): the names are the driver's. */

/* Devices beyond it are not followed. */
#define ORDINALS 64

/* The primary context of each device, as often as it was retained. */
static struct {
	uint64_t handle;
	uint32_t count;
} primaries[ORDINALS];

static cu_result created(void **context, int ordinal, cu_result result)
{
	fn_cuCtxDestroy_v2 *destroy = REAL(cuCtxDestroy_v2);
	int saved = errno;
	int row = device_row(ordinal);
	bool by_cap = false;

	if (result == CU_SUCCESS) {
		by_cap = !cap_allows_context(row, NULL);
		if (!by_cap)
			ledger_context(row);
	}
	if (by_cap) {
		if (destroy)
			(void)destroy(*context);
		result = CU_OUT_OF_MEMORY;
	}
	if (result == CU_OUT_OF_MEMORY)
		count_refused(PRELOAD_CALL_CONTEXT, row, 0, by_cap);
	call_end();
	errno = saved;
	return result;
}

#define CONTEXT_CREATION(elf, parameters, arguments)                           \
	WRAPPER cu_result elf parameters                                       \
	{                                                                      \
		fn_##elf *real = REAL(elf);                                    \
                                                                               \
		if (!real)                                                     \
			return CU_NOT_FOUND;                                   \
		if (!pctx || !count_begin())                                   \
			return real arguments;                                 \
		return created(pctx, dev, real arguments);                     \
	}

CONTEXT_CREATION(cuCtxCreate, (void **pctx, unsigned int flags, int dev),
		 (pctx, flags, dev))
CONTEXT_CREATION(cuCtxCreate_v2, (void **pctx, unsigned int flags, int dev),
		 (pctx, flags, dev))
CONTEXT_CREATION(cuCtxCreate_v3,
		 (void **pctx, void *params_array, int num_params,
		  unsigned int flags, int dev),
		 (pctx, params_array, num_params, flags, dev))
CONTEXT_CREATION(cuCtxCreate_v4,
		 (void **pctx, void *ctx_create_params, unsigned int flags,
		  int dev),
		 (pctx, ctx_create_params, flags, dev))

#define CONTEXT_DESTRUCTION(elf)                                               \
	WRAPPER cu_result elf(void *ctx)                                       \
	{                                                                      \
		fn_##elf *real = REAL(elf);                                    \
		cu_result result;                                              \
		int saved;                                                     \
                                                                               \
		if (!real)                                                     \
			return CU_NOT_FOUND;                                   \
		if (!count_begin())                                            \
			return real(ctx);                                      \
		result = real(ctx);                                            \
		saved = errno;                                                 \
		if (result == CU_SUCCESS)                                      \
			held_drop((uint64_t)(uintptr_t)ctx);                   \
		call_end();                                                    \
		errno = saved;                                                 \
		return result;                                                 \
	}

CONTEXT_DESTRUCTION(cuCtxDestroy)
CONTEXT_DESTRUCTION(cuCtxDestroy_v2)

static bool is_followed(int ordinal)
{
	return ordinal >= 0 && ordinal < ORDINALS;
}

/* True: it is the first. */
static bool retain(int ordinal, void *context)
{
	if (!is_followed(ordinal))
		return false;
	__atomic_store_n(&primaries[ordinal].handle,
			 (uint64_t)(uintptr_t)context, __ATOMIC_SEQ_CST);
	return !__atomic_fetch_add(&primaries[ordinal].count, 1,
				   __ATOMIC_SEQ_CST);
}

/* True: it was the last. */
static bool context_let_go(int ordinal)
{
	uint32_t *count = &primaries[ordinal].count;
	uint32_t now = __atomic_load_n(count, __ATOMIC_SEQ_CST);

	while (now &&
	       !__atomic_compare_exchange_n(count, &now, now - 1, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
	return now <= 1;
}

static void context_drop(int ordinal)
{
	__atomic_store_n(&primaries[ordinal].count, 0, __ATOMIC_SEQ_CST);
	held_drop(
		__atomic_load_n(&primaries[ordinal].handle, __ATOMIC_SEQ_CST));
}

WRAPPER cu_result cuDevicePrimaryCtxRetain(void **pctx, int dev)
{
	fn_cuDevicePrimaryCtxRetain *real = REAL(cuDevicePrimaryCtxRetain);
	fn_cuDevicePrimaryCtxRelease_v2 *release;
	bool by_cap = false;
	cu_result result;
	int saved, row;

	if (!real)
		return CU_NOT_FOUND;
	if (!pctx || !count_begin())
		return real(pctx, dev);
	result = real(pctx, dev);
	saved = errno;
	row = device_row(dev);
	if (result == CU_SUCCESS && retain(dev, *pctx)) {
		by_cap = !cap_allows_context(row, *pctx);
		if (!by_cap)
			ledger_context(row);
	}
	if (by_cap) {
		release = REAL(cuDevicePrimaryCtxRelease_v2);
		if (release)
			(void)release(dev);
		(void)context_let_go(dev);
		result = CU_OUT_OF_MEMORY;
	}
	if (result == CU_OUT_OF_MEMORY)
		count_refused(PRELOAD_CALL_CONTEXT, row, 0, by_cap);
	call_end();
	errno = saved;
	return result;
}

/* Others in the process may hold it in ways that are not seen. */
static cu_result released(int ordinal, cu_result result)
{
	enum device_primary state;
	int saved = errno;
	bool is_last;

	if (result == CU_SUCCESS && is_followed(ordinal)) {
		is_last = context_let_go(ordinal);
		state = device_primary(ordinal);
		if (state == DEVICE_PRIMARY_GONE ||
		    (state == DEVICE_PRIMARY_UNKNOWN && is_last))
			context_drop(ordinal);
	}
	call_end();
	errno = saved;
	return result;
}

static cu_result reset(int ordinal, cu_result result)
{
	int saved = errno;

	if (result == CU_SUCCESS && is_followed(ordinal))
		context_drop(ordinal);
	call_end();
	errno = saved;
	return result;
}

#define PRIMARY(elf, after)                                                    \
	WRAPPER cu_result elf(int dev)                                         \
	{                                                                      \
		fn_##elf *real = REAL(elf);                                    \
                                                                               \
		if (!real)                                                     \
			return CU_NOT_FOUND;                                   \
		if (!count_begin())                                            \
			return real(dev);                                      \
		return after(dev, real(dev));                                  \
	}

PRIMARY(cuDevicePrimaryCtxRelease, released)
PRIMARY(cuDevicePrimaryCtxRelease_v2, released)
PRIMARY(cuDevicePrimaryCtxReset, reset)
PRIMARY(cuDevicePrimaryCtxReset_v2, reset)

WATCHED(cuGreenCtxCreate, PRELOAD_CALL_CONTEXT,
	(void **ph_ctx, void *desc, int dev, unsigned int flags),
	(ph_ctx, desc, dev, flags))
WATCHED(cuCtxSetLimit, PRELOAD_CALL_OTHER, (unsigned int limit, size_t value),
	(limit, value))

/* NOLINTEND(readability-identifier-naming) */
