/* Records in a folder: what they are called, found by and listed. */
/* SPDX-License-Identifier: MIT */
/* USES configs */
#include "configs/records/record.h"

#include "tests/unit/record_folder.h"

#include <errno.h>

static void ids_are_names_of_files(void **state)
{
	static const struct {
		const char *name, *script, *device, *start;
	} rows[] = {
		{ "usual", "train.py", "NVIDIA H200", "train-NVIDIA-H200-" },
		{ "path", "/a b/c/run_clm.py", "host", "run_clm-host-" },
		{ "module", "torchtune.cli", "host", "torchtune.cli-host-" },
		{ "only .py", ".py", "host", "py-host-" },
		{ "hidden", ".hidden", "..", "hidden-device-" },
		{ "empty", "", "", "command-device-" },
		{ "folder", "dir/", "x", "command-x-" },
		{ "option", "--x", "-y-", "x-y-" },
		{ "blanks", "  a  b  ", "A (B)", "a-b-A-B-" },
		{ "control", "\x1b[31m", "\n", "31m-device-" },
		{ "unicode", "\xc3\xa9t\xc3\xa9", "\xff", "t-device-" },
		{ "long",
		  "0123456789012345678901234567890123456789012345678901234567",
		  "0123456789012345678901234567890123456789012345678901234567",
		  "012345678901234567890123456789012345678901234567-"
		  "0123456789012345678901234567890123456789-" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct record record = RECORD_INIT;
		size_t start = strlen(rows[i].start);

		print_message("%s\n", rows[i].name);
		record.identity = xstrdup("who");
		record_set_id(&record, rows[i].script, rows[i].device);
		assert_int_equal(strncmp(record.id, rows[i].start, start), 0);
		assert_int_equal(strspn(record.id + start, "0123456789abcdef"),
				 4);
		assert_int_equal(strlen(record.id), start + 4);
		record_release(&record);
	}
}

static size_t count_records(const char *folder)
{
	struct strlist paths = STRLIST_INIT;
	size_t count;

	assert_int_equal(record_list(&paths, folder, NULL), 0);
	count = paths.count;
	strlist_release(&paths);
	return count;
}

static void an_identity_finds_its_record(void **state)
{
	static const char *const identities[] = {
		"python train.py\nH200",
		"python train.py\nH100",
		"python train.py\nH20",
		"",
		"\xff\n%41;",
	};
	const size_t count = sizeof(identities) / sizeof(*identities);
	char missing[SCRATCH_PATH_MAX];

	for (size_t i = 0; i < count; i++)
		write_sample(*state, identities[i], (int64_t)i);
	for (size_t i = 0; i < count; i++)
		assert_found(*state, identities[i], (int64_t)i);
	write_sample(*state, identities[1], 99);
	assert_found(*state, identities[1], 99);
	assert_int_equal(count_records(*state), count);
	assert_not_found(*state, "python train.py");
	scratch_path(missing, *state, "missing");
	assert_nothing(missing, identities[0]);
	assert_int_equal(count_records(missing), 0);
}

static void a_folder_that_is_none_is_an_error(void **state)
{
	char path[SCRATCH_PATH_MAX];
	struct strlist paths = STRLIST_INIT;
	struct error err = ERROR_INIT;

	scratch_path(path, *state, "file");
	assert_int_equal(scratch_write(path, "", 0), 0);
	assert_int_equal(record_list(&paths, path, &err), -ENOTDIR);
	assert_non_null(strstr(err.message, path));
	assert_nothing(path, "who");
}

/* Texts whose records have the same id; the caller frees them. */
static void find_collisions(char *texts[], size_t count)
{
	struct record wanted = sample_record("first");
	size_t found = 1;

	texts[0] = xstrdup("first");
	for (int i = 0; found < count; i++) {
		struct record other = RECORD_INIT;

		assert_in_range(i, 0, 2000000);
		other.identity = xasprintf("other %d", i);
		record_set_id(&other, "train.py", "NVIDIA H200");
		if (strcmp(other.id, wanted.id) == 0)
			texts[found++] = xstrdup(other.identity);
		record_release(&other);
	}
	record_release(&wanted);
}

static void a_record_of_another_identity_is_not_overwritten(void **state)
{
	struct record first = sample_record("first");
	char path[SCRATCH_PATH_MAX + 64];
	char *texts[3];

	find_collisions(texts, 3);
	for (int i = 0; i < 3; i++)
		write_sample(*state, texts[i], i);
	for (int i = 0; i < 3; i++)
		assert_found(*state, texts[i], i);
	assert_int_equal(count_records(*state), 3);
	/* Again in another order, and after the first name became free. */
	write_sample(*state, texts[2], 12);
	write_sample(*state, texts[0], 10);
	(void)snprintf(path, sizeof(path), "%s/%s.ini", (char *)*state,
		       first.id);
	assert_int_equal(unlink(path), 0);
	assert_not_found(*state, texts[0]);
	write_sample(*state, texts[1], 11);
	assert_int_equal(count_records(*state), 2);
	assert_int_equal(access(path, F_OK), -1);
	write_sample(*state, texts[0], 20);
	assert_found(*state, texts[0], 20);
	assert_found(*state, texts[1], 11);
	assert_found(*state, texts[2], 12);
	assert_int_equal(count_records(*state), 3);
	for (int i = 0; i < 3; i++)
		free(texts[i]);
	record_release(&first);
}

/* As `lower` and `import` do: read, change, write. */
static void a_record_that_was_read_is_written_in_place(void **state)
{
	char *texts[2];
	struct record_match match;

	find_collisions(texts, 2);
	write_sample(*state, texts[0], 1);
	write_sample(*state, texts[1], 2);
	search(&match, *state, texts[1]);
	match.record.created = 3;
	assert_int_equal(record_write(&match.record, *state, NULL), 0);
	assert_int_equal(count_records(*state), 2);
	assert_found(*state, texts[0], 1);
	assert_found(*state, texts[1], 3);
	record_match_release(&match);
	free(texts[0]);
	free(texts[1]);
}

static void a_damaged_record_is_passed_over_and_replaced(void **state)
{
	struct strlist paths = STRLIST_INIT;

	write_sample(*state, "who", 1);
	assert_int_equal(record_list(&paths, *state, NULL), 0);
	assert_int_equal(scratch_write(paths.items[0], "[record]\n", 9), 0);
	assert_nothing(*state, "who");
	write_sample(*state, "who", 2);
	assert_found(*state, "who", 2);
	assert_int_equal(count_records(*state), 1);
	strlist_release(&paths);
}

static void what_is_no_file_is_neither_read_nor_replaced(void **state)
{
	struct record record = plain_record("who", 5);
	char path[SCRATCH_PATH_MAX];
	struct stat info;

	(void)snprintf(path, sizeof(path), "%s/%s.ini", (char *)*state,
		       record.id);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_nothing(*state, "who");
	assert_int_equal(record_write(&record, *state, NULL), 0);
	assert_found(*state, "who", record.created);
	assert_int_equal(stat(path, &info), 0);
	assert_true(S_ISFIFO(info.st_mode));
	assert_int_equal(count_records(*state), 1);
	record_release(&record);
}

static void of_two_copies_the_newer_is_taken(void **state)
{
	struct strlist paths = STRLIST_INIT;
	char other[SCRATCH_PATH_MAX];
	const char *dash;

	write_sample(*state, "who", 5);
	assert_int_equal(record_list(&paths, *state, NULL), 0);
	dash = strrchr(paths.items[0], '-');
	assert_non_null(dash);
	(void)snprintf(other, sizeof(other), "%s/copy%s", (char *)*state, dash);
	assert_int_equal(rename(paths.items[0], other), 0);
	write_sample(*state, "who", 4);
	assert_int_equal(count_records(*state), 2);
	assert_found(*state, "who", 5);
	write_sample(*state, "who", 6);
	assert_found(*state, "who", 6);
	strlist_release(&paths);
}

static void only_files_that_can_belong_are_opened(void **state)
{
	int watch;

	for (int i = 0; i < 300; i++) {
		char identity[32];

		(void)snprintf(identity, sizeof(identity), "who %d", i);
		write_sample(*state, identity, i);
	}
	watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	assert_true(watch >= 0);
	assert_true(inotify_add_watch(watch, *state, IN_OPEN) >= 0);
	assert_found(*state, "who 123", 123);
	/* Another's hash may be the same, but not many others'. */
	assert_in_range(count_events(watch), 1, 3);
	(void)close(watch);
}

static void set_changed(const char *path, time_t seconds, long nanoseconds)
{
	struct timespec times[2] = { { seconds, nanoseconds },
				     { seconds, nanoseconds } };

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void records_are_listed_newest_first(void **state)
{
	static const struct {
		const char *name;
		time_t seconds;
		long nanoseconds;
	} rows[] = {
		{ "b.ini", 100, 5 }, { "a.ini", 100, 6 },
		{ "d.ini", 100, 5 }, { "c.ini", 99, 999999999 },
		{ "e.ini", 200, 0 },
	};
	static const char *const expected[] = { "e.ini", "a.ini", "b.ini",
						"d.ini", "c.ini" };
	static const char *const others[] = { "x.ini.aB3dE6", ".ini", ".h.ini",
					      "x.INI", "x.txt" };
	struct strlist paths = STRLIST_INIT;
	char path[SCRATCH_PATH_MAX];

	for (size_t i = 0; i < 5; i++) {
		scratch_path(path, *state, others[i]);
		assert_int_equal(scratch_write(path, "", 0), 0);
		scratch_path(path, *state, rows[i].name);
		assert_int_equal(scratch_write(path, "", 0), 0);
		set_changed(path, rows[i].seconds, rows[i].nanoseconds);
	}
	scratch_path(path, *state, "folder.ini");
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(record_list(&paths, *state, NULL), 0);
	assert_int_equal(paths.count, 5);
	for (size_t i = 0; i < 5; i++) {
		scratch_path(path, *state, expected[i]);
		assert_string_equal(paths.items[i], path);
	}
	strlist_release(&paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_are_names_of_files),
#define IN_FOLDER(test)                                                        \
	cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)
		IN_FOLDER(an_identity_finds_its_record),
		IN_FOLDER(a_folder_that_is_none_is_an_error),
		IN_FOLDER(a_record_of_another_identity_is_not_overwritten),
		IN_FOLDER(a_record_that_was_read_is_written_in_place),
		IN_FOLDER(a_damaged_record_is_passed_over_and_replaced),
		IN_FOLDER(what_is_no_file_is_neither_read_nor_replaced),
		IN_FOLDER(of_two_copies_the_newer_is_taken),
		IN_FOLDER(only_files_that_can_belong_are_opened),
		IN_FOLDER(records_are_listed_newest_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
