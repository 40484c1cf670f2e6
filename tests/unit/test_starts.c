/* The first split of a run: kept, found by its whole key, never trusted. */
/* SPDX-License-Identifier: MIT */
/* USES base configs */
#include "configs/records/starts.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "base/strlist.h"
#include "base/textfile.h"
#include "tests/unit/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

#define FILE_MAX (1 << 26)
#define NOBODY 65534

static struct start sample(int64_t micro)
{
	return (struct start){
		.batch.micro_batch = micro,
		.batch.grad_accum = 4,
		.batch.world_size = 2,
		.peak_bytes = UINT64_MAX,
		.on_host = true,
		.created = 1700000000,
		.record_id = "train-NVIDIA-H200-1a2b",
	};
}

static bool starts_equal(const struct start *a, const struct start *b)
{
	return a->batch.micro_batch == b->batch.micro_batch &&
	       a->batch.grad_accum == b->batch.grad_accum &&
	       a->batch.world_size == b->batch.world_size &&
	       a->peak_bytes == b->peak_bytes && a->on_host == b->on_host &&
	       a->created == b->created &&
	       strcmp(a->record_id, b->record_id) == 0;
}

static void path_of(char path[SCRATCH_PATH_MAX], const char *folder,
		    const char *key)
{
	(void)snprintf(path, SCRATCH_PATH_MAX, "%s/%016" PRIx64 ".start",
		       folder, hash_bytes(key, strlen(key)));
}

static size_t count_files(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	size_t count = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		count += entry->d_name[0] != '.';
	(void)closedir(dir);
	return count;
}

static void write_sample(const char *folder, const char *key, int64_t micro)
{
	struct start start = sample(micro);
	struct error err = ERROR_INIT;

	if (start_write(&start, folder, key, 0, &err) < 0)
		fail_msg("%s", err.message);
}

/* micro 0: there is none. */
static void assert_start(const char *folder, const char *key, int64_t micro)
{
	static const struct start empty = { 0 };
	struct start expected = micro ? sample(micro) : empty;
	struct start found = sample(99);

	assert_int_equal(start_read(&found, folder, key), micro != 0);
	assert_true(starts_equal(&found, &expected));
}

static void any_key_finds_its_own(void **state)
{
	static const char *const keys[] = {
		"slurm 123\npython train.py",
		"slurm 124\npython train.py",
		"",
		"a\nend\n",
		"key = x",
		"\xff %41;#\t",
		" ",
	};
	const size_t count = sizeof(keys) / sizeof(*keys);
	char folder[SCRATCH_PATH_MAX];
	uint64_t seed = 5;

	scratch_path(folder, *state, "state/starts");
	for (size_t i = 0; i < count; i++)
		assert_start(folder, keys[i], 0);
	for (size_t i = 0; i < count; i++)
		write_sample(folder, keys[i], (int64_t)i + 1);
	for (size_t i = 0; i < count; i++)
		assert_start(folder, keys[i], (int64_t)i + 1);
	assert_start(folder, "a", 0);
	assert_int_equal(count_files(folder), count);
	for (int i = 0; i < 100; i++) {
		char *key = scratch_random_text(&seed, (size_t)i * 37);

		write_sample(folder, key, 7);
		assert_start(folder, key, i == 0 ? 3 : 7);
		free(key);
	}
}

static void the_first_is_kept(void **state)
{
	struct start other = sample(64);

	write_sample(*state, "key", 8);
	write_sample(*state, "key", 16);
	assert_start(*state, "key", 8);
	assert_int_equal(start_write(&other, *state, "key", 1, NULL), 0);
	assert_start(*state, "key", 64);
	assert_int_equal(count_files(*state), 1);
}

static void files_are_for_their_user_only(void **state)
{
	char folder[SCRATCH_PATH_MAX];
	char path[SCRATCH_PATH_MAX];
	struct stat info;

	scratch_path(folder, *state, "starts");
	write_sample(folder, "key", 8);
	path_of(path, folder, "key");
	assert_int_equal(stat(folder, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0700);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0600);
}

static struct strbuf text_of(const char *folder, const char *key)
{
	char path[SCRATCH_PATH_MAX];
	struct strbuf text = STRBUF_INIT;

	path_of(path, folder, key);
	assert_int_equal(textfile_read(path, FILE_MAX, &text, NULL), 0);
	return text;
}

