/* What pools and graphs hold from the driver: asked after each call. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/pools.h"

#include "probes/preload/cap.h"
#include "probes/preload/device.h"
#include "probes/preload/held.h"
#include "probes/preload/ledger.h"
#include "probes/preload/lookup.h"
#include "probes/preload/table.h"
#include "probes/preload/wrap.h"

#include <errno.h>

/* As cuda.h numbers them. */
#define POOL_RESERVED_CURRENT 5
#define GRAPH_RESERVED_CURRENT 2

/* No handle is so low. */
#define GRAPH_KEY(ordinal) ((uint64_t)(ordinal) + TABLE_KEYS_RESERVED)

typedef cu_result pool_attribute_fn(void *pool, unsigned int attribute,
				    void *value);
typedef cu_result graph_attribute_fn(int device, unsigned int attribute,
				     void *value);

/* Key: the pool; owner: the ordinal; bytes: what it held when last asked. */
static struct table pools;
/* So that who has none pays nothing. */
static uint32_t pool_count, graph_count;

static bool read_pool(void *pool, uint64_t *bytes)
{
	static void *place;
	void *found = lookup_once(&place, "cuMemPoolGetAttribute");

	return found && (__extension__(pool_attribute_fn *)
				 found)(pool, POOL_RESERVED_CURRENT, bytes) ==
				CU_SUCCESS;
}

static bool read_graphs(int ordinal, uint64_t *bytes)
{
	static void *place;
	void *found = lookup_once(&place, "cuDeviceGetGraphMemAttribute");

	return found && (__extension__(graph_attribute_fn *)
				 found)(ordinal, GRAPH_RESERVED_CURRENT,
					bytes) == CU_SUCCESS;
}

/* What cannot be asked counts as unchanged. */
static uint64_t bytes_now(const struct table_entry *entry)
{
	uint64_t bytes = 0;
	bool is_told;

	if (entry->kind == POOL_GRAPHS)
		is_told = read_graphs((int)entry->owner, &bytes);
	else
		/* NOLINTNEXTLINE(performance-no-int-to-ptr): it was one */
		is_told = read_pool((void *)(uintptr_t)entry->key, &bytes);
	return is_told && bytes <= INT64_MAX ? bytes : entry->bytes;
}

static void set_bytes(struct table_entry *entry, uint64_t now)
{
	int64_t more = (int64_t)(now - entry->bytes);

	if (entry->kind == POOL_MANAGED)
		held_change(HELD_MANAGED, entry->device, more);
	else if (entry->kind == POOL_HOST)
		held_change(HELD_HOST, -1, more);
	else
		ledger_pool(entry->device, entry->bytes, now);
	entry->bytes = now;
}

static struct table_entry *add(uint64_t key, enum pool_kind kind, int ordinal)
{
	struct table_entry *entry = table_find(&pools, key);

	if (entry)
		return entry;
	entry = table_add(&pools, key);
	if (!entry) {
		held_is_crowded();
		return NULL;
	}
	entry->kind = kind;
	entry->owner = (uint64_t)ordinal;
	entry->device = kind == POOL_HOST ? -1 : device_row(ordinal);
	__atomic_add_fetch(kind == POOL_GRAPHS ? &graph_count : &pool_count, 1,
			   __ATOMIC_RELAXED);
	return entry;
}

void pools_add(void *pool, enum pool_kind kind, int ordinal)
{
	table_lock(&pools);
	(void)add((uint64_t)(uintptr_t)pool, kind, ordinal);
	table_unlock(&pools);
}

void pools_add_graphs(int ordinal)
{
	if (ordinal < 0)
		return;
	table_lock(&pools);
	(void)add(GRAPH_KEY(ordinal), POOL_GRAPHS, ordinal);
	table_unlock(&pools);
}

bool pools_have_graphs(void)
{
	return __atomic_load_n(&graph_count, __ATOMIC_RELAXED) > 0;
}

void pools_read(void)
{
	struct table_entry *entry;
	size_t position = 0;
	int saved = errno;

	if (!__atomic_load_n(&pool_count, __ATOMIC_RELAXED) &&
	    !pools_have_graphs())
		return;
	ledger_give_begin();
	table_lock(&pools);
	while ((entry = table_next(&pools, &position)))
		set_bytes(entry, bytes_now(entry));
	table_unlock(&pools);
	ledger_done();
	errno = saved;
}

static bool fits(const struct table_entry *entry, uint64_t now)
{
	return entry->kind == POOL_MANAGED || entry->kind == POOL_HOST ||
	       !ledger_cap(entry->device) || now <= entry->bytes ||
	       now - entry->bytes <= ledger_room(entry->device);
}

static bool grow(uint64_t key, enum pool_kind kind, int ordinal)
{
	struct table_entry *entry;
	int saved = errno;
	bool is_allowed = true;

	ledger_give_begin();
	table_lock(&pools);
	entry = add(key, kind, ordinal);
	if (entry) {
		uint64_t now = bytes_now(entry);

		is_allowed = fits(entry, now);
		if (is_allowed)
			set_bytes(entry, now);
	}
	table_unlock(&pools);
	ledger_done();
	errno = saved;
	return is_allowed;
}

bool pools_grow(void *pool, int ordinal)
{
	return grow((uint64_t)(uintptr_t)pool, POOL_DEVICE, ordinal);
}

bool pools_grow_graphs(int ordinal)
{
	return ordinal < 0 || grow(GRAPH_KEY(ordinal), POOL_GRAPHS, ordinal);
}

/* To what it held before: the rest of it may be of use to the program. */
void pools_undo(void *pool)
{
	fn_cuMemPoolTrimTo *trim = REAL(cuMemPoolTrimTo);
	const struct table_entry *entry;
	uint64_t before;

	table_lock(&pools);
	entry = table_find(&pools, (uint64_t)(uintptr_t)pool);
	before = entry ? entry->bytes : 0;
	table_unlock(&pools);
	if (trim)
		(void)trim(pool, before);
	pools_read();
}

void pools_undo_graphs(int ordinal)
{
	fn_cuDeviceGraphMemTrim *trim = REAL(cuDeviceGraphMemTrim);

	if (trim)
		(void)trim(ordinal);
	pools_read();
}

void pools_remove(void *pool)
{
	struct table_entry *entry;
	int saved = errno;

	ledger_give_begin();
	table_lock(&pools);
	entry = table_find(&pools, (uint64_t)(uintptr_t)pool);
	if (entry) {
		set_bytes(entry, 0);
		table_remove(&pools, entry);
		__atomic_sub_fetch(&pool_count, 1, __ATOMIC_RELAXED);
	}
	table_unlock(&pools);
	ledger_done();
	errno = saved;
}
