/* Wrappers of stream-ordered memory and of the pools it comes from. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/cap.h"
#include "probes/preload/device.h"
#include "probes/preload/held.h"
#include "probes/preload/lookup.h"
#include "probes/preload/pools.h"
#include "probes/preload/properties.h"
#include "probes/preload/wrap.h"

#include <errno.h>

/* NOLINTBEGIN(readability-identifier-naming): the names are the driver's. */

/* As cuda.h numbers them. */
#define POINTER_DEVICE_ORDINAL 9
#define POINTER_POOL 17

typedef cu_result attribute_fn(void *value, unsigned int attribute,
			       cu_pointer pointer);

typedef cu_result attributes_fn(unsigned int count, unsigned int *attributes,
				void **values, cu_pointer pointer);

/* An allocation under way. */
struct call {
	struct device_now now; /* looked up where it matters: see pool_begin */
	size_t bytes;
	void *stream;
	enum device_family family;
	bool is_captured; /* it becomes a part of a graph */
};

static bool pool_begin(struct call *call, size_t bytes, void *stream,
		       enum device_family family)
{
	int saved = errno;

	if (!bytes || !count_begin())
		return false;
	*call = (struct call){ { 0, -1, -1 },
			       bytes,
			       stream,
			       family,
			       device_is_capturing(stream, family) };
	if (call->is_captured || ledger_is_capped()) {
		call->now = device_now();
		cap_look(call->now.row);
	}
	ledger_give_begin();
	errno = saved;
	return true;
}

/* Both at once, as drivers since CUDA 11.3 tell them. NULL: they do not. */
static void *pool_at_once(cu_pointer pointer, int *ordinal)
{
	static void *place;
	attributes_fn *ask = __extension__(attributes_fn *)
		lookup_once(&place, "cuPointerGetAttributes");
	unsigned int names[] = { POINTER_DEVICE_ORDINAL, POINTER_POOL };
	void *pool = NULL;
	int device = -1;
	void *answers[] = { &device, &pool };

	if (!ask || ask(2, names, answers, pointer) != CU_SUCCESS || device < 0)
		return NULL;
	if (pool)
		*ordinal = device;
	return pool;
}

/* The pool that the driver took it from, and the device of that. */
static void *pool_asked_apart(cu_pointer pointer, int *ordinal)
{
	static void *place;
	attribute_fn *ask = __extension__(attribute_fn *)
		lookup_once(&place, "cuPointerGetAttribute");
	fn_cuDeviceGetMemPool *current = REAL(cuDeviceGetMemPool);
	void *pool = NULL;
	int device = -1;

	if (ask &&
	    ask(&device, POINTER_DEVICE_ORDINAL, pointer) == CU_SUCCESS &&
	    device >= 0)
		*ordinal = device;
	else if (*ordinal < 0)
		*ordinal = device_now().ordinal;
	if ((!ask || ask(&pool, POINTER_POOL, pointer) != CU_SUCCESS ||
	     !pool) &&
	    (!current || current(&pool, *ordinal) != CU_SUCCESS))
		pool = NULL;
	return pool;
}

static void *pool_of(cu_pointer pointer, int *ordinal)
{
	unsigned int mode = device_relax();
	void *pool = pool_at_once(pointer, ordinal);

	if (!pool)
		pool = pool_asked_apart(pointer, ordinal);
	device_restore(mode);
	return pool;
}

/* It is there already; so that it is gone again when this returns. */
static void refuse(const struct call *call, cu_pointer pointer, void *pool)
{
	fn_cuMemFreeAsync *release = call->family == DEVICE_LEGACY
					     ? REAL(cuMemFreeAsync)
					     : REAL(cuMemFreeAsync_ptsz);
	fn_cuStreamSynchronize *wait = call->family == DEVICE_LEGACY
					       ? REAL(cuStreamSynchronize)
					       : REAL(cuStreamSynchronize_ptsz);

	unsigned int mode = device_relax();

	if (release)
		(void)release(pointer, call->stream);
	if (wait)
		(void)wait(call->stream);
	pools_undo(pool);
	device_restore(mode);
}

