/* A table of the allocations of this process: open addressing. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/ledger/table.h"

#include "probes/preload/ledger/raw.h"

#include <errno.h>
#include <sched.h>

#define KEY_FREE 0
#define KEY_DEAD 1 /* was removed: a search goes on behind it */

/* Rows of 40 bytes: one page of most systems. */
#define CAPACITY_MIN 64

/*
 * Of this process: a lock taken in another generation was taken by a thread
 * that did not come along through the fork.
 */
static uint32_t generation = 1;

void table_forget_all(void)
{
	__atomic_add_fetch(&generation, 1, __ATOMIC_SEQ_CST);
}

void table_lock(struct table *table)
{
	uint32_t mine = __atomic_load_n(&generation, __ATOMIC_RELAXED);
	uint32_t holder = 0;

	while (!__atomic_compare_exchange_n(&table->lock, &holder, mine, false,
					    __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		if (holder == mine) {
			holder = 0;
			(void)sched_yield();
		}
	}
	if (table->generation == mine)
		return;
	/* What the parent mapped stays: it may have been growing just then. */
	table->rows = NULL;
	table->capacity = table->live = table->dead = 0;
	table->generation = mine;
}

void table_unlock(struct table *table)
{
	__atomic_store_n(&table->lock, 0, __ATOMIC_RELEASE);
}

static bool is_reserved(uint64_t key)
{
	return key < TABLE_KEYS_RESERVED;
}

/* Pointers are multiples of much: multiply, and take the upper bits. */
static size_t table_place_of(const struct table *table, uint64_t key)
{
	uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(hash >> 32) & (table->capacity - 1);
}

struct table_entry *table_find(struct table *table, uint64_t key)
{
	size_t place;

	if (!table->capacity || is_reserved(key))
		return NULL;
	place = table_place_of(table, key);
	/* Ends: an eighth of the rows at least is free. */
	while (table->rows[place].key != KEY_FREE) {
		if (table->rows[place].key == key)
			return &table->rows[place];
		place = (place + 1) & (table->capacity - 1);
	}
	return NULL;
}

/* Where a key that is not there goes: the first row that is not live. */
static struct table_entry *place_for(const struct table *table, uint64_t key)
{
	size_t place = table_place_of(table, key);

	while (!is_reserved(table->rows[place].key))
		place = (place + 1) & (table->capacity - 1);
	return &table->rows[place];
}

static bool is_crowded(const struct table *table)
{
	return (table->live + table->dead + 1) * 8 > table->capacity * 7;
}

/* Into new rows without the dead ones: more of them, if they are needed. */
static bool rebuild(struct table *table)
{
	struct table old = *table;
	size_t capacity = old.capacity ? old.capacity : CAPACITY_MIN;

	if (old.live * 2 >= capacity)
		capacity *= 2;
	table->rows = raw_map(-1, capacity * sizeof(*table->rows));
	if (!table->rows) {
		table->rows = old.rows;
		return false;
	}
	table->capacity = capacity;
	table->dead = 0;
	for (size_t i = 0; i < old.capacity; i++) {
		if (!is_reserved(old.rows[i].key))
			*place_for(table, old.rows[i].key) = old.rows[i];
	}
	if (old.rows)
		raw_unmap(old.rows, old.capacity * sizeof(*old.rows));
	return true;
}

struct table_entry *table_add(struct table *table, uint64_t key)
{
	struct table_entry *entry = table_find(table, key);
	int saved = errno;
	bool has_room;

	if (entry || is_reserved(key))
		return entry;
	has_room = !is_crowded(table) || rebuild(table);
	errno = saved;
	if (!has_room)
		return NULL;
	entry = place_for(table, key);
	if (entry->key == KEY_DEAD)
		table->dead--;
	table->live++;
	*entry = (struct table_entry){ .key = key };
	return entry;
}

void table_remove(struct table *table, struct table_entry *entry)
{
	size_t next = (size_t)(entry - table->rows + 1) & (table->capacity - 1);

	table->live--;
	/* Before a free row no search comes by here to go on. */
	if (table->rows[next].key == KEY_FREE) {
		entry->key = KEY_FREE;
	} else {
		entry->key = KEY_DEAD;
		table->dead++;
	}
}

struct table_entry *table_next(struct table *table, size_t *position)
{
	while (*position < table->capacity) {
		struct table_entry *entry = &table->rows[(*position)++];

		if (!is_reserved(entry->key))
			return entry;
	}
	return NULL;
}
