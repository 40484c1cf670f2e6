/* Versions that files of frameworks and of the driver say. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/request/versions.h"

#include "tests/unit/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct {
	const char *text, *version; /* NULL: none */
} python_rows[] = {
	{ "__version__ = '2.9.0+cu128'\ndebug = False\n", "2.9.0+cu128" },
	{ "from typing import Optional\n__version__: str = \"2.1.0a0\"\n",
	  "2.1.0a0" },
	{ "version = '4.45.2'", "4.45.2" },
	{ "__version__='1.0'\n", "1.0" },
	{ "version = '9'\n__version__ = '1.0'\n", "1.0" },
	{ "# __version__ = '1.0'\n", NULL },
	{ "__version__ = get_version()\n", NULL },
	{ "__version__ = '''\n1.0'''\n", NULL },
	{ "__version__ = 'unknown'\n", NULL },
	{ "__version__ = '1.0\x1b[31m'\n", "1.0" },
	{ "__version__\n", NULL },
	{ "", NULL },
};

static const struct {
	const char *text, *version;
} driver_rows[] = {
	{ "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb "
	  "22 01:44:30 UTC 2024\nGCC version:  gcc version 12.2.0\n",
	  "550.54.14" },
	{ "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  "
	  "Release Build  (archlinux-builder@host)\n",
	  "570.86.15" },
	{ "NVRM version: none\nGCC version:  gcc version 12.2.0\n", NULL },
	{ "", NULL },
};

static void check(char *got, const char *wanted)
{
	if (wanted)
		assert_string_equal(got ? got : "(none)", wanted);
	else
		assert_null(got);
	free(got);
}

static void a_package_says_its_version(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(python_rows) / sizeof(*python_rows); i++)
		check(versions_of_python(python_rows[i].text),
		      python_rows[i].version);
}

static void a_driver_says_its_version(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(driver_rows) / sizeof(*driver_rows); i++)
		check(versions_of_driver(driver_rows[i].text),
		      driver_rows[i].version);
}

/* Of stamps only files of versions count, and only those that say one. */
static void stamps_tell_where_they_are(void **state)
{
	static const char text[] = "__version__ = '2.9.0'\n";
	const char *folder = *state;
	char path[SCRATCH_PATH_MAX];
	struct strlist stamps = STRLIST_INIT, found = STRLIST_INIT;

	(void)snprintf(path, sizeof(path), "%s/version.py", folder);
	assert_int_equal(scratch_write(path, text, sizeof(text) - 1), 0);
	strlist_addf(&stamps, "0123456789abcdef %s", path);
	(void)snprintf(path, sizeof(path), "%s/model.py", folder);
	assert_int_equal(scratch_write(path, text, sizeof(text) - 1), 0);
	strlist_addf(&stamps, "0123456789abcdef %s", path);
	strlist_addf(&stamps, "0123456789abcdef %s/gone/version.py", folder);
	strlist_add(&stamps, "malformed");
	versions_find(&stamps, &found);
	assert_true(found.count >= 1);
	assert_string_equal(strchr(found.items[0], ' '), " 2.9.0");
	for (size_t i = 1; i < found.count; i++)
		assert_int_equal(strncmp(found.items[i], "driver ", 7), 0);
	strlist_release(&stamps);
	strlist_release(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_package_says_its_version),
		cmocka_unit_test(a_driver_says_its_version),
		cmocka_unit_test_setup_teardown(stamps_tell_where_they_are,
						scratch_make, scratch_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
