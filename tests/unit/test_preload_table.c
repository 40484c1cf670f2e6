/* The preload library's map of pointers: against a plain list, and at odds. */
/* SPDX-License-Identifier: MIT */
/* USES probes */
#include "probes/preload/ledger/table.h"

/* The library is a program of its own and no room that a test could link. */
#include "probes/preload/ledger/table.c" /* NOLINT(bugprone-suspicious-include) */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>

#include <pthread.h>

#define MODEL_KEYS 600

static void put(struct table *table, uint64_t key, uint64_t bytes)
{
	struct table_entry *entry;

	table_lock(table);
	entry = table_add(table, key);
	if (entry)
		entry->bytes = bytes;
	table_unlock(table);
	assert_non_null(entry);
}

/* The bytes of a key, 0: it is not there. */
static uint64_t get(struct table *table, uint64_t key)
{
	const struct table_entry *entry;
	uint64_t bytes;

	table_lock(table);
	entry = table_find(table, key);
	bytes = entry ? entry->bytes : 0;
	table_unlock(table);
	return bytes;
}

static uint64_t take(struct table *table, uint64_t key)
{
	struct table_entry *entry;
	uint64_t bytes = 0;

	table_lock(table);
	entry = table_find(table, key);
	if (entry) {
		bytes = entry->bytes;
		table_remove(table, entry);
	}
	table_unlock(table);
	return bytes;
}

static void release(struct table *table)
{
	if (table->rows)
		raw_unmap(table->rows, table->capacity * sizeof(*table->rows));
}

static void an_empty_one_has_nothing(void **state)
{
	struct table table = { 0 };
	size_t position = 0;

	(void)state;
	assert_int_equal(get(&table, 4096), 0);
	assert_int_equal(take(&table, 4096), 0);
	assert_null(table_next(&table, &position));
	assert_null(table.rows);
}

static const struct {
	const char *title;
	uint64_t first, step;
} keys[] = {
	{ "granules", UINT64_C(0x7f0000000000), UINT64_C(2) << 20 },
	{ "bytes", 2, 1 },
	{ "pages", 4096, 4096 },
	{ "from the top", UINT64_MAX, UINT64_MAX },
	{ "far apart", UINT64_C(1) << 32, UINT64_C(1) << 32 },
	{ "the same lower bits", 8, UINT64_C(1) << 40 },
};

/* What is in it, how much of it, and that nothing else is. */
static void compare(struct table *table, const uint64_t *model, size_t row)
{
	size_t position = 0;
	size_t live = 0;
	size_t seen = 0;

	for (size_t i = 0; i < MODEL_KEYS; i++) {
		uint64_t key = keys[row].first + i * keys[row].step;

		if (get(table, key) != model[i])
			fail_msg("%s: key %zu", keys[row].title, i);
		live += model[i] > 0;
	}
	while (table_next(table, &position))
		seen++;
	assert_int_equal(seen, live);
	assert_int_equal(table->live, live);
	seen = 0;
	for (size_t i = 0; i < table->capacity; i++)
		seen += table->rows[i].key == KEY_DEAD;
	assert_int_equal(table->dead, seen);
}

static void it_does_as_a_list_does(void **state)
{
	unsigned int seed = 1;

	(void)state;
	for (size_t row = 0; row < sizeof(keys) / sizeof(keys[0]); row++) {
		struct table table = { 0 };
		uint64_t model[MODEL_KEYS] = { 0 };

		for (int i = 0; i < 30000; i++) {
			size_t n = (size_t)rand_r(&seed) % MODEL_KEYS;
			uint64_t key = keys[row].first + n * keys[row].step;

			if (model[n]) {
				assert_int_equal(take(&table, key), model[n]);
				model[n] = 0;
			} else {
				model[n] = (uint64_t)i + 1;
				put(&table, key, model[n]);
			}
			if (i % 3000 == 0)
				compare(&table, model, row);
		}
		compare(&table, model, row);
		release(&table);
	}
}

static void a_key_is_there_once(void **state)
{
	struct table table = { 0 };

	(void)state;
	put(&table, 4096, 1);
	put(&table, 4096, 2);
	assert_int_equal(table.live, 1);
	assert_int_equal(take(&table, 4096), 2);
	assert_int_equal(take(&table, 4096), 0);
	release(&table);
}