static bool is_granted(const struct call *call, cu_pointer pointer)
{
	int ordinal = call->now.ordinal;
	void *pool = pool_of(pointer, &ordinal);

	if (!pool || pools_grow(pool, ordinal))
		return true;
	refuse(call, pointer, pool);
	return false;
}

static cu_result end(const struct call *call, cu_result result,
		     cu_pointer pointer)
{
	int saved = errno;
	bool by_cap = false;

	if (result == CU_SUCCESS && call->is_captured) {
		pools_add_graphs(call->now.ordinal);
	} else if (result == CU_SUCCESS && is_granted(call, pointer)) {
		ledger_allocation();
		ledger_granted(PRELOAD_CALL_ASYNC, call->bytes);
	} else if (result == CU_SUCCESS) {
		by_cap = true;
		result = CU_OUT_OF_MEMORY;
	}
	ledger_done();
	if (result == CU_OUT_OF_MEMORY)
		count_refused(PRELOAD_CALL_ASYNC,
			      call->now.context ? call->now.row
						: device_now().row,
			      call->bytes, by_cap);
	call_end();
	errno = saved;
	return result;
}

#define ASYNC_ALLOCATION(elf, family, parameters, arguments)                   \
	WRAPPER cu_result elf parameters                                       \
	{                                                                      \
		fn_##elf *real = REAL(elf);                                    \
		struct call call;                                              \
		cu_result result;                                              \
                                                                               \
		if (!real)                                                     \
			return CU_NOT_FOUND;                                   \
		if (!dptr || !pool_begin(&call, bytesize, h_stream, family))   \
			return real arguments;                                 \
		result = real arguments;                                       \
		return end(&call, result, result ? 0 : *dptr);                 \
	}

ASYNC_ALLOCATION(cuMemAllocAsync, DEVICE_LEGACY,
		 (cu_pointer * dptr, size_t bytesize, void *h_stream),
		 (dptr, bytesize, h_stream))
ASYNC_ALLOCATION(cuMemAllocAsync_ptsz, DEVICE_PER_THREAD,
		 (cu_pointer * dptr, size_t bytesize, void *h_stream),
		 (dptr, bytesize, h_stream))
ASYNC_ALLOCATION(cuMemAllocFromPoolAsync, DEVICE_LEGACY,
		 (cu_pointer * dptr, size_t bytesize, void *pool,
		  void *h_stream),
		 (dptr, bytesize, pool, h_stream))
ASYNC_ALLOCATION(cuMemAllocFromPoolAsync_ptsz, DEVICE_PER_THREAD,
		 (cu_pointer * dptr, size_t bytesize, void *pool,
		  void *h_stream),
		 (dptr, bytesize, pool, h_stream))

/* Linear memory may be freed in this way too. */
#define ASYNC_RELEASE(elf)                                                     \
	WRAPPER cu_result elf(cu_pointer dptr, void *h_stream)                 \
	{                                                                      \
		fn_##elf *real = REAL(elf);                                    \
		struct release release;                                        \
                                                                               \
		if (!real)                                                     \
			return CU_NOT_FOUND;                                   \
		if (!release_begin(&release, dptr))                            \
			return real(dptr, h_stream);                           \
		release.is_in_order = true;                                    \
		return release_end(&release, real(dptr, h_stream));            \
	}

ASYNC_RELEASE(cuMemFreeAsync)
ASYNC_RELEASE(cuMemFreeAsync_ptsz)

static enum pool_kind kind_of(unsigned int type, const struct location *where)
{
	if (type == ALLOCATION_MANAGED)
		return POOL_MANAGED;
	return where->type == LOCATION_DEVICE ? POOL_DEVICE : POOL_HOST;
}

