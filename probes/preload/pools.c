/* Memory of pools and graphs: the driver is asked after each call. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/pools.h"

#include "probes/preload/cap.h"
#include "probes/preload/device.h"
#include "probes/preload/held.h"
#include "probes/preload/ledger/ledger.h"
#include "probes/preload/ledger/table.h"
#include "probes/preload/lookup.h"
#include "probes/preload/wrap.h"

#include <errno.h>
#include <sched.h>

/* As cuda.h numbers them. */
#define POOL_RESERVED_CURRENT 5
#define GRAPH_RESERVED_CURRENT 2

/* No handle is so low. */
#define GRAPH_KEY(ordinal) ((uint64_t)(ordinal) + TABLE_KEYS_RESERVED)

typedef cu_result pool_attribute_fn(void *pool, unsigned int attribute,
				    void *value);
typedef cu_result graph_attribute_fn(int device, unsigned int attribute,
				     void *value);

/* How often one is asked anew while others ask for it too. */
#define ASK_TRIES 8

/*
 * Key: the pool; owner: the ordinal; bytes: what it held when last asked; refs:
 * threads that ask just now; maps: how often bytes was set. No question is
 * asked with the lock held: the driver may let it wait for work that another
 * thread has yet to launch.
 */
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
	unsigned int mode = device_relax();
	uint64_t bytes = 0;
	bool is_told;

	if (entry->kind == POOL_GRAPHS)
		is_told = read_graphs((int)entry->owner, &bytes);
	else
		/* NOLINTNEXTLINE(performance-no-int-to-ptr): it was one */
		is_told = read_pool((void *)(uintptr_t)entry->key, &bytes);
	device_restore(mode);
	return is_told && bytes <= INT64_MAX ? bytes : entry->bytes;
}

static void pools_set_bytes(struct table_entry *entry, uint64_t now)
{
	int64_t more = (int64_t)(now - entry->bytes);

	if (entry->kind == POOL_MANAGED)
		held_change(HELD_MANAGED, entry->device, more);
	else if (entry->kind == POOL_HOST)
		held_change(HELD_HOST, -1, more);
	else
		ledger_pool(entry->device, entry->bytes, now);
	entry->bytes = now;
	entry->maps++;
}

static void pools_note(uint64_t key, enum pool_kind kind, int ordinal)
{
	int row = kind == POOL_HOST ? -1 : device_row(ordinal);
	struct table_entry *entry;
	bool is_known;

	table_lock(&pools);
	is_known = table_find(&pools, key);
	entry = is_known ? NULL : table_add(&pools, key);
	if (entry) {
		entry->kind = kind;
		entry->owner = (uint64_t)ordinal;
		entry->device = row;
		__atomic_add_fetch(kind == POOL_GRAPHS ? &graph_count
						       : &pool_count,
				   1, __ATOMIC_RELAXED);
	}
	table_unlock(&pools);
	if (!entry && !is_known)
		held_is_crowded();
}

void pools_add(void *pool, enum pool_kind kind, int ordinal)
{
	pools_note((uint64_t)(uintptr_t)pool, kind, ordinal);
}

void pools_add_graphs(int ordinal)
{
	if (ordinal >= 0)
		pools_note(GRAPH_KEY(ordinal), POOL_GRAPHS, ordinal);
}

bool pools_have_graphs(void)
{
	return __atomic_load_n(&graph_count, __ATOMIC_RELAXED) > 0;
}

static bool fits(const struct table_entry *entry, uint64_t now)
{
	return entry->kind == POOL_MANAGED || entry->kind == POOL_HOST ||
	       !ledger_cap(entry->device) || now <= entry->bytes ||
	       now - entry->bytes <= ledger_room(entry->device);
}

/* A row that somebody asks for is not removed. */
static bool begin_question(uint64_t key, struct table_entry *asked)
{
	struct table_entry *entry;

	table_lock(&pools);
	entry = table_find(&pools, key);
	if (entry) {
		entry->refs++;
		*asked = *entry;
	}
	table_unlock(&pools);
	return entry;
}

enum pools_answer {
	ANSWER_TAKEN,
	ANSWER_REFUSED,
	ANSWER_OLD, /* another one came in between */
};

