/* Wrappers of virtual memory: handles, mappings, and who frees at last. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/device.h"
#include "probes/preload/held.h"
#include "probes/preload/ledger/table.h"
#include "probes/preload/properties.h"
#include "probes/preload/wrap.h"

#include <errno.h>

/* NOLINTBEGIN(readability-identifier-naming): the names are the driver's. */

/*
 * Memory of cuMemCreate is free when its handle has no reference and no
 * mapping any more. What others exported has an unknown handle: nothing is
 * counted for it.
 */
static struct table handles;

/* From an address to its handle (owner) and size. */
static struct table mappings;
enum mapping_state {
	MAPPED,
	UNMAPPING, /* a call is under way */
};

/* A handle may be any number. */
static uint64_t key_of(unsigned long long handle)
{
	return handle > UINT64_MAX - TABLE_KEYS_RESERVED
		       ? 0
		       : handle + TABLE_KEYS_RESERVED;
}

static void virtual_give(const struct table_entry *entry)
{
	held_change((enum held_kind)entry->kind, entry->device,
		    -(int64_t)entry->bytes);
}

static void virtual_remember(struct held_request *request,
			     unsigned long long handle)
{
	struct table_entry before = { 0 };
	struct table_entry *place;

	table_lock(&handles);
	place = table_add(&handles, key_of(handle));
	if (place) {
		before = *place;
		place->bytes = request->bytes;
		place->device = request->device;
		place->kind = request->kind;
		place->refs = 1;
		place->maps = 0;
	}
	table_unlock(&handles);
	if (before.bytes)
		virtual_give(&before);
	if (place)
		return;
	held_is_crowded();
	ledger_untake(request->device, request->bytes);
	request->bytes = 0;
}

/* References and mappings more or less; true: none is left, *gone is it. */
static bool change(uint64_t key, int refs, int maps, struct table_entry *gone)
{
	struct table_entry *entry;
	bool is_gone = false;

	table_lock(&handles);
	entry = table_find(&handles, key);
	if (entry) {
		entry->refs += (uint32_t)refs;
		entry->maps += (uint32_t)maps;
		is_gone = !entry->refs && !entry->maps;
	}
	if (is_gone) {
		*gone = *entry;
		table_remove(&handles, entry);
	}
	table_unlock(&handles);
	return is_gone;
}

static void unmap(uint64_t handle_key)
{
	struct table_entry gone;

	if (change(handle_key, 0, -1, &gone))
		virtual_give(&gone);
}

WRAPPER cu_result cuMemCreate(unsigned long long *handle, size_t size,
			      const void *prop, unsigned long long flags)
{
	fn_cuMemCreate *real = REAL(cuMemCreate);
	const struct pool_properties *properties = prop;
	cu_result result = CU_OUT_OF_MEMORY;
	struct held_request request;
	bool is_device;

	if (!real)
		return CU_NOT_FOUND;
	is_device = properties && properties->location.type == LOCATION_DEVICE;
	if (!handle || !properties ||
	    !request_begin_at(&request,
			      is_device ? PRELOAD_CALL_VIRTUAL
					: PRELOAD_CALL_HOST,
			      -1, size))
		return real(handle, size, prop, flags);
	if (is_device)
		request.device = device_row(properties->location.id);
	if (request_is_allowed(&request))
		result = real(handle, size, prop, flags);
	if (result == CU_SUCCESS)
		virtual_remember(&request, *handle);
	return request_end(&request, result, 0);
}

/* Before the call, for after it the handle may be another thread's. */
static void restore(uint64_t key, const struct table_entry *gone)
{
	struct table_entry *place;

	table_lock(&handles);
	place = table_add(&handles, key);
	if (place && gone)
		*place = *gone;
	if (place)
		place->refs++;
	else
		held_is_crowded();
	table_unlock(&handles);
}

WRAPPER cu_result cuMemRelease(unsigned long long handle)
{
	fn_cuMemRelease *real = REAL(cuMemRelease);
	struct table_entry gone;
	cu_result result;
	bool is_known, is_gone;
	int saved;

	if (!real)
		return CU_NOT_FOUND;
	if (!count_begin())
		return real(handle);
	ledger_give_begin();
	table_lock(&handles);
	is_known = table_find(&handles, key_of(handle));
	table_unlock(&handles);
	is_gone = is_known && change(key_of(handle), -1, 0, &gone);
	result = real(handle);
	saved = errno;
	if (result == CU_SUCCESS) {
		ledger_free();
		if (is_gone)
			virtual_give(&gone);
	} else if (is_known) {
		restore(key_of(handle), is_gone ? &gone : NULL);
	}
	ledger_done();
	call_end();
	errno = saved;
	return result;
}

/* Here another mapping must have been, and have gone unseen. */
static void virtual_note_mapping(cu_pointer address, size_t size,
				 uint64_t handle_key)
{
	struct table_entry before = { 0 };
	struct table_entry *place;

	table_lock(&mappings);
	place = table_add(&mappings, address);
	if (place) {
		before = *place;
		place->bytes = size;
		place->owner = handle_key;
		place->kind = MAPPED;
	}
	table_unlock(&mappings);
	if (before.owner)
		unmap(before.owner);
	if (place)
		return;
	held_is_crowded();
	unmap(handle_key);
}

