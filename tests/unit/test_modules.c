/* What probes imported: the union of their lists, and nothing else; and how the
 * one that was started as it is told was. */
/* SPDX-License-Identifier: MIT */
/* USES probes */
#include "probes/channel/modules.h"
#include "probes/channel/started.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "tests/unit/scratch.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

/* A list as a literal: its own NUL ends the last path. */
#define LIST(text) text, sizeof(text)

static void write_list(const char *folder, const char *name, const char *data,
		       size_t length)
{
	char path[SCRATCH_PATH_MAX];

	scratch_path(path, folder, name);
	assert_int_equal(scratch_write(path, data, length), 0);
}

static void assert_modules(const char *folder, const char *const *expected,
			   size_t count)
{
	struct strlist found = STRLIST_INIT;

	modules_read(&found, folder);
	for (size_t i = 0; i < count && i < found.count; i++)
		assert_string_equal(found.items[i], expected[i]);
	assert_int_equal(found.count, count);
	strlist_release(&found);
}

static void lists_are_joined(void **state)
{
	static const char *const joined[] = { "/a", "/a b/\xc3\xa9.py", "/b.py",
					      "/c" };

	assert_modules(*state, NULL, 0);
	write_list(*state, "channel", LIST("/x"));
	assert_modules(*state, NULL, 0);
	write_list(*state, "modules.17", LIST("/c\0/b.py"));
	assert_modules(*state, joined + 2, 2);
	write_list(*state, "modules.4194304",
		   LIST("/b.py\0/a\0/a b/\xc3\xa9.py\0/a"));
	assert_modules(*state, joined, 4);
	assert_modules("/nonexistent", NULL, 0);
}

/* Of those that are there; scratch_write makes them now. */
static void opened_files_are_older_than_the_tuning(void **state)
{
	struct timespec before = { 1, 0 }, after = { INT64_C(1) << 40, 0 };
	struct strlist found = STRLIST_INIT;
	char path[SCRATCH_PATH_MAX];
	struct strbuf list = STRBUF_INIT;

	scratch_path(path, *state, "settings.json");
	assert_int_equal(scratch_write(path, "{}", 2), 0);
	strbuf_addf(&list, "%s", path);
	strbuf_addch(&list, '\0');
	strbuf_add(&list, LIST("/nonexistent/x.json"));
	strbuf_add(&list, LIST("/dev/null"));
	strbuf_add(&list, LIST("/usr"));
	write_list(*state, "opened.7", list.data, list.length);
	opened_read(&found, *state, &before);
	assert_int_equal(found.count, 0);
	opened_read(&found, *state, &after);
	assert_int_equal(found.count, 1);
	assert_string_equal(found.items[0], path);
	assert_modules(*state, NULL, 0);
	strlist_release(&found);
	strbuf_release(&list);
}

static void other_names_are_passed_over(void **state)
{
	static const char *const names[] = {
		"modules.",   "modules.x",           "modules.17.140001",
		"modules.-1", "modules.12345678901", "Modules.17",
		"modules.17 "
	};
	char path[SCRATCH_PATH_MAX];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		write_list(*state, names[i], LIST("/a"));
	write_list(*state, "target", LIST("/a"));
	assert_int_equal(
		symlink("target", scratch_path(path, *state, "modules.1")), 0);
	assert_int_equal(mkfifo(scratch_path(path, *state, "modules.2"), 0600),
			 0);
	assert_int_equal(mkdir(scratch_path(path, *state, "modules.3"), 0700),
			 0);
	assert_modules(*state, NULL, 0);
}