static enum pools_answer end_question(const struct table_entry *asked,
				      uint64_t now, bool is_limited)
{
	enum pools_answer answer = ANSWER_OLD;
	struct table_entry *entry;

	table_lock(&pools);
	entry = table_find(&pools, asked->key);
	if (entry) {
		entry->refs--;
		if (entry->maps == asked->maps)
			answer = is_limited && !fits(entry, now)
					 ? ANSWER_REFUSED
					 : ANSWER_TAKEN;
		if (answer == ANSWER_TAKEN)
			pools_set_bytes(entry, now);
	}
	table_unlock(&pools);
	return answer;
}

/* False: it is limited by the cap, and holds too much. */
static bool pools_ask(uint64_t key, bool is_limited)
{
	struct table_entry asked;
	enum pools_answer answer = ANSWER_OLD;
	int i;

	for (i = 0; i < ASK_TRIES && answer == ANSWER_OLD; i++) {
		if (!begin_question(key, &asked))
			return true;
		answer = end_question(&asked, bytes_now(&asked), is_limited);
	}
	return answer != ANSWER_REFUSED;
}

/* The key of the next row; 0: no more. */
static uint64_t next_key(size_t *position)
{
	const struct table_entry *entry;
	uint64_t key;

	table_lock(&pools);
	entry = table_next(&pools, position);
	key = entry ? entry->key : 0;
	table_unlock(&pools);
	return key;
}

void pools_read(void)
{
	size_t position = 0;
	int saved = errno;
	uint64_t key;

	if (!__atomic_load_n(&pool_count, __ATOMIC_RELAXED) &&
	    !pools_have_graphs())
		return;
	ledger_give_begin();
	while ((key = next_key(&position)))
		(void)pools_ask(key, false);
	ledger_done();
	errno = saved;
}

static bool pools_make_room(uint64_t key, enum pool_kind kind, int ordinal)
{
	int saved = errno;
	bool is_allowed;

	ledger_give_begin();
	pools_note(key, kind, ordinal);
	is_allowed = pools_ask(key, true);
	ledger_done();
	errno = saved;
	return is_allowed;
}

bool pools_grow(void *pool, int ordinal)
{
	return pools_make_room((uint64_t)(uintptr_t)pool, POOL_DEVICE, ordinal);
}

bool pools_grow_graphs(int ordinal)
{
	return ordinal < 0 ||
	       pools_make_room(GRAPH_KEY(ordinal), POOL_GRAPHS, ordinal);
}

/* To what it held before: the rest of it may be of use to the program. */
void pools_undo(void *pool)
{
	fn_cuMemPoolTrimTo *trim = REAL(cuMemPoolTrimTo);
	const struct table_entry *entry;
	unsigned int mode = device_relax();
	uint64_t before;

	table_lock(&pools);
	entry = table_find(&pools, (uint64_t)(uintptr_t)pool);
	before = entry ? entry->bytes : 0;
	table_unlock(&pools);
	if (trim)
		(void)trim(pool, before);
	device_restore(mode);
	pools_read();
}

void pools_undo_graphs(int ordinal)
{
	fn_cuDeviceGraphMemTrim *trim = REAL(cuDeviceGraphMemTrim);
	unsigned int mode = device_relax();

	if (trim)
		(void)trim(ordinal);
	device_restore(mode);
	pools_read();
}

void pools_remove_begin(void *pool, struct table_entry *gone)
{
	uint64_t key = (uint64_t)(uintptr_t)pool;
	struct table_entry *entry;

	*gone = (struct table_entry){ 0 };
	table_lock(&pools);
	while ((entry = table_find(&pools, key)) && entry->refs) {
		table_unlock(&pools);
		(void)sched_yield();
		table_lock(&pools);
	}
	if (entry) {
		*gone = *entry;
		table_remove(&pools, entry);
	}
	table_unlock(&pools);
}

static void put_back(const struct table_entry *gone)
{
	struct table_entry *entry;

	table_lock(&pools);
	entry = table_add(&pools, gone->key);
	if (entry)
		*entry = *gone;
	table_unlock(&pools);
	if (!entry)
		held_is_crowded();
}

void pools_remove_end(const struct table_entry *gone, bool is_gone)
{
	struct table_entry entry = *gone;
	int saved = errno;

	if (!gone->key)
		return;
	if (is_gone) {
		pools_set_bytes(&entry, 0);
		__atomic_sub_fetch(&pool_count, 1, __ATOMIC_RELAXED);
	} else {
		put_back(gone);
	}
	errno = saved;
}