static void no_key_is_what_marks_a_row(void **state)
{
	struct table table = { 0 };

	(void)state;
	put(&table, 4096, 1);
	for (uint64_t key = 0; key < TABLE_KEYS_RESERVED; key++) {
		table_lock(&table);
		assert_null(table_find(&table, key));
		assert_null(table_add(&table, key));
		table_unlock(&table);
	}
	assert_int_equal(table.live, 1);
	release(&table);
}

/* A training frees what it allocates for days: always other addresses. */
static void places_are_used_again(void **state)
{
	struct table table = { 0 };
	uint64_t oldest = 4096;

	(void)state;
	for (uint64_t i = 0; i < 1000000; i++) {
		put(&table, 4096 + i * 512, i + 1);
		if (i < 30)
			continue;
		assert_int_equal(take(&table, oldest),
				 (oldest - 4096) / 512 + 1);
		oldest += 512;
	}
	assert_int_equal(table.live, 30);
	assert_int_equal(table.capacity, CAPACITY_MIN);
	release(&table);
}

static void all_may_be_removed_on_the_way(void **state)
{
	struct table table = { 0 };
	struct table_entry *entry;
	size_t position = 0;
	uint64_t sum = 0;

	(void)state;
	for (uint64_t i = 1; i <= 1000; i++)
		put(&table, i * 4096, i);
	table_lock(&table);
	while ((entry = table_next(&table, &position))) {
		sum += entry->bytes;
		table_remove(&table, entry);
	}
	table_unlock(&table);
	assert_int_equal(sum, 1000 * 1001 / 2);
	assert_int_equal(table.live, 0);
	release(&table);
}

#define THREADS 4
#define ROUNDS 20000

struct shared {
	struct table table;
	uint64_t counter; /* not atomic: the lock guards it */
};

static void *hammer(void *data)
{
	struct shared *shared = data;

	for (int i = 0; i < ROUNDS; i++) {
		table_lock(&shared->table);
		shared->counter++;
		table_unlock(&shared->table);
	}
	return NULL;
}

static void one_thread_has_the_lock(void **state)
{
	struct shared shared = { 0 };
	pthread_t threads[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, hammer, &shared), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(shared.counter, THREADS * ROUNDS);
}

/* In the child: whoever held the lock did not come along. */
static int child_of_a_holder(struct table *table)
{
	table_forget_all();
	alarm(600);
	if (get(table, 4096) || get(table, 8192))
		return 1;
	table_lock(table);
	if (!table_add(table, 12288) || table->live != 1)
		return 2;
	table_unlock(table);
	return get(table, 4096) ? 3 : 0;
}

static void a_child_begins_anew(void **state)
{
	struct table table = { 0 };
	int status = 0;
	pid_t pid;

	(void)state;
	put(&table, 4096, 1);
	put(&table, 8192, 2);
	table_lock(&table);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(child_of_a_holder(&table));
	table_unlock(&table);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(get(&table, 4096), 1);
	assert_int_equal(get(&table, 12288), 0);
	release(&table);
}

/* In a child: no memory for more rows; what is there stays. */
static int grow_without_memory(void)
{
	const struct rlimit nothing = { 0, 0 };
	struct table table = { 0 };
	uint64_t count = 1;
	int before;

	put(&table, 4096, 1);
	if (setrlimit(RLIMIT_AS, &nothing))
		return 1;
	errno = before = EXDEV;
	table_lock(&table);
	while (count < MODEL_KEYS && table_add(&table, 4096 + count * 512))
		count++;
	table_unlock(&table);
	if (count == MODEL_KEYS || count <= CAPACITY_MIN / 2)
		return 2;
	if (errno != before)
		return 3;
	return table.live == count && get(&table, 4096) == 1 ? 0 : 4;
}

static void a_full_one_takes_no_more(void **state)
{
	int status = 0;
	pid_t pid = fork();

	(void)state;
	assert_true(pid >= 0);
	if (!pid)
		_exit(grow_without_memory());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_one_has_nothing),
		cmocka_unit_test(it_does_as_a_list_does),
		cmocka_unit_test(a_key_is_there_once),
		cmocka_unit_test(no_key_is_what_marks_a_row),
		cmocka_unit_test(places_are_used_again),
		cmocka_unit_test(all_may_be_removed_on_the_way),
		cmocka_unit_test(one_thread_has_the_lock),
		cmocka_unit_test(a_child_begins_anew),
		cmocka_unit_test(a_full_one_takes_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
