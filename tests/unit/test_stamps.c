/* Files by their content: what changed since is found, and named. */
/* SPDX-License-Identifier: MIT */
/* USES configs */
#include "configs/identity/stamps.h"

#include "base/alloc.h"
#include "tests/unit/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include <cmocka.h>

#define LARGE ((4 << 20) + 1)

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[SCRATCH_PATH_MAX];

	scratch_path(path, folder, name);
	assert_int_equal(scratch_write(path, text, strlen(text)), 0);
}

static void set_time(const char *path, time_t seconds, long nanoseconds)
{
	struct timespec times[2] = { { seconds, nanoseconds },
				     { seconds, nanoseconds } };

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void a_stamp_is_of_the_content(void **state)
{
	char path[SCRATCH_PATH_MAX];
	char first[STAMP_TEXT_MAX];
	char again[STAMP_TEXT_MAX];

	scratch_path(path, *state, "a.py");
	write_file(*state, "a.py", "import torch\n");
	stamp_file(path, first);
	assert_int_equal(strlen(first), 16);
	assert_int_equal(strspn(first, "0123456789abcdef"), 16);
	/* Written again, at another time: the same content. */
	write_file(*state, "a.py", "import torch\n");
	set_time(path, 1000, 0);
	stamp_file(path, again);
	assert_string_equal(first, again);
	write_file(*state, "a.py", "import jax!!\n");
	stamp_file(path, again);
	assert_string_not_equal(first, again);
	/* Known: FNV-1a of nothing, and of "a". */
	write_file(*state, "a.py", "");
	stamp_file(path, again);
	assert_string_equal(again, "cbf29ce484222325");
	write_file(*state, "a.py", "a");
	stamp_file(path, again);
	assert_string_equal(again, "af63dc4c8601ec8c");
}

static void a_large_file_is_told_by_size_and_time(void **state)
{
	char path[SCRATCH_PATH_MAX];
	char stamps[4][STAMP_TEXT_MAX];

	scratch_path(path, *state, "large");
	write_file(*state, "large", "x");
	assert_int_equal(truncate(path, LARGE), 0);
	set_time(path, 1000, 5);
	stamp_file(path, stamps[0]);
	set_time(path, 1000, 6);
	stamp_file(path, stamps[1]);
	assert_int_equal(truncate(path, LARGE + 1), 0);
	set_time(path, 1000, 6);
	stamp_file(path, stamps[2]);
	assert_int_equal(truncate(path, LARGE - 1), 0);
	stamp_file(path, stamps[3]);
	assert_string_equal(stamps[0], "4194305@1000.000000005");
	assert_string_equal(stamps[1], "4194305@1000.000000006");
	assert_string_equal(stamps[2], "4194306@1000.000000006");
	assert_int_equal(strspn(stamps[3], "0123456789abcdef"), 16);
}

static void what_is_no_file_is_gone(void **state)
{
	char path[SCRATCH_PATH_MAX];
	char stamp[STAMP_TEXT_MAX];
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket",
		       (char *)*state);
	assert_int_equal(bind(fd, (void *)&address, sizeof(address)), 0);
	assert_int_equal(mkfifo(scratch_path(path, *state, "fifo"), 0600), 0);
	assert_int_equal(mkdir(scratch_path(path, *state, "folder"), 0700), 0);
	assert_int_equal(
		symlink("/dev/zero", scratch_path(path, *state, "zero")), 0);
	assert_int_equal(symlink("loop", scratch_path(path, *state, "loop")),
			 0);
	{
		static const char *const names[] = { "missing", "fifo",
						     "folder",  "zero",
						     "loop",    "socket",
						     "a/b",     "" };

		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
			print_message("%s\n", names[i]);
			stamp_file(scratch_path(path, *state, names[i]), stamp);
			assert_string_equal(stamp, "gone");
		}
	}
	stamp_file("", stamp);
	assert_string_equal(stamp, "gone");
	(void)close(fd);
}

/* One of the files below is changed in each row. */
static void what_changed_is_named(void **state)
{
	static const struct {
		const char *name;
		const char *write, *text; /* a file and what it becomes */
		const char *unlink;
		bool holds;
		const char *difference;
	} rows[] = {
		{ "nothing", NULL, NULL, NULL, true, "" },
		{ "written again", "model.py", "model", NULL, true, "" },
		{ "changed", "model.py", "mode1", NULL, false,
		  "model.py changed" },
		{ "longer", "model.py", "model ", NULL, false,
		  "model.py changed" },
		{ "empty", "model.py", "", NULL, false, "model.py changed" },
		{ "gone", NULL, NULL, "utils.py", false, "utils.py is gone" },
		{ "one changed, one gone", "model.py", "x", "utils.py", false,
		  "model.py changed; utils.py is gone" },
		{ "a name with blanks", "my data.py", "x", NULL, false,
		  "my data.py changed" },
		{ "a name with bytes", "\x1b[31m\xff.py", "x", NULL, false,
		  "?[31m?.py changed" },
	};
	static const char *const files[] = { "model.py", "utils.py",
					     "my data.py", "\x1b[31m\xff.py" };
	char path[SCRATCH_PATH_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strlist stamps = STRLIST_INIT;
		struct strbuf difference = STRBUF_INIT;

		print_message("%s\n", rows[i].name);
		for (size_t j = 0; j < 4; j++) {
			write_file(*state, files[j], j == 0 ? "model" : "same");
			stamps_add(&stamps,
				   scratch_path(path, *state, files[j]));
		}
		if (rows[i].write)
			write_file(*state, rows[i].write, rows[i].text);
		if (rows[i].unlink)
			assert_int_equal(unlink(scratch_path(path, *state,
							     rows[i].unlink)),
					 0);
		assert_int_equal(stamps_hold(&stamps, &difference),
				 rows[i].holds);
		assert_string_equal(strbuf_text(&difference),
				    rows[i].difference);
		assert_int_equal(stamps_hold(&stamps, NULL), rows[i].holds);
		strlist_release(&stamps);
		strbuf_release(&difference);
	}
}

