/* The exceptions that ended processes: read in order, and nothing else. */
/* SPDX-License-Identifier: MIT */
/* USES probes */
#include "probes/channel/last_errors.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "tests/unit/scratch.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A text and its length: it may hold NUL bytes. */
#define ROW(text)                                                              \
	{                                                                      \
		text, sizeof(text) - 1                                         \
	}

static void leave(const char *folder, const char *name, const char *text,
		  size_t length)
{
	char path[SCRATCH_PATH_MAX];

	scratch_path(path, folder, name);
	assert_int_equal(scratch_write(path, text, length), 0);
}

static void leave_text(const char *folder, const char *name, const char *text)
{
	leave(folder, name, text, strlen(text));
}

static void the_first_in_time_stands_first(void **state)
{
	struct last_errors errors = LAST_ERRORS_INIT;

	leave_text(*state, "error.12", "900 1 ValueError: b\nTraceback\nb\n");
	leave_text(*state, "error.11", "1000 -1 KeyError\nTraceback\na\n");
	leave_text(*state, "error.13", "-7 2147483647 OSError: c\n");
	last_errors_read(&errors, *state);
	assert_int_equal(errors.count, 3);
	assert_int_equal(errors.items[0].rank, INT_MAX);
	assert_string_equal(errors.items[0].text, "");
	assert_int_equal(errors.items[1].time_ns, 900);
	assert_int_equal(errors.items[1].rank, 1);
	assert_string_equal(errors.items[1].key, "ValueError: b");
	assert_string_equal(errors.items[1].text, "Traceback\nb\n");
	assert_int_equal(errors.items[2].rank, -1);
	assert_string_equal(errors.items[2].key, "KeyError");
	last_errors_release(&errors);
	last_errors_read(&errors, "/nonexistent");
	assert_int_equal(errors.count, 0);
	last_errors_release(&errors);
}

static void what_is_none_is_passed_over(void **state)
{
	static const struct {
		const char *text;
		size_t length;
	} rows[] = {
		ROW(""),
		ROW("\n"),
		ROW("1 2 \nx"),
		ROW("1 2 KeyError"),
		ROW("1 2\nx"),
		ROW("1 x KeyError\n"),
		ROW("x 1 KeyError\n"),
		ROW("1 -2 KeyError\n"),
		ROW("1 2147483648 KeyError\n"),
		ROW("99999999999999999999 1 KeyError\n"),
		ROW("1 2\0KeyError\n"),
		ROW("\0001 2 KeyError\n"),
		ROW("1\n2 KeyError\n"),
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct last_errors errors = LAST_ERRORS_INIT;

		leave(*state, "error.5", rows[i].text, rows[i].length);
		last_errors_read(&errors, *state);
		if (errors.count)
			fail_msg("row %zu is read", i);
		last_errors_release(&errors);
	}
}

static void all_is_bounded(void **state)
{
	static const char start[] = "1 2 a\n";
	const size_t length = 100000;
	struct last_errors errors = LAST_ERRORS_INIT;
	char *text = xmalloc(length);

	memset(text, 'x', length);
	memcpy(text, start, sizeof(start) - 1);
	for (int i = 0; i < LAST_ERRORS_MAX + 20; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "error.%d", i);
		leave(*state, name, text, i ? 10 : length);
	}
	last_errors_read(&errors, *state);
	assert_int_equal(errors.count, LAST_ERRORS_MAX);
	for (size_t i = 0; i < errors.count; i++)
		assert_true(strlen(errors.items[i].text) < 40000);
	last_errors_release(&errors);
	free(text);
}

static void any_bytes_are_read(void **state)
{
	static const char alphabet[] = "0123456789 -\n\0\xff:E";
	unsigned seed = 5;

	for (int round = 0; round < 500; round++) {
		struct last_errors errors = LAST_ERRORS_INIT;
		char text[24];

		for (size_t i = 0; i < sizeof(text); i++) {
			seed = seed * 1103515245U + 12345U;
			text[i] = alphabet[(seed >> 16) % sizeof(alphabet)];
		}
		leave(*state, "error.9", text, sizeof(text));
		last_errors_read(&errors, *state);
		last_errors_release(&errors);
	}
}

#define TEST(function)                                                         \
	cmocka_unit_test_setup_teardown(function, scratch_make, scratch_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_first_in_time_stands_first),
		TEST(what_is_none_is_passed_over),
		TEST(all_is_bounded),
		TEST(any_bytes_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
