/* Texts of a pool: where they were put they stay, as they were. */
/* SPDX-License-Identifier: MIT */
/* USES base */
#include "base/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEXTS ((size_t)3000)
#define LARGE ((size_t)1024 * 1024)

static size_t length_of(size_t i)
{
	return i % 97 == 0 ? i * 31 : i % 41;
}

static void texts_stay(void **state)
{
	struct pool pool = { 0 };
	char *texts[TEXTS];
	char *source = malloc(TEXTS * 31);

	(void)state;
	assert_non_null(source);
	for (size_t i = 0; i < TEXTS; i++) {
		memset(source, (int)('a' + i % 26), length_of(i));
		texts[i] = pool_add(&pool, source, length_of(i));
	}
	for (size_t i = 0; i < TEXTS; i++) {
		assert_int_equal(strlen(texts[i]), length_of(i));
		for (size_t j = 0; j < length_of(i); j++)
			assert_int_equal(texts[i][j], 'a' + i % 26);
	}
	free(source);
	pool_release(&pool);
	pool_release(&pool);
}

static void large_and_empty_texts(void **state)
{
	struct pool pool = { 0 };
	char *large = malloc(LARGE);
	char *copy;

	(void)state;
	assert_non_null(large);
	memset(large, 'x', LARGE);
	assert_string_equal(pool_add(&pool, NULL, 0), "");
	copy = pool_add(&pool, large, LARGE);
	assert_memory_equal(copy, large, LARGE);
	assert_int_equal(copy[LARGE], '\0');
	assert_memory_equal(pool_add(&pool, "a\0b", 3), "a\0b", 4);
	free(large);
	pool_release(&pool);
	assert_string_equal(pool_add(&pool, "again", 5), "again");
	pool_release(&pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_stay),
		cmocka_unit_test(large_and_empty_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
