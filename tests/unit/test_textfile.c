/* Files are read within bounds and replaced so that no reader sees half. */
/* SPDX-License-Identifier: MIT */
/* USES base */
#include "base/textfile.h"

#include "tests/unit/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>

static size_t count_entries(const char *folder)
{
	DIR *dir = opendir(folder);
	size_t count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	(void)closedir(dir);
	return count - 2;
}

static void files_are_read_within_bounds(void **state)
{
	static const struct {
		const char *name;
		size_t size, max_bytes;
		int result;
	} rows[] = {
		{ "empty", 0, 10, 0 },
		{ "empty, nothing asked", 0, 0, 0 },
		{ "shorter", 9, 10, 0 },
		{ "exact", 10, 10, 0 },
		{ "longer", 11, 10, 1 },
		{ "nothing asked", 1, 0, 1 },
		{ "one piece", 65536, 65536, 0 },
		{ "one piece and one", 65537, 65536, 1 },
		{ "many pieces", 300000, 1 << 20, 0 },
	};
	char path[SCRATCH_PATH_MAX];

	scratch_path(path, *state, "file");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strbuf out = STRBUF_INIT;
		uint64_t seed = i + 1;
		char *data = scratch_random_text(&seed, rows[i].size);
		size_t kept = rows[i].size < rows[i].max_bytes
				      ? rows[i].size
				      : rows[i].max_bytes;

		print_message("%s\n", rows[i].name);
		assert_int_equal(scratch_write(path, data, rows[i].size), 0);
		strbuf_adds(&out, "<");
		assert_int_equal(
			textfile_read(path, rows[i].max_bytes, &out, NULL),
			rows[i].result);
		assert_int_equal(out.length, kept + 1);
		assert_memory_equal(out.data + 1, data, kept);
		strbuf_release(&out);
		free(data);
	}
}

static void what_is_no_file_is_refused(void **state)
{
	char fifo[SCRATCH_PATH_MAX];
	char missing[SCRATCH_PATH_MAX];
	struct {
		const char *name, *path;
		int result;
	} rows[] = {
		{ "FIFO without a writer", fifo, -EINVAL },
		{ "folder", *state, -EINVAL },
		{ "device", "/dev/zero", -EINVAL },
		{ "missing", missing, -ENOENT },
	};

	scratch_path(missing, *state, "missing");
	assert_int_equal(mkfifo(scratch_path(fifo, *state, "fifo"), 0600), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strbuf out = STRBUF_INIT;
		struct error err = ERROR_INIT;

		print_message("%s\n", rows[i].name);
		assert_int_equal(textfile_read(rows[i].path, 100, &out, &err),
				 rows[i].result);
		assert_int_equal(err.code, rows[i].result);
		assert_non_null(strstr(err.message, rows[i].path));
		assert_int_equal(out.length, 0);
		strbuf_release(&out);
	}
}

static void proc_is_read(void **state)
{
	struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_int_equal(textfile_read("/proc/self/stat", 4096, &out, NULL), 0);
	assert_true(out.length > 10);
	strbuf_release(&out);
}

static void a_file_is_replaced_whole(void **state)
{
	char path[SCRATCH_PATH_MAX];
	struct strbuf out = STRBUF_INIT;
	struct stat info;

	scratch_path(path, *state, "file");
	assert_int_equal(scratch_write(path, "old", 3), 0);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(textfile_replace(path, 0600, "new\0text", 8, NULL), 0);
	assert_int_equal(textfile_read(path, 100, &out, NULL), 0);
	assert_int_equal(out.length, 8);
	assert_memory_equal(out.data, "new\0text", 8);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0600);
	assert_int_equal(count_entries(*state), 1);
	assert_int_equal(textfile_replace(path, 0640, "", 0, NULL), 0);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_size, 0);
	assert_int_equal(info.st_mode & 07777, 0640);
	strbuf_release(&out);
}

static void a_file_is_made_once(void **state)
{
	char path[SCRATCH_PATH_MAX];
	struct error err = ERROR_INIT;
	struct strbuf out = STRBUF_INIT;
	struct stat info;

	scratch_path(path, *state, "file");
	assert_int_equal(textfile_make(path, 0750, "text", 4, NULL), 0);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0750);
	assert_int_equal(textfile_make(path, 0600, "other", 5, &err), -EEXIST);
	assert_non_null(strstr(err.message, path));
	assert_int_equal(textfile_read(path, 100, &out, NULL), 0);
	assert_string_equal(strbuf_text(&out), "text");
	assert_int_equal(count_entries(*state), 1);
	strbuf_release(&out);
}

/* Exits 0 when a write over the limit failed and changed nothing. */
static void replace_beyond_the_limit(const char *path)
{
	struct rlimit limit = { 100, 100 };
	char data[1000] = { 0 };

	if (setrlimit(RLIMIT_FSIZE, &limit) < 0 ||
	    signal(SIGXFSZ, SIG_IGN) == SIG_ERR)
		_exit(2);
	_exit(textfile_replace(path, 0600, data, sizeof(data), NULL) == -EFBIG
		      ? 0
		      : 1);
}

