/* The step hook of a probe: all its files, and none that waits for the disk. */
/* SPDX-License-Identifier: MIT */
/* USES probes */
#include "probes/channel/python_hook.h"

#include "base/textfile.h"

#include "tests/unit/scratch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

/* How often the libraries under test have called the function below. */
static int syncs;

/* In place of libc's: only counts. */
int fsync(int fd)
{
	(void)fd;
	syncs++;
	return 0;
}

static void the_hook_does_not_wait_for_the_disk(void **state)
{
	static const char *const names[] = {
		"hook/sitecustomize.py",
		"hook/autofit_hook/__init__.py",
		"hook/autofit_hook/steps.py",
	};
	char path[SCRATCH_PATH_MAX];

	scratch_path(path, *state, "kept");
	assert_int_equal(textfile_replace(path, 0600, "x", 1, NULL), 0);
	assert_int_not_equal(syncs, 0);
	syncs = 0;
	scratch_path(path, *state, "hook");
	assert_int_equal(python_hook_write(&python_hook_steps, path, NULL), 0);
	assert_int_equal(syncs, 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		scratch_path(path, *state, names[i]);
		assert_int_equal(access(path, R_OK), 0);
	}
	scratch_path(path, *state, "hook");
	assert_int_equal(python_hook_write(&python_hook_steps, path, NULL),
			 -EEXIST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_hook_does_not_wait_for_the_disk, scratch_make,
			scratch_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