static void hostile_paths_are_passed_over(void **state)
{
	static const struct {
		const char *name, *text;
		size_t length;
		bool taken;
	} rows[] = {
		{ "plain", LIST("/a"), true },
		{ "dots in a name", LIST("/a..b/.c/d."), true },
		{ "empty file", "", 0, false },
		{ "empty path", LIST("\0"), false },
		{ "relative", LIST("a/b"), false },
		{ "no end", "/a", 2, false },
		{ "root", LIST("/"), false },
		{ "folder", LIST("/a/"), false },
		{ "newline", LIST("/a\nb"), false },
		{ "escape", LIST("/a\x1b[31m"), false },
		{ "delete", LIST("/a\x7f"), false },
		{ "two slashes", LIST("/a//b"), false },
		{ "dot", LIST("/a/./b"), false },
		{ "dot at the end", LIST("/a/."), false },
		{ "up", LIST("/a/../b"), false },
		{ "up at the end", LIST("/a/.."), false },
		{ "only up", LIST("/.."), false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		print_message("%s\n", rows[i].name);
		write_list(*state, "modules.5", rows[i].text, rows[i].length);
		assert_modules(*state, &rows[i].text, rows[i].taken);
	}
}

static void long_lists_are_bounded(void **state)
{
	struct strbuf text = STRBUF_INIT;
	struct strlist found = STRLIST_INIT;
	char *name = xcalloc(1, PATH_MAX + 1);
	static const char good[] = "/good";

	memset(name, 'n', PATH_MAX);
	name[0] = '/';
	strbuf_add(&text, name, PATH_MAX + 1); /* one byte too long */
	strbuf_add(&text, good, sizeof(good));
	name[PATH_MAX - 1] = '\0';
	strbuf_add(&text, name, PATH_MAX);
	write_list(*state, "modules.1", text.data, text.length);
	modules_read(&found, *state);
	assert_int_equal(found.count, 2);
	assert_string_equal(found.items[0], "/good");
	strlist_release(&found);
	strbuf_reset(&text);
	/* More bytes, paths and files than are read. */
	while (text.length < 2 * (size_t)MODULES_BYTES_MAX) {
		strbuf_addf(&text, "/%zu", text.length);
		strbuf_addch(&text, '\0');
	}
	for (int i = 1; i < MODULES_FILES_MAX + 10; i++) {
		char file[32];

		(void)snprintf(file, sizeof(file), "modules.%d", i);
		write_list(*state, file, text.data,
			   i == 1 ? text.length : 1000);
	}
	modules_read(&found, *state);
	assert_true(found.count > 100);
	assert_true(found.count <= MODULES_PATHS_MAX);
	strlist_release(&found);
	strbuf_release(&text);
	free(name);
}

static void noise_is_survived(void **state)
{
	uint64_t seed = 3;

	for (size_t i = 0; i < 200; i++) {
		size_t length = scratch_random(&seed) % 3000;
		char *noise = scratch_random_text(&seed, length);
		struct strlist found = STRLIST_INIT;

		for (size_t at = 0; at < length; at += 7)
			noise[at] = "/\0.\n/"[scratch_random(&seed) % 5];
		write_list(*state, "modules.9", noise, length);
		modules_read(&found, *state);
		for (size_t n = 0; n < found.count; n++) {
			assert_int_equal(found.items[n][0], '/');
			assert_null(strstr(found.items[n], "/../"));
			assert_null(strchr(found.items[n], '\n'));
		}
		strlist_release(&found);
		free(noise);
	}
}

static void a_start_is_taken_whole_or_not_at_all(void **state)
{
	static const struct {
		const char *name, *text;
		size_t length, traits, argv, environment;
	} rows[] = {
		{ "whole", LIST("2\0002\0u=1\0n=0\0python\0\0A=1"), 2, 2, 1 },
		{ "no environment", LIST("0\0001\0python"), 0, 1, 0 },
		{ "an end is cut off", "0\0001\0python\0A=1\0B=", 17, 0, 1, 1 },
		{ "empty", "", 0, 0, 0, 0 },
		{ "no word", LIST("1\0000\0u=1\0A=1"), 0, 0, 0 },
		{ "more words than there are", LIST("0\0009\0python"), 0, 0,
		  0 },
		{ "more traits", LIST("9\0001\0u=1\0python"), 0, 0, 0 },
		{ "negative", LIST("-1\0001\0u=1\0python"), 0, 0, 0 },
		{ "both too large",
		  LIST("9223372036854775807\0009223372036854775807\0python"), 0,
		  0, 0 },
		{ "no numbers", LIST("a\0b\0python"), 0, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct started started = { { 0 }, { 0 }, { 0 } };

		print_message("%s\n", rows[i].name);
		write_list(*state, "start.5", rows[i].text, rows[i].length);
		started_read(&started, *state);
		assert_int_equal(started.traits.count, rows[i].traits);
		assert_int_equal(started.argv.count, rows[i].argv);
		assert_int_equal(started.environment.count,
				 rows[i].environment);
		started_release(&started);
	}
}

static void of_two_starts_none_is_taken(void **state)
{
	struct started started = { { 0 }, { 0 }, { 0 } };

	write_list(*state, "start.5", LIST("0\0001\0python"));
	write_list(*state, "start.6", LIST("0\0001\0python"));
	started_read(&started, *state);
	assert_int_equal(started.argv.count, 0);
	started_release(&started);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define IN_FOLDER(test)                                                        \
	cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)
		IN_FOLDER(lists_are_joined),
		IN_FOLDER(opened_files_are_older_than_the_tuning),
		IN_FOLDER(other_names_are_passed_over),
		IN_FOLDER(hostile_paths_are_passed_over),
		IN_FOLDER(long_lists_are_bounded),
		IN_FOLDER(noise_is_survived),
		IN_FOLDER(a_start_is_taken_whole_or_not_at_all),
		IN_FOLDER(of_two_starts_none_is_taken),
#undef IN_FOLDER
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
