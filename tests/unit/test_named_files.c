/* Files that were read, and those laid over them. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/command/files/named_files.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A disk on which there are a.yaml and t.py, and that counts its readings. */
static int read_file(void *context, const char *path, struct strbuf *text)
{
	int *readings = context;

	++*readings;
	if (strcmp(path, "big.yaml") == 0)
		return EFBIG;
	if (strncmp(path, "absent", 6) == 0 || strcmp(path, "none.yaml") == 0)
		return ENOENT;
	strbuf_adds(text,
		    strstr(path, ".yaml") ? "batch_size: 8\n" : "batch = 8\n");
	return 0;
}

static void add(struct named_files *files, const char *path, const char *text)
{
	struct strbuf buf = STRBUF_INIT;

	strbuf_adds(&buf, text);
	assert_non_null(named_files_add(files, path, &buf, 0));
}

static void assert_text(struct named_files *files, const char *path,
			const char *text)
{
	const struct named_file *file = named_files_get(files, path);

	assert_non_null(file);
	assert_string_equal(strbuf_text(&file->text), text);
}

static void each_file_is_read_once(void **state)
{
	int readings = 0;
	struct named_files files = { .read = read_file, .context = &readings };
	struct named_file *file;

	(void)state;
	assert_text(&files, "a.yaml", "batch_size: 8\n");
	assert_text(&files, "a.yaml", "batch_size: 8\n");
	assert_int_equal(readings, 1);
	file = named_files_get(&files, "none.yaml");
	assert_int_equal(file->error, ENOENT);
	assert_ptr_equal(named_files_get(&files, "none.yaml"), file);
	assert_int_equal(readings, 2);
	named_files_release(&files);
}

static void what_is_in_a_file_is_read_once(void **state)
{
	int readings = 0;
	struct named_files files = { .read = read_file, .context = &readings };
	struct named_file *file = named_files_get(&files, "a.yaml");
	const struct settings *settings =
		named_file_settings(file, SETTINGS_YAML);
	const struct source *source;

	(void)state;
	assert_int_equal(settings->count, 1);
	assert_null(file->why_not);
	assert_ptr_equal(named_file_settings(file, SETTINGS_YAML)->items,
			 settings->items);
	file = named_files_get(&files, "t.py");
	source = named_file_source(file);
	assert_int_equal(source->constant_count, 1);
	assert_ptr_equal(named_file_source(file)->constants, source->constants);
	named_files_release(&files);
}

static void what_is_not_understood_says_why(void **state)
{
	int readings = 0;
	struct named_files files = { .read = read_file, .context = &readings };
	struct named_file *file = named_files_get(&files, "big.yaml");

	(void)state;
	assert_int_equal(named_file_settings(file, SETTINGS_YAML)->count, 0);
	assert_string_equal(file->why_not, "big.yaml is larger than a config");
	add(&files, "b.yaml", "a: [1\n");
	file = named_files_get(&files, "b.yaml");
	assert_int_equal(named_file_settings(file, SETTINGS_YAML)->count, 0);
	assert_non_null(strstr(file->why_not, "b.yaml:"));
	named_files_release(&files);
}

static void more_than_fit_are_not_read(void **state)
{
	int readings = 0;
	struct named_files files = { .read = read_file, .context = &readings };
	char path[16];

	(void)state;
	for (int i = 0; i < NAMED_FILES_MAX; i++) {
		(void)snprintf(path, sizeof(path), "%d.yaml", i);
		assert_non_null(named_files_get(&files, path));
	}
	assert_null(named_files_get(&files, "a.yaml"));
	assert_null(named_files_add(&files, "a.yaml", NULL, 0));
	assert_int_equal(readings, NAMED_FILES_MAX);
	named_files_release(&files);
}

static void what_is_not_there_takes_no_place(void **state)
{
	int readings = 0;
	struct named_files files = { .read = read_file, .context = &readings };
	char path[16];

	(void)state;
	for (int i = 0; i < NAMED_PATHS_MAX - 1; i++) {
		(void)snprintf(path, sizeof(path), "absent%d.py", i);
		assert_int_equal(named_files_get(&files, path)->error, ENOENT);
	}
	assert_text(&files, "a.yaml", "batch_size: 8\n");
	assert_null(named_files_get(&files, "b.yaml"));
	assert_int_equal(readings, NAMED_PATHS_MAX);
	named_files_release(&files);
	assert_text(&files, "b.yaml", "batch_size: 8\n");
	named_files_release(&files);
}

static void modules_leave_half_of_the_places(void **state)
{
	int readings = 0;
	struct named_files files = { .read = read_file, .context = &readings };
	char path[16];

	(void)state;
	for (int i = 0; i < NAMED_PATHS_MAX; i++) {
		(void)snprintf(path, sizeof(path), "absent%d.py", i);
		(void)named_files_get_module(&files, path);
	}
	assert_int_equal(readings, NAMED_PATHS_MAX / 2);
	assert_null(named_files_get_module(&files, "m.py"));
	named_files_release(&files);
	for (int i = 0; i < NAMED_FILES_MAX; i++) {
		(void)snprintf(path, sizeof(path), "%d.py", i);
		(void)named_files_get_module(&files, path);
	}
	assert_int_equal(files.count, NAMED_FILES_MAX / 2);
	assert_text(&files, "a.yaml", "batch_size: 8\n");
	assert_non_null(named_files_get_module(&files, "a.yaml"));
	named_files_release(&files);
}

static void the_upper_layer_comes_first(void **state)
{
	struct named_files below = { .count = 0 };
	struct named_files above = { .beneath = &below };

	(void)state;
	add(&below, "a.yaml", "old");
	add(&below, "b.yaml", "kept");
	add(&above, "a.yaml", "new");
	assert_text(&above, "a.yaml", "new");
	assert_text(&below, "a.yaml", "old");
	/* The very same: what is in it need not be read again. */
	assert_ptr_equal(named_files_get(&above, "b.yaml"),
			 named_files_get(&below, "b.yaml"));
	/* Nobody reads there: it is not there. */
	assert_int_equal(named_files_get(&above, "c.yaml")->error, ENOENT);
	assert_int_equal(below.count, 2);
	named_files_release(&above);
	named_files_release(&below);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_file_is_read_once),
		cmocka_unit_test(what_is_in_a_file_is_read_once),
		cmocka_unit_test(what_is_not_understood_says_why),
		cmocka_unit_test(more_than_fit_are_not_read),
		cmocka_unit_test(what_is_not_there_takes_no_place),
		cmocka_unit_test(modules_leave_half_of_the_places),
		cmocka_unit_test(the_upper_layer_comes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