static void a_failure_leaves_the_old_file_alone(void **state)
{
	char path[SCRATCH_PATH_MAX];
	char below[SCRATCH_PATH_MAX];
	struct strbuf out = STRBUF_INIT;
	struct error err = ERROR_INIT;
	int status;
	pid_t pid;

	scratch_path(path, *state, "file");
	assert_int_equal(scratch_write(path, "old", 3), 0);
	pid = fork();
	if (pid == 0)
		replace_beyond_the_limit(path);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(textfile_read(path, 100, &out, NULL), 0);
	assert_string_equal(strbuf_text(&out), "old");
	assert_int_equal(count_entries(*state), 1);
	assert_int_equal(textfile_replace(scratch_path(below, path, "x"), 0600,
					  "", 0, &err),
			 -ENOTDIR);
	assert_non_null(strstr(err.message, below));
	assert_int_equal(textfile_replace(*state, 0600, "", 0, NULL), -EISDIR);
	strbuf_release(&out);
}

static void what_the_user_names_stays_what_it_is(void **state)
{
	char pipe_path[SCRATCH_PATH_MAX], file[SCRATCH_PATH_MAX];
	char link_path[SCRATCH_PATH_MAX], missing[SCRATCH_PATH_MAX];
	struct strbuf out = STRBUF_INIT;
	char got[4] = "";
	struct stat info;
	int reader;

	scratch_path(pipe_path, *state, "pipe");
	assert_int_equal(mkfifo(pipe_path, 0600), 0);
	assert_int_equal(textfile_give(pipe_path, "new", 3, NULL), -ENXIO);
	reader = open(pipe_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(reader >= 0);
	assert_int_equal(textfile_give(pipe_path, "new", 3, NULL), 0);
	assert_int_equal(read(reader, got, 3), 3);
	assert_string_equal(got, "new");
	assert_int_equal(close(reader), 0);
	assert_int_equal(stat(pipe_path, &info), 0);
	assert_true(S_ISFIFO(info.st_mode));
	scratch_path(file, *state, "file");
	assert_int_equal(scratch_write(file, "old", 3), 0);
	assert_int_equal(chmod(file, 0640), 0);
	assert_int_equal(symlink("file", scratch_path(link_path, *state, "l")),
			 0);
	assert_int_equal(textfile_give(link_path, "new", 3, NULL), 0);
	assert_int_equal(lstat(link_path, &info), 0);
	assert_true(S_ISLNK(info.st_mode));
	assert_int_equal(textfile_read(file, 100, &out, NULL), 0);
	assert_string_equal(strbuf_text(&out), "new");
	assert_int_equal(stat(file, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0640);
	assert_int_equal(textfile_can_give(link_path, NULL), 0);
	assert_int_equal(textfile_can_give(*state, NULL), -EISDIR);
	assert_int_equal(
		textfile_can_give(scratch_path(missing, *state, "no/x"), NULL),
		-ENOENT);
	strbuf_release(&out);
}

/* The limit's signal ends it in the middle of a write. */
static void who_is_killed_leaves_nothing(void **state)
{
	struct rlimit limit = { 100, 100 };
	char path[SCRATCH_PATH_MAX];
	char data[1000] = { 0 };
	int fd = open(*state, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	int status;
	pid_t pid;

	if (fd < 0)
		skip(); /* here it leaves a file */
	(void)close(fd);
	scratch_path(path, *state, "file");
	for (int entries = 0; entries < 2; entries++) {
		pid = fork();
		if (pid == 0 && setrlimit(RLIMIT_FSIZE, &limit) == 0)
			_exit(textfile_replace(path, 0600, data, sizeof(data),
					       NULL));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGXFSZ);
		assert_int_equal(count_entries(*state), entries);
		assert_int_equal(scratch_write(path, "old", 3), 0);
	}
}

static bool is_folder(const char *path, mode_t mode)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode) &&
	       (info.st_mode & 07777) == mode;
}

static void folders_are_made_with_all_above(void **state)
{
	char path[SCRATCH_PATH_MAX];
	char file[SCRATCH_PATH_MAX];
	struct error err = ERROR_INIT;

	scratch_path(path, *state, "a/b//c/");
	assert_int_equal(folder_make(path, 0700, NULL), 0);
	assert_int_equal(folder_make(path, 0755, NULL), 0);
	assert_true(is_folder(path, 0700));
	assert_true(is_folder(scratch_path(path, *state, "a/b"), 0700));
	assert_true(is_folder(scratch_path(path, *state, "a"), 0700));
	assert_int_equal(folder_make("/", 0700, NULL), 0);
	scratch_path(file, *state, "file");
	assert_int_equal(scratch_write(file, "", 0), 0);
	scratch_path(path, *state, "file/x");
	assert_int_equal(folder_make(path, 0700, &err), -ENOTDIR);
	assert_non_null(strstr(err.message, path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(files_are_read_within_bounds,
						scratch_make, scratch_remove),
		cmocka_unit_test_setup_teardown(what_is_no_file_is_refused,
						scratch_make, scratch_remove),
		cmocka_unit_test(proc_is_read),
		cmocka_unit_test_setup_teardown(a_file_is_replaced_whole,
						scratch_make, scratch_remove),
		cmocka_unit_test_setup_teardown(a_file_is_made_once,
						scratch_make, scratch_remove),
		cmocka_unit_test_setup_teardown(
			a_failure_leaves_the_old_file_alone, scratch_make,
			scratch_remove),
		cmocka_unit_test_setup_teardown(
			what_the_user_names_stays_what_it_is, scratch_make,
			scratch_remove),
		cmocka_unit_test_setup_teardown(who_is_killed_leaves_nothing,
						scratch_make, scratch_remove),
		cmocka_unit_test_setup_teardown(folders_are_made_with_all_above,
						scratch_make, scratch_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