static void a_malformed_stamp_is_a_change(void **state)
{
	static const struct {
		const char *name, *format; /* %s: the file's path */
		bool holds;
	} rows[] = {
		{ "sound", "af63dc4c8601ec8c %s", true },
		{ "another", "af63dc4c8601ec8d %s", false },
		{ "cut", "af63dc4c8601ec8 %s", false },
		{ "longer", "af63dc4c8601ec8c0 %s", false },
		{ "upper case", "AF63DC4C8601EC8C %s", false },
		{ "no stamp", " %s", false },
		{ "only a path", "%s", false },
		{ "two blanks", "af63dc4c8601ec8c  %s", false },
		{ "gone, but there", "gone %s", false },
		{ "gone, and gone", "gone %s.not", true },
		{ "there, but gone", "af63dc4c8601ec8c %s.not", false },
		{ "nothing", "", false },
		{ "only a stamp", "af63dc4c8601ec8c", false },
		{ "only gone", "gone", false },
	};
	char path[SCRATCH_PATH_MAX];

	write_file(*state, "a", "a");
	scratch_path(path, *state, "a");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *mark = strstr(rows[i].format, "%s");
		struct strlist stamps = STRLIST_INIT;
		struct strbuf entry = STRBUF_INIT;

		print_message("%s\n", rows[i].name);
		strbuf_add(&entry, rows[i].format,
			   mark ? (size_t)(mark - rows[i].format)
				: strlen(rows[i].format));
		if (mark)
			strbuf_addf(&entry, "%s%s", path, mark + 2);
		strlist_add(&stamps, strbuf_text(&entry));
		assert_int_equal(stamps_hold(&stamps, NULL), rows[i].holds);
		strlist_release(&stamps);
		strbuf_release(&entry);
	}
}

static void no_stamps_hold(void **state)
{
	struct strlist none = STRLIST_INIT;

	(void)state;
	assert_true(stamps_hold(&none, NULL));
}

static void many_are_counted(void **state)
{
	struct strlist stamps = STRLIST_INIT;
	struct strbuf difference = STRBUF_INIT;

	(void)state;
	for (int i = 0; i < 9; i++)
		strlist_addf(&stamps, "0 /missing/%d.py", i);
	assert_false(stamps_hold(&stamps, &difference));
	assert_string_equal(difference.data,
			    "0.py is gone; 1.py is gone; 2.py is gone, and 6 "
			    "more");
	strlist_release(&stamps);
	strbuf_release(&difference);
}

static void files_of_one_name_are_told_apart(void **state)
{
	struct strlist stamps = STRLIST_INIT;
	struct strbuf difference = STRBUF_INIT;

	(void)state;
	strlist_add(&stamps, "0 /missing/a/utils.py");
	strlist_add(&stamps, "0 /missing/b/utils.py");
	strlist_add(&stamps, "0 /missing/b/model.py");
	assert_false(stamps_hold(&stamps, &difference));
	assert_string_equal(strbuf_text(&difference),
			    "a/utils.py is gone; b/utils.py is gone; model.py "
			    "is gone");
	strlist_release(&stamps);
	strbuf_release(&difference);
}

static void only_so_many_are_read(void **state)
{
	struct strlist stamps = STRLIST_INIT;
	struct strbuf difference = STRBUF_INIT;
	char path[SCRATCH_PATH_MAX];

	write_file(*state, "a", "a");
	scratch_path(path, *state, "a");
	for (size_t i = 0; i < STAMPS_MAX; i++)
		strlist_addf(&stamps, "af63dc4c8601ec8c %s", path);
	assert_true(stamps_hold(&stamps, &difference));
	strlist_addf(&stamps, "af63dc4c8601ec8c %s", path);
	assert_false(stamps_hold(&stamps, NULL));
	assert_false(stamps_hold(&stamps, &difference));
	assert_string_equal(difference.data, "more files than can be compared");
	strlist_release(&stamps);
	strbuf_release(&difference);
}

/* The same large file again and again: 1 GiB would take seconds. */
static void only_so_much_is_read(void **state)
{
	struct strlist stamps = STRLIST_INIT;
	char path[SCRATCH_PATH_MAX];

	write_file(*state, "large", "");
	scratch_path(path, *state, "large");
	assert_int_equal(truncate(path, LARGE - 1), 0);
	stamps_add(&stamps, path);
	assert_true(stamps_hold(&stamps, NULL));
	while (stamps.count < 256)
		strlist_add(&stamps, stamps.items[0]);
	assert_false(stamps_hold(&stamps, NULL));
	strlist_release(&stamps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_stamps_hold),
		cmocka_unit_test(many_are_counted),
		cmocka_unit_test(files_of_one_name_are_told_apart),
#define IN_FOLDER(test)                                                        \
	cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)
		IN_FOLDER(a_stamp_is_of_the_content),
		IN_FOLDER(a_large_file_is_told_by_size_and_time),
		IN_FOLDER(what_is_no_file_is_gone),
		IN_FOLDER(what_changed_is_named),
		IN_FOLDER(a_malformed_stamp_is_a_change),
		IN_FOLDER(only_so_many_are_read),
		IN_FOLDER(only_so_much_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