/* A cut or changed file is none, or it says what it said. */
static void a_damaged_file_is_ignored(void **state)
{
	static const char bytes[] = { 0, '\n', ' ', '9', '-', '%', '\xff' };
	struct strbuf text;
	char path[SCRATCH_PATH_MAX];

	write_sample(*state, "a key", 8);
	text = text_of(*state, "a key");
	path_of(path, *state, "a key");
	for (size_t length = 0; length < text.length; length++) {
		assert_int_equal(scratch_write(path, text.data, length), 0);
		assert_start(*state, "a key", 0);
	}
	for (size_t at = 0; at < text.length; at++) {
		for (size_t i = 0; i < sizeof(bytes); i++) {
			struct start found;
			char old = text.data[at];

			text.data[at] = bytes[i];
			assert_int_equal(
				scratch_write(path, text.data, text.length), 0);
			/* Another digit is another number, as the user may. */
			if (start_read(&found, *state, "a key"))
				assert_true(bytes[i] == old ||
					    bytes[i] == '9' || bytes[i] == '-');
			text.data[at] = old;
		}
	}
	strbuf_addch(&text, '\n');
	assert_int_equal(scratch_write(path, text.data, text.length), 0);
	assert_start(*state, "a key", 0);
	/* And it is replaced as if it were not there. */
	write_sample(*state, "a key", 16);
	assert_start(*state, "a key", 16);
	strbuf_release(&text);
}

static void hostile_values_are_ignored(void **state)
{
	static const struct {
		const char *name, *from, *to;
	} rows[] = {
		{ "schema", "autofit.start/1", "autofit.start/2" },
		{ "zero", "micro_batch = 8", "micro_batch = 0" },
		{ "negative", "micro_batch = 8", "micro_batch = -8" },
		{ "huge", "micro_batch = 8",
		  "micro_batch = 9223372036854775808" },
		{ "product", "micro_batch = 8",
		  "micro_batch = 9223372036854775807" },
		{ "hex", "micro_batch = 8", "micro_batch = 0x8" },
		{ "blank", "micro_batch = 8", "micro_batch =  8" },
		{ "leading zero", "micro_batch = 8", "micro_batch = 08" },
		{ "nan", "grad_accum = 4", "grad_accum = nan" },
		{ "no world", "world_size = 2\n", "" },
		{ "world", "world_size = 2", "world_size = 0" },
		{ "bytes", "18446744073709551615", "18446744073709551616" },
		{ "future", "created = 1700000000", "created = 99999999999" },
		{ "far future", "created = 1700000000",
		  "created = 9223372036854775807" },
		{ "order", "grad_accum = 4\nworld_size = 2",
		  "world_size = 2\ngrad_accum = 4" },
		{ "twice", "grad_accum = 4", "grad_accum = 4\ngrad_accum = 4" },
		{ "id is a path", "record_id = t", "record_id = ../t" },
		{ "another key", "key = a", "key = b" },
		{ "longer key", "key = a", "key = aa" },
		{ "more", "end\n", "end\nend\n" },
	};
	struct strbuf text;
	char path[SCRATCH_PATH_MAX];

	write_sample(*state, "a", 8);
	text = text_of(*state, "a");
	path_of(path, *state, "a");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *at = strstr(text.data, rows[i].from);
		struct strbuf changed = STRBUF_INIT;

		print_message("%s\n", rows[i].name);
		assert_non_null(at);
		strbuf_add(&changed, text.data, (size_t)(at - text.data));
		strbuf_adds(&changed, rows[i].to);
		strbuf_adds(&changed, at + strlen(rows[i].from));
		assert_int_equal(
			scratch_write(path, changed.data, changed.length), 0);
		assert_start(*state, "a", 0);
		strbuf_release(&changed);
	}
	strbuf_release(&text);
}

enum trouble {
	NO_TROUBLE,
	FOR_ALL,
	OF_ANOTHER,
	IN_ANOTHERS_FOLDER,
	LINK_TO_ZERO,
	NOT_A_FILE,
	FIFO,
	HUGE_FILE,
};