WRAPPER cu_result cuMemMap(cu_pointer ptr, size_t size, size_t offset,
			   unsigned long long handle, unsigned long long flags)
{
	fn_cuMemMap *real = REAL(cuMemMap);
	struct table_entry gone;
	cu_result result;
	int saved;

	if (!real)
		return CU_NOT_FOUND;
	if (!count_begin())
		return real(ptr, size, offset, handle, flags);
	ledger_give_begin();
	(void)change(key_of(handle), 0, 1, &gone);
	result = real(ptr, size, offset, handle, flags);
	saved = errno;
	if (result == CU_SUCCESS)
		virtual_note_mapping(ptr, size, key_of(handle));
	else
		unmap(key_of(handle));
	ledger_done();
	count_result(PRELOAD_CALL_VIRTUAL, COUNT_CURRENT, size, result);
	call_end();
	errno = saved;
	return result;
}

/* One call may end several mappings that lie side by side. */
static void virtual_mark(cu_pointer address, size_t size,
			 enum mapping_state state)
{
	cu_pointer end = address + size;
	struct table_entry *entry;

	table_lock(&mappings);
	while (address < end && (entry = table_find(&mappings, address))) {
		entry->kind = state;
		address += entry->bytes;
	}
	table_unlock(&mappings);
}

/* Those that are still marked: another thread may have mapped anew. */
static void virtual_forget(cu_pointer address, size_t size)
{
	cu_pointer end = address + size;
	struct table_entry *entry;

	table_lock(&mappings);
	while (address < end && (entry = table_find(&mappings, address))) {
		address += entry->bytes;
		if (entry->kind != UNMAPPING)
			continue;
		unmap(entry->owner);
		table_remove(&mappings, entry);
	}
	table_unlock(&mappings);
}

WRAPPER cu_result cuMemUnmap(cu_pointer ptr, size_t size)
{
	fn_cuMemUnmap *real = REAL(cuMemUnmap);
	cu_result result;
	int saved;

	if (!real)
		return CU_NOT_FOUND;
	if (!count_begin())
		return real(ptr, size);
	ledger_give_begin();
	virtual_mark(ptr, size, UNMAPPING);
	result = real(ptr, size);
	saved = errno;
	if (result == CU_SUCCESS)
		virtual_forget(ptr, size);
	else
		virtual_mark(ptr, size, MAPPED);
	ledger_done();
	call_end();
	errno = saved;
	return result;
}

/* A handle that is known already got one more reference. */
#define VIRTUAL_REFERENCE(elf, parameters, arguments)                          \
	WRAPPER cu_result elf parameters                                       \
	{                                                                      \
		fn_##elf *real = REAL(elf);                                    \
		struct table_entry gone;                                       \
		cu_result result;                                              \
                                                                               \
		if (!real)                                                     \
			return CU_NOT_FOUND;                                   \
		if (!count_begin())                                            \
			return real arguments;                                 \
		result = real arguments;                                       \
		if (result == CU_SUCCESS && handle)                            \
			(void)change(key_of(*handle), 1, 0, &gone);            \
		count_result(PRELOAD_CALL_VIRTUAL, COUNT_CURRENT, 0, result);  \
		call_end();                                                    \
		return result;                                                 \
	}

VIRTUAL_REFERENCE(cuMemRetainAllocationHandle,
		  (unsigned long long *handle, void *addr), (handle, addr))
VIRTUAL_REFERENCE(cuMemImportFromShareableHandle,
		  (unsigned long long *handle, void *os_handle,
		   unsigned int sh_handle_type),
		  (handle, os_handle, sh_handle_type))

/* Sparse arrays hold handles in a way that is not followed. */
#define VIRTUAL_ARRAY(elf)                                                     \
	WRAPPER cu_result elf(void *map_info_list, unsigned int count,         \
			      void *h_stream)                                  \
	{                                                                      \
		fn_##elf *real = REAL(elf);                                    \
		cu_result result;                                              \
                                                                               \
		if (!real)                                                     \
			return CU_NOT_FOUND;                                   \
		if (!count_begin())                                            \
			return real(map_info_list, count, h_stream);           \
		result = real(map_info_list, count, h_stream);                 \
		if (result == CU_SUCCESS)                                      \
			held_is_crowded();                                     \
		count_result(PRELOAD_CALL_VIRTUAL, COUNT_CURRENT, 0, result);  \
		call_end();                                                    \
		return result;                                                 \
	}

VIRTUAL_ARRAY(cuMemMapArrayAsync)
VIRTUAL_ARRAY(cuMemMapArrayAsync_ptsz)

WATCHED(cuMemAddressReserve, PRELOAD_CALL_VIRTUAL,
	(cu_pointer * ptr, size_t size, size_t alignment, cu_pointer addr,
	 unsigned long long flags),
	(ptr, size, alignment, addr, flags))
WATCHED(cuMemSetAccess, PRELOAD_CALL_VIRTUAL,
	(cu_pointer ptr, size_t size, const void *desc, size_t count),
	(ptr, size, desc, count))
WATCHED(cuMulticastCreate, PRELOAD_CALL_VIRTUAL,
	(unsigned long long *mc_handle, const void *prop), (mc_handle, prop))

/* NOLINTEND(readability-identifier-naming) */
