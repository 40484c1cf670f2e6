/* A message that is too long keeps what was attempted, and why it failed. */
/* SPDX-License-Identifier: MIT */
/* USES base */
#include "base/error.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Shorter and longer than a message, and the longest that there is. */
static const size_t lengths[] = { 1,   100, 400, 480,  500,         511,
				  512, 513, 600, 4000, PATH_MAX - 1 };

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && strcmp(text + length - tail, end) == 0;
}

static void check(const struct error *err, int code, const char *start,
		  const char *end, size_t whole)
{
	print_message("%zu bytes: %s\n", whole, err->message);
	assert_int_equal(err->code, code);
	assert_int_equal(strncmp(err->message, start, strlen(start)), 0);
	assert_true(ends_with(err->message, end));
	if (whole < sizeof(err->message))
		assert_int_equal(strlen(err->message), whole);
	else
		assert_non_null(strstr(err->message, "..."));
}

static void both_ends_of_a_long_message_stay(void **state)
{
	static const char attempted[] = "cannot read ", why[] = ": try another";
	static const char reason[] = ": No such file or directory";
	static const char prefix[] = "--from: ";
	char path[PATH_MAX];
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		size_t whole = strlen(attempted) + lengths[i];

		memset(path, 'd', lengths[i]);
		path[lengths[i]] = '\0';
		assert_int_equal(error_set(&err, -EINVAL, "%s%s%s", attempted,
					   path, why),
				 -EINVAL);
		check(&err, -EINVAL, attempted, why, whole + strlen(why));
		assert_int_equal(
			error_set_errno(&err, -ENOENT, "%s%s", attempted, path),
			-ENOENT);
		whole += strlen(reason);
		check(&err, -ENOENT, attempted, reason, whole);
		assert_int_equal(error_prefix(&err, "--from"), -ENOENT);
		check(&err, -ENOENT, prefix, reason, strlen(prefix) + whole);
	}
}

static void nobody_may_ask(void **state)
{
	(void)state;
	assert_int_equal(error_set(NULL, -EINVAL, "%s", "text"), -EINVAL);
	assert_int_equal(error_set_errno(NULL, -EINVAL, "%s", "text"), -EINVAL);
	assert_true(error_prefix(NULL, "%s", "text") < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ends_of_a_long_message_stay),
		cmocka_unit_test(nobody_may_ask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
