/* Sizes, durations and shares as people write them. */
/* SPDX-License-Identifier: MIT */
/* USES base */
#include "base/units.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void sizes_are_read(void **state)
{
	static const struct {
		const char *text;
		int result;
		uint64_t bytes;
	} rows[] = {
		{ "0", 0, 0 },
		{ "512", 0, 512 },
		{ "8G", 0, 8 * GIB },
		{ "8GiB", 0, 8 * GIB },
		{ "600 MiB", 0, 600 * MIB },
		{ "1.5g", 0, 3 * GIB / 2 },
		{ "1GB", 0, 1000000000 },
		{ "80gb", 0, UINT64_C(80000000000) },
		{ "", -22, 0 },
		{ "-1", -22, 0 },
		{ "0x10", -22, 0 },
		{ "inf", -22, 0 },
		{ "nan", -22, 0 },
		{ "8Q", -22, 0 },
		{ "8G B", -22, 0 },
		{ "1e30", -34, 0 },
		{ "99999999999T", -34, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct error err = ERROR_INIT;
		uint64_t bytes = 0;

		assert_int_equal(bytes_parse(rows[i].text, &bytes, &err),
				 rows[i].result);
		assert_int_equal(bytes, rows[i].bytes);
		assert_int_equal(err.code, rows[i].result);
	}
}

static void durations_are_read(void **state)
{
	static const struct {
		const char *text;
		int result;
		int64_t ms;
	} rows[] = {
		{ "90", 0, 90000 },      { "10m", 0, 600000 },
		{ "1h30m", 0, 5400000 }, { "250ms", 0, 250 },
		{ "0.5s", 0, 500 },      { "1h30", 0, 3630000 },
		{ "", -22, 0 },          { "m", -22, 0 },
		{ "5 apples", -22, 0 },  { "-3s", -22, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int64_t ms = 0;

		assert_int_equal(duration_parse(rows[i].text, &ms, NULL),
				 rows[i].result);
		assert_int_equal(ms, rows[i].ms);
	}
}

static void amounts_are_read(void **state)
{
	struct amount amount;

	(void)state;
	assert_int_equal(amount_parse("5%", &amount, NULL), 0);
	assert_int_equal(amount_of(&amount, 1000), 50);
	assert_int_equal(amount_parse("64MiB", &amount, NULL), 0);
	assert_int_equal(amount_of(&amount, 1000), 64 * MIB);
	assert_int_equal(amount_parse("101%", &amount, NULL), -34);
	assert_int_equal(amount_parse("five", &amount, NULL), -22);
}

static void sizes_are_written(void **state)
{
	char text[BYTES_TEXT_MAX];

	(void)state;
	assert_string_equal(bytes_format(text, 17), "17 B");
	assert_string_equal(bytes_format(text, 512 * MIB), "512 MiB");
	assert_string_equal(bytes_format(text, 1023 * MIB), "1.00 GiB");
	assert_string_equal(bytes_format(text, UINT64_C(25448000000)),
			    "23.7 GiB");
	assert_string_equal(bytes_format(text, UINT64_MAX), "16384 PiB");
}

static void durations_are_written(void **state)
{
	char text[DURATION_TEXT_MAX];

	(void)state;
	assert_string_equal(duration_format(text, 0.84), "0.8 s");
	assert_string_equal(duration_format(text, 14.2), "14 s");
	assert_string_equal(duration_format(text, 192), "3 min 12 s");
	assert_string_equal(duration_format(text, 3900), "1 h 05 min");
}

static const struct {
	const char *text;
	int code;
	int64_t count;
} count_rows[] = {
	{ "7b", 0, 7000000000 },
	{ "7B", 0, 7000000000 },
	{ "1.3B", 0, 1300000000 },
	{ "0.5b", 0, 500000000 },
	{ "350M", 0, 350000000 },
	{ "350 M", 0, 350000000 },
	{ "125k", 0, 125000 },
	{ "1.5t", 0, 1500000000000 },
	{ "6738415616", 0, 6738415616 },
	{ "1", 0, 1 },
	{ "1000t", 0, 1000000000000000 },
	{ "1001t", -ERANGE, 0 },
	{ "1e300", -ERANGE, 0 },
	{ "9223372036854775808", -ERANGE, 0 },
	{ "", -EINVAL, 0 },
	{ "0", -EINVAL, 0 },
	{ "0.4", -EINVAL, 0 },
	{ "-7b", -EINVAL, 0 },
	{ "b", -EINVAL, 0 },
	{ "7bb", -EINVAL, 0 },
	{ "7 b x", -EINVAL, 0 },
	{ "0x7b", -EINVAL, 0 },
	{ "nan", -EINVAL, 0 },
	{ "inf", -EINVAL, 0 },
};

static void parameters_are_parsed(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(count_rows) / sizeof(*count_rows); i++) {
		struct error err = ERROR_INIT;
		int64_t count = 0;

		print_message("'%s'\n", count_rows[i].text);
		assert_int_equal(
			parameters_parse(count_rows[i].text, &count, &err),
			count_rows[i].code);
		assert_int_equal(count, count_rows[i].count);
		assert_int_equal(err.message[0] != '\0',
				 count_rows[i].code != 0);
	}
}

static void decimals_are_written(void **state)
{
	char text[DECIMAL_TEXT_MAX];

	(void)state;
	assert_string_equal(decimal_format(text, 12.345, 1), "12.3");
	assert_string_equal(decimal_format(text, 12.345, 2), "12.35");
	assert_string_equal(decimal_format(text, 0.051, 2), "0.05");
	assert_string_equal(decimal_format(text, 1e15, 2),
			    "1000000000000000.00");
	assert_string_equal(decimal_format(text, 0, 2), "");
	assert_string_equal(decimal_format(text, -1, 2), "");
	assert_string_equal(decimal_format(text, 1e16, 2), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_read),
		cmocka_unit_test(durations_are_read),
		cmocka_unit_test(amounts_are_read),
		cmocka_unit_test(sizes_are_written),
		cmocka_unit_test(durations_are_written),
		cmocka_unit_test(decimals_are_written),
		cmocka_unit_test(parameters_are_parsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
