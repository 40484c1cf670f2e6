/* Splits of an effective batch: all of them, exact, in order. */
/* SPDX-License-Identifier: MIT */
/* USES search base */
#include "search/accumulation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))
#define SHOWN 12
/* Primes: the slowest case that is searched whole, and one far beyond. */
#define PRIME INT64_C(9007199254740881)
#define LARGE INT64_C(9223372036854775783)

static void splits_are_listed(void **state)
{
	static const struct {
		int64_t effective, world, multiple_of;
		size_t count;
		int64_t micros[SHOWN];
	} rows[] = {
		{ 1, 1, 1, 1, { 1 } },
		{ 12, 1, 1, 6, { 1, 2, 3, 4, 6, 12 } },
		{ 36, 1, 1, 9, { 1, 2, 3, 4, 6, 9, 12, 18, 36 } },
		{ 128, 4, 1, 6, { 1, 2, 4, 8, 16, 32 } },
		{ 128, 1, 8, 5, { 8, 16, 32, 64, 128 } },
		{ 96, 2, 8, 4, { 8, 16, 24, 48 } },
		{ 97, 1, 1, 2, { 1, 97 } },
		{ 97, 97, 1, 1, { 1 } },
		{ 128, 3, 1, 0, { 0 } },
		{ 128, 256, 1, 0, { 0 } },
		{ 100, 1, 8, 0, { 0 } },
		{ 0, 1, 1, 0, { 0 } },
		{ -8, 1, 1, 0, { 0 } },
		{ 8, 0, 1, 0, { 0 } },
		{ 8, -2, 1, 0, { 0 } },
		{ 8, 1, 0, 0, { 0 } },
		{ INT64_MAX, INT64_MAX, 1, 1, { 1 } },
		{ INT64_MAX, 1, INT64_MAX, 1, { INT64_MAX } },
		{ PRIME, 1, 1, 2, { 1, PRIME } },
		{ LARGE, 1, 1, 2, { 1, LARGE } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t micros[SHOWN] = { 0 };

		assert_int_equal(
			accumulation_splits(rows[i].effective, rows[i].world,
					    rows[i].multiple_of, micros, SHOWN),
			rows[i].count);
		for (size_t j = 0; j < SHOWN; j++)
			assert_int_equal(micros[j], rows[i].micros[j]);
	}
}

static void the_largest_are_kept_out(void **state)
{
	(void)state;
	for (size_t capacity = 0; capacity <= 10; capacity++) {
		static const int64_t all[] = { 1, 2, 3, 4, 6, 9, 12, 18, 36 };
		int64_t micros[11] = { 0 };

		assert_int_equal(
			accumulation_splits(36, 1, 1, micros, capacity),
			COUNT(all));
		for (size_t i = 0; i < COUNT(micros); i++)
			assert_int_equal(micros[i],
					 i < capacity && i < COUNT(all) ? all[i]
									: 0);
	}
	assert_int_equal(accumulation_splits(36, 1, 1, NULL, 0), 9);
}

static void every_split_of_every_batch(void **state)
{
	int64_t micros[64];

	(void)state;
	for (int64_t batch = 1; batch <= 600; batch++) {
		size_t count =
			accumulation_splits(batch, 1, 1, micros, COUNT(micros));
		size_t next = 0;

		for (int64_t micro = 1; micro <= batch; micro++) {
			int64_t accum = accumulation_exact(batch, micro, 1);

			assert_int_equal(accum != 0, batch % micro == 0);
			if (accum)
				assert_int_equal(micros[next++], micro);
		}
		assert_int_equal(next, count);
	}
}

/* 2^6 3^4 5^2 7^3 11^2 13^2 17 19 23: a product below 2^53. */
static void many_splits_stay_in_order(void **state)
{
	const int64_t batch = INT64_C(6746328388800) * 1001;
	int64_t *micros = malloc(sizeof(*micros) * SPLITS_MAX);
	size_t count;

	(void)state;
	assert_non_null(micros);
	count = accumulation_splits(batch, 1, 1, micros, SPLITS_MAX);
	assert_int_equal(count, 7 * 5 * 3 * 4 * 3 * 3 * 2 * 2 * 2);
	for (size_t i = 0; i < count; i++) {
		assert_true(i == 0 || micros[i] > micros[i - 1]);
		assert_int_equal(accumulation_exact(batch, micros[i], 1),
				 micros[count - 1 - i]);
	}
	free(micros);
}

static void accumulations_are_computed(void **state)
{
	static const struct {
		int64_t effective, micro, world;
		int64_t exact, grow, nearest;
	} rows[] = {
		{ 128, 8, 1, 16, 16, 128 },
		{ 128, 8, 4, 4, 4, 128 },
		{ 128, 24, 1, 0, 6, 120 },
		{ 128, 24, 2, 0, 3, 144 },
		{ 128, 44, 1, 0, 3, 132 },
		{ 12, 8, 1, 0, 2, 16 },
		{ 11, 8, 1, 0, 2, 8 },
		{ 3, 8, 1, 0, 1, 8 },
		{ 100, 10, 3, 0, 4, 90 },
		{ 97, 97, 1, 1, 1, 97 },
		{ INT64_MAX, 1, 1, INT64_MAX, INT64_MAX, INT64_MAX },
		{ INT64_MAX, 2, 1, 0, INT64_MAX / 2 + 1, INT64_MAX - 1 },
		{ INT64_MAX, INT64_MAX, 1, 1, 1, INT64_MAX },
		{ 8, INT64_MAX, 2, 0, 1, 0 },
		{ 0, 8, 1, 0, 0, 0 },
		{ -8, 8, 1, 0, 0, 0 },
		{ 8, 0, 1, 0, 0, 0 },
		{ 8, 8, -1, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t effective = rows[i].effective;
		int64_t micro = rows[i].micro;
		int64_t world = rows[i].world;

		assert_int_equal(accumulation_exact(effective, micro, world),
				 rows[i].exact);
		assert_int_equal(accumulation_grow(effective, micro, world),
				 rows[i].grow);
		assert_int_equal(accumulation_nearest(effective, micro, world),
				 rows[i].nearest);
	}
}

/* As Python has it: a half goes to the even one. */
static void accumulations_are_derived(void **state)
{
	static const struct {
		int64_t nominal, step, rounded, floored;
	} rows[] = {
		{ 64, 16, 4, 4 },        { 64, 24, 3, 2 },  { 64, 128, 1, 1 },
		{ 64, 200, 1, 1 },       { 100, 40, 2, 2 }, { 140, 40, 4, 3 },
		{ 64, INT64_MAX, 1, 1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(accumulation_derived(rows[i].nominal,
						      rows[i].step, true),
				 rows[i].rounded);
		assert_int_equal(accumulation_derived(rows[i].nominal,
						      rows[i].step, false),
				 rows[i].floored);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(splits_are_listed),
		cmocka_unit_test(the_largest_are_kept_out),
		cmocka_unit_test(every_split_of_every_batch),
		cmocka_unit_test(many_splits_stay_in_order),
		cmocka_unit_test(accumulations_are_computed),
		cmocka_unit_test(accumulations_are_derived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
