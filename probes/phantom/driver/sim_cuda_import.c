/* Memory that others pay for: external, of another process, of its pools. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_pool.h"
#include "probes/phantom/device/sim_share.h"

#include <unistd.h>

/* NOLINTBEGIN(readability-identifier-naming): the driver's names */

struct external_description {
	int type;
	union {
		int fd;
		struct {
			void *handle;
			const void *name;
		} other;
	} handle;
	unsigned long long bytes;
	unsigned int flags;
	unsigned int reserved[16];
};

struct buffer_description {
	unsigned long long offset, bytes;
	unsigned int flags;
	unsigned int reserved[16];
};

struct external {
	struct sim_object object;
	uint64_t bytes;
};

struct ipc_handle {
	char bytes[SIM_SHARED_BYTES];
};

EXPORT int cuImportExternalMemory(void **handle,
				  const struct external_description *what)
{
	struct sim_context *context = NULL;
	struct external *external;
	int result = sim_enter_context(&context);

	if (result)
		return result;
	if (!handle || !what || !what->bytes)
		return sim_leave(INVALID_VALUE);
	external = sim_object_make(SIM_EXTERNAL, sizeof(*external), context);
	if (!external)
		return sim_leave(OUT_OF_MEMORY);
	external->bytes = what->bytes;
	*handle = external;
	return sim_leave(OK);
}

/* An address of its own, without a charge. */
static int import_import(struct sim_context *context, uint64_t bytes,
			 uint64_t *pointer)
{
	struct sim_block *block = sim_block_make(SIM_IMPORTED, bytes, context);

	if (!block)
		return OUT_OF_MEMORY;
	*pointer = block->address;
	return OK;
}

EXPORT int
cuExternalMemoryGetMappedBuffer(uint64_t *pointer, const void *handle,
				const struct buffer_description *what)
{
	struct sim_context *context = NULL;
	const struct external *external;
	int result = sim_enter_context(&context);

	if (result)
		return result;
	external = sim_object_find(handle, SIM_EXTERNAL);
	if (!external)
		return sim_leave(INVALID_HANDLE);
	if (!pointer || !what || !what->bytes ||
	    what->bytes > external->bytes ||
	    what->offset > external->bytes - what->bytes)
		return sim_leave(INVALID_VALUE);
	return sim_leave(import_import(context, what->bytes, pointer));
}

EXPORT int cuDestroyExternalMemory(const void *handle)
{
	struct external *external;
	int result = sim_enter();

	if (result)
		return result;
	external = sim_object_find(handle, SIM_EXTERNAL);
	if (!external)
		return sim_leave(INVALID_HANDLE);
	sim_object_free(external);
	return sim_leave(OK);
}

EXPORT int cuIpcGetMemHandle(struct ipc_handle *handle, uint64_t pointer)
{
	const struct sim_block *block;
	struct sim_shared what = { .kind = SIM_SHARED_POINTER };
	int result = sim_enter();

	if (result)
		return result;
	block = sim_block_find(pointer);
	if (!handle || !block || block->kind != SIM_LINEAR)
		return sim_leave(INVALID_VALUE);
	what.bytes = block->asked_bytes;
	what.address = block->address;
	what.device = block->device;
	sim_share_bytes(handle, &what);
	return sim_leave(OK);
}

EXPORT int cuIpcOpenMemHandle_v2(uint64_t *pointer, struct ipc_handle handle,
				 unsigned int flags)
{
	struct sim_context *context = NULL;
	struct sim_shared what = { .kind = SIM_SHARED_POINTER };
	int result = sim_enter_context(&context);

	if (result)
		return result;
	if (!pointer || flags > 1 || !sim_take_bytes(&handle, &what))
		return sim_leave(INVALID_VALUE);
	if (what.pid == getpid()) /* not one's own */
		return sim_leave(INVALID_CONTEXT);
	return sim_leave(import_import(context, what.bytes, pointer));
}

SIM_TWIN(cuIpcOpenMemHandle, cuIpcOpenMemHandle_v2,
	 (uint64_t * pointer, struct ipc_handle handle, unsigned int flags),
	 (pointer, handle, flags))

EXPORT int cuIpcCloseMemHandle(uint64_t pointer)
{
	struct sim_block *block;
	int result = sim_enter();

	if (result)
		return result;
	block = sim_block_at(pointer, SIM_IMPORTED);
	if (!block)
		return sim_leave(INVALID_VALUE);
	sim_block_free(block);
	return sim_leave(OK);
}

EXPORT int cuMemPoolExportToShareableHandle(void *shared, const void *handle,
					    int type, uint64_t flags)
{
	const struct sim_pool *pool;
	struct sim_shared what = { .kind = SIM_POOL };
	int result = sim_enter();

	if (result)
		return result;
	pool = sim_object_find(handle, SIM_POOL);
	if (!shared || !pool || flags)
		return sim_leave(INVALID_VALUE);
	what.device = pool->device;
	return sim_leave(sim_share(shared, type, &what));
}

EXPORT int cuMemPoolImportFromShareableHandle(void **handle, const void *shared,
					      int type, uint64_t flags)
{
	struct sim_shared what = { .kind = SIM_POOL };
	struct sim_pool *pool;
	int result = sim_enter();

	if (result)
		return result;
	if (!handle || flags)
		return sim_leave(INVALID_VALUE);
	result = sim_take_shared(shared, type, &what);
	if (result)
		return sim_leave(result);
	pool = sim_pool_make(what.device, false);
	*handle = pool;
	return sim_leave(pool ? OK : OUT_OF_MEMORY);
}

EXPORT int cuMemPoolExportPointer(void *shared, uint64_t pointer)
{
	const struct sim_block *block;
	struct sim_shared what = { .kind = SIM_SHARED_POINTER };
	int result = sim_enter();

	if (result)
		return result;
	block = sim_block_find(pointer);
	if (!shared || !block || block->kind != SIM_POOLED)
		return sim_leave(INVALID_VALUE);
	what.bytes = block->asked_bytes;
	sim_share_bytes(shared, &what);
	return sim_leave(OK);
}

EXPORT int cuMemPoolImportPointer(uint64_t *pointer, const void *handle,
				  const void *shared)
{
	struct sim_context *context = NULL;
	struct sim_shared what = { .kind = SIM_SHARED_POINTER };
	int result = sim_enter_context(&context);

	if (result)
		return result;
	if (!pointer || !shared || !sim_object_find(handle, SIM_POOL) ||
	    !sim_take_bytes(shared, &what))
		return sim_leave(INVALID_VALUE);
	return sim_leave(import_import(context, what.bytes, pointer));
}

const struct sim_export sim_import_exports[] = {
	SIM_SAME(cuImportExternalMemory, 10000),
	SIM_SAME(cuExternalMemoryGetMappedBuffer, 10000),
	SIM_SAME(cuDestroyExternalMemory, 10000),
	SIM_SAME(cuIpcGetMemHandle, 4010),
	SIM_SAME(cuIpcOpenMemHandle, 4010),
	SIM_ROW(cuIpcOpenMemHandle_v2, "cuIpcOpenMemHandle", 11000),
	SIM_SAME(cuIpcCloseMemHandle, 4010),
	SIM_SAME(cuMemPoolExportToShareableHandle, 11020),
	SIM_SAME(cuMemPoolImportFromShareableHandle, 11020),
	SIM_SAME(cuMemPoolExportPointer, 11020),
	SIM_SAME(cuMemPoolImportPointer, 11020),
	SIM_END,
};

/* NOLINTEND(readability-identifier-naming) */