static void make_trouble(const char *folder, const char *path,
			 enum trouble trouble)
{
	switch (trouble) {
	case NO_TROUBLE:
		break;
	case FOR_ALL:
		assert_int_equal(chmod(path, 0666), 0);
		break;
	case OF_ANOTHER:
		assert_int_equal(chown(path, NOBODY, NOBODY), 0);
		break;
	case IN_ANOTHERS_FOLDER:
		assert_int_equal(chmod(folder, 0777), 0);
		break;
	case LINK_TO_ZERO:
		assert_int_equal(unlink(path), 0);
		assert_int_equal(symlink("/dev/zero", path), 0);
		break;
	case NOT_A_FILE:
		assert_int_equal(unlink(path), 0);
		assert_int_equal(mkdir(path, 0700), 0);
		break;
	case FIFO:
		assert_int_equal(unlink(path), 0);
		assert_int_equal(mkfifo(path, 0600), 0);
		break;
	case HUGE_FILE:
		assert_int_equal(truncate(path, INT64_C(1) << 40), 0);
		break;
	}
}

static void only_sound_files_of_the_user_count(void **state)
{
	static const struct {
		const char *name;
		enum trouble trouble;
		bool as_root;
	} rows[] = {
		{ "sound", NO_TROUBLE, false },
		{ "others may write", FOR_ALL, false },
		{ "another's", OF_ANOTHER, true },
		{ "others may write to the folder", IN_ANOTHERS_FOLDER, false },
		{ "link to /dev/zero", LINK_TO_ZERO, false },
		{ "folder", NOT_A_FILE, false },
		{ "FIFO", FIFO, false },
		{ "huge", HUGE_FILE, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char folder[SCRATCH_PATH_MAX];
		char path[SCRATCH_PATH_MAX];
		char name[32];

		if (rows[i].as_root && geteuid() != 0)
			continue;
		print_message("%s\n", rows[i].name);
		(void)snprintf(name, sizeof(name), "%zu", i);
		scratch_path(folder, *state, name);
		write_sample(folder, "key", 8);
		path_of(path, folder, "key");
		make_trouble(folder, path, rows[i].trouble);
		assert_start(folder, "key",
			     rows[i].trouble == NO_TROUBLE ? 8 : 0);
		start_forget(folder, "train-NVIDIA-H200-1a2b");
		assert_int_equal(access(path, F_OK) == 0 ||
					 rows[i].trouble == LINK_TO_ZERO,
				 rows[i].trouble != NO_TROUBLE);
	}
}

static void what_could_not_be_read_is_not_written(void **state)
{
	static const struct {
		const char *name;
		struct start start;
	} rows[] = {
		{ "empty", { .created = 0 } },
		{ "negative", { { 8, -4, 1, 0 }, 0, false, 0, "" } },
		{ "overflow", { { INT64_MAX, 2, 1, 0 }, 0, false, 0, "" } },
		{ "time", { { 8, 4, 1, 0 }, 0, false, -1, "" } },
		{ "id", { { 8, 4, 1, 0 }, 0, false, 0, "a\nb" } },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct error err = ERROR_INIT;

		print_message("%s\n", rows[i].name);
		assert_int_equal(
			start_write(&rows[i].start, *state, "key", 0, &err),
			-EINVAL);
		assert_non_null(strstr(err.message, "cannot write"));
		assert_int_equal(count_files(*state), 0);
	}
}

static void a_folder_that_is_none_is_an_error(void **state)
{
	char path[SCRATCH_PATH_MAX];
	struct start start = sample(8);
	struct error err = ERROR_INIT;

	scratch_path(path, *state, "file");
	assert_int_equal(scratch_write(path, "", 0), 0);
	assert_int_equal(start_write(&start, path, "key", 0, &err), -ENOTDIR);
	assert_non_null(strstr(err.message, path));
	assert_start(path, "key", 0);
	start_forget(path, "x");
}

static void set_age(const char *path, time_t seconds)
{
	struct timespec times[2] = { { time(NULL) - seconds, 0 },
				     { time(NULL) - seconds, 0 } };

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void the_oldest_go(void **state)
{
	char path[SCRATCH_PATH_MAX];
	char key[32];

	for (int i = 0; i < STARTS_KEPT + 5; i++) {
		(void)snprintf(key, sizeof(key), "%d", i);
		path_of(path, *state, key);
		assert_int_equal(scratch_write(path, "x", 1), 0);
		set_age(path, 100000 - i);
	}
	/* Old, but not ours to remove. */
	scratch_path(path, *state, "notes.txt");
	assert_int_equal(scratch_write(path, "x", 1), 0);
	set_age(path, 1000000);
	write_sample(*state, "new", 8);
	assert_int_equal(count_files(*state), STARTS_KEPT + 1);
	assert_start(*state, "new", 8);
	for (int i = 0; i < STARTS_KEPT + 5; i++) {
		(void)snprintf(key, sizeof(key), "%d", i);
		path_of(path, *state, key);
		assert_int_equal(access(path, F_OK) == 0, i >= 6);
	}
}

/* With files of a clock that runs ahead, what was just written stays. */
static void what_was_written_stays(void **state)
{
	char path[SCRATCH_PATH_MAX];
	char key[32];

	for (int i = 0; i < STARTS_KEPT; i++) {
		(void)snprintf(key, sizeof(key), "%d", i);
		path_of(path, *state, key);
		assert_int_equal(scratch_write(path, "x", 1), 0);
		set_age(path, -10000);
	}
	write_sample(*state, "new", 8);
	assert_start(*state, "new", 8);
	assert_int_equal(count_files(*state), STARTS_KEPT);
}

static void left_overs_of_killed_writers_go(void **state)
{
	char path[SCRATCH_PATH_MAX];
	char old[SCRATCH_PATH_MAX + 16];
	char fresh[SCRATCH_PATH_MAX + 16];

	path_of(path, *state, "key");
	(void)snprintf(old, sizeof(old), "%s.a1B2c3", path);
	(void)snprintf(fresh, sizeof(fresh), "%s.d1B2c3", path);
	assert_int_equal(scratch_write(old, "x", 1), 0);
	assert_int_equal(scratch_write(fresh, "x", 1), 0);
	set_age(old, 4000);
	write_sample(*state, "key", 8);
	assert_int_equal(access(old, F_OK), -1);
	assert_int_equal(access(fresh, F_OK), 0);
	assert_start(*state, "key", 8);
}

static void a_records_starts_are_forgotten(void **state)
{
	struct start other = sample(16);
	struct start none = sample(32);
	char missing[SCRATCH_PATH_MAX];

	(void)snprintf(other.record_id, sizeof(other.record_id), "other-1");
	none.record_id[0] = '\0';
	write_sample(*state, "a", 8);
	write_sample(*state, "b", 8);
	assert_int_equal(start_write(&other, *state, "c", 0, NULL), 0);
	assert_int_equal(start_write(&none, *state, "d", 0, NULL), 0);
	start_forget(*state, "");
	start_forget(*state, "train-NVIDIA-H200-1a2");
	start_forget(scratch_path(missing, *state, "missing"), "other-1");
	assert_int_equal(count_files(*state), 4);
	start_forget(*state, "train-NVIDIA-H200-1a2b");
	assert_int_equal(count_files(*state), 2);
	assert_start(*state, "a", 0);
	assert_int_equal(start_read(&other, *state, "c"), 1);
	assert_int_equal(start_read(&none, *state, "d"), 1);
}

static void write_again_and_again(const char *folder, int64_t micro)
{
	struct start start = sample(micro);

	for (int i = 0; i < 20; i++)
		if (start_write(&start, folder, "key", 1, NULL) < 0)
			_exit(1);
	_exit(0);
}

static void readers_see_whole_files_only(void **state)
{
	int left = 4;

	write_sample(*state, "key", 1);
	for (int64_t writer = 1; writer <= 4; writer++)
		if (fork() == 0)
			write_again_and_again(*state, writer);
	while (left) {
		struct start found;
		int status;

		assert_int_equal(start_read(&found, *state, "key"), 1);
		assert_in_range(found.batch.micro_batch, 1, 4);
		while (left && waitpid(-1, &status, WNOHANG) > 0) {
			assert_int_equal(status, 0);
			left--;
		}
	}
	assert_int_equal(count_files(*state), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define IN_FOLDER(test)                                                        \
	cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)
		IN_FOLDER(any_key_finds_its_own),
		IN_FOLDER(the_first_is_kept),
		IN_FOLDER(files_are_for_their_user_only),
		IN_FOLDER(a_damaged_file_is_ignored),
		IN_FOLDER(hostile_values_are_ignored),
		IN_FOLDER(only_sound_files_of_the_user_count),
		IN_FOLDER(what_could_not_be_read_is_not_written),
		IN_FOLDER(a_folder_that_is_none_is_an_error),
		IN_FOLDER(the_oldest_go),
		IN_FOLDER(what_was_written_stays),
		IN_FOLDER(left_overs_of_killed_writers_go),
		IN_FOLDER(a_records_starts_are_forgotten),
		IN_FOLDER(readers_see_whole_files_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