static void add_pool(void *pool, unsigned int type,
		     const struct location *where)
{
	int ordinal = where->type == LOCATION_DEVICE ? where->id
						     : device_now().ordinal;

	if (pool)
		pools_add(pool, kind_of(type, where), ordinal);
}

WRAPPER cu_result cuMemPoolCreate(void **pool, const void *pool_props)
{
	fn_cuMemPoolCreate *real = REAL(cuMemPoolCreate);
	const struct pool_properties *properties = pool_props;
	cu_result result;

	if (!real)
		return CU_NOT_FOUND;
	if (!count_begin())
		return real(pool, pool_props);
	result = real(pool, pool_props);
	if (result == CU_SUCCESS && pool && properties)
		add_pool(*pool, properties->allocation_type,
			 &properties->location);
	count_result(PRELOAD_CALL_OTHER, COUNT_CURRENT, 0, result);
	call_end();
	return result;
}

#define POOL_QUESTION(elf)                                                     \
	WRAPPER cu_result elf(void **pool_out, void *location,                 \
			      unsigned int type)                               \
	{                                                                      \
		fn_##elf *real = REAL(elf);                                    \
		cu_result result;                                              \
                                                                               \
		if (!real)                                                     \
			return CU_NOT_FOUND;                                   \
		if (!count_begin())                                            \
			return real(pool_out, location, type);                 \
		result = real(pool_out, location, type);                       \
		if (result == CU_SUCCESS && pool_out && location)              \
			add_pool(*pool_out, type, location);                   \
		call_end();                                                    \
		return result;                                                 \
	}

POOL_QUESTION(cuMemGetDefaultMemPool)
POOL_QUESTION(cuMemGetMemPool)

WRAPPER cu_result cuMemPoolDestroy(void *pool)
{
	fn_cuMemPoolDestroy *real = REAL(cuMemPoolDestroy);
	struct table_entry gone;
	cu_result result;
	int saved;

	if (!real)
		return CU_NOT_FOUND;
	if (!count_begin())
		return real(pool);
	ledger_give_begin();
	pools_remove_begin(pool, &gone);
	result = real(pool);
	saved = errno;
	pools_remove_end(&gone, result == CU_SUCCESS);
	ledger_done();
	call_end();
	errno = saved;
	return result;
}

WRAPPER cu_result cuMemPoolTrimTo(void *pool, size_t min_bytes_to_keep)
{
	fn_cuMemPoolTrimTo *real = REAL(cuMemPoolTrimTo);
	cu_result result;

	if (!real)
		return CU_NOT_FOUND;
	if (!count_begin())
		return real(pool, min_bytes_to_keep);
	ledger_give_begin();
	result = real(pool, min_bytes_to_keep);
	if (result == CU_SUCCESS)
		pools_read();
	ledger_done();
	call_end();
	return result;
}

/* Pools are known by what is taken from them; others' count for others. */
WATCHED(cuDeviceGetDefaultMemPool, PRELOAD_CALL_OTHER,
	(void **pool_out, int dev), (pool_out, dev))
WATCHED(cuDeviceGetMemPool, PRELOAD_CALL_OTHER, (void **pool, int dev),
	(pool, dev))
WATCHED(cuDeviceSetMemPool, PRELOAD_CALL_OTHER, (int dev, void *pool),
	(dev, pool))
WATCHED(cuMemSetMemPool, PRELOAD_CALL_OTHER,
	(void *location, unsigned int type, void *pool), (location, type, pool))
WATCHED(cuMemPoolImportFromShareableHandle, PRELOAD_CALL_OTHER,
	(void **pool_out, void *handle, unsigned int handle_type,
	 unsigned long long flags),
	(pool_out, handle, handle_type, flags))
WATCHED(cuMemPoolImportPointer, PRELOAD_CALL_OTHER,
	(cu_pointer * ptr_out, void *pool, void *share_data),
	(ptr_out, pool, share_data))

/* NOLINTEND(readability-identifier-naming) */
