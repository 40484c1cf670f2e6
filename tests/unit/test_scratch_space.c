/* Room for what probes write, over file systems that are made up. */
/* SPDX-License-Identifier: MIT */
/* USES base probes */
#include "probes/isolation/scratch_space.h"

#include <errno.h>
#include <linux/magic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include <cmocka.h>

#define DISKS_MAX 5
#define BLOCK 4096

enum kind { DISK, TMPFS, RAMFS, READ_ONLY, BROKEN };

/* What there is in a row; the last NULL path ends it. */
struct disk {
	const char *path;
	enum kind kind;
	uint64_t free_mib, used_mib;
};

static const struct disk *machine;

static int fake_statfs(const char *path, struct statfs *info)
{
	for (const struct disk *disk = machine; disk->path; disk++) {
		if (strcmp(disk->path, path) != 0)
			continue;
		if (disk->kind == BROKEN)
			return -EIO;
		memset(info, 0, sizeof(*info));
		info->f_type = disk->kind == TMPFS   ? TMPFS_MAGIC
			       : disk->kind == RAMFS ? RAMFS_MAGIC
						     : EXT4_SUPER_MAGIC;
		info->f_flags = disk->kind == READ_ONLY ? ST_RDONLY : 0;
		info->f_bsize = BLOCK;
		info->f_bavail = disk->free_mib * MIB / BLOCK;
		/* What is kept for root is free, but not for everybody. */
		info->f_bfree = info->f_bavail +
				(disk->kind == DISK ? 100 * MIB / BLOCK : 0);
		info->f_blocks = info->f_bfree + disk->used_mib * MIB / BLOCK;
		return 0;
	}
	return -ENOENT;
}

static const struct {
	const char *name, *path;
	struct disk disks[DISKS_MAX];
	int result;
	uint64_t free_mib;
	bool is_memory;
} checks[] = {
	{ "room", "/s", { { "/s", DISK, 256, 0 } }, 0, 256, false },
	{ "a little less",
	  "/s",
	  { { "/s", DISK, 255, 0 } },
	  -ENOSPC,
	  255,
	  false },
	{ "in memory", "/s", { { "/s", TMPFS, 999, 0 } }, 0, 999, true },
	{ "not made yet",
	  "/s/a/b",
	  { { "/", DISK, 1, 0 }, { "/s", DISK, 300, 0 } },
	  0,
	  300,
	  false },
	{ "below the root", "/a/b", { { "/", DISK, 300, 0 } }, 0, 300, false },
	{ "read-only",
	  "/s",
	  { { "/s", READ_ONLY, 999, 0 } },
	  -EROFS,
	  999,
	  false },
	{ "it does not answer",
	  "/s",
	  { { "/s", BROKEN, 0, 0 } },
	  -EIO,
	  0,
	  false },
	{ "nothing at all", "s", { { NULL, DISK, 0, 0 } }, -ENOENT, 0, false },
};

static void space_is_checked(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
		struct scratch_space space = { 0 };
		struct error err = ERROR_INIT;
		int result;

		print_message("  %s\n", checks[i].name);
		machine = checks[i].disks;
		result = scratch_space_check_by(fake_statfs, checks[i].path,
						&space, &err);
		assert_int_equal(result, checks[i].result);
		assert_int_equal(err.code, checks[i].result);
		if (result < 0) {
			assert_non_null(strstr(err.message, "--scratch DIR"));
			assert_non_null(strstr(err.message, checks[i].path));
			assert_null(strchr(err.message, '\n'));
		}
		assert_int_equal(space.free_bytes, checks[i].free_mib * MIB);
		assert_int_equal(space.is_memory, checks[i].is_memory);
	}
}

static const struct {
	const char *name;
	struct disk start, now;
	uint64_t reserve_mib;
	bool is_full;
} fillings[] = {
	{ "at the floor",
	  { "/s", DISK, 900, 0 },
	  { "/s", DISK, 64, 836 },
	  0,
	  false },
	{ "under it",
	  { "/s", DISK, 900, 0 },
	  { "/s", DISK, 63, 837 },
	  0,
	  true },
	{ "a disk has no reserve",
	  { "/s", DISK, 9000, 0 },
	  { "/s", DISK, 5000, 4000 },
	  100,
	  false },
	{ "memory, the reserve",
	  { "/s", TMPFS, 9000, 50 },
	  { "/s", TMPFS, 8900, 150 },
	  100,
	  false },
	{ "memory, beyond it",
	  { "/s", TMPFS, 9000, 50 },
	  { "/s", TMPFS, 8899, 151 },
	  100,
	  true },
	{ "memory, with less than before",
	  { "/s", TMPFS, 9000, 50 },
	  { "/s", TMPFS, 9050, 0 },
	  100,
	  false },
	{ "memory, without a reserve",
	  { "/s", TMPFS, 9000, 50 },
	  { "/s", TMPFS, 100, 8950 },
	  0,
	  false },
	{ "memory without a limit",
	  { "/s", RAMFS, 0, 0 },
	  { "/s", RAMFS, 0, 0 },
	  100,
	  false },
	{ "it does not answer",
	  { "/s", DISK, 900, 0 },
	  { "/s", BROKEN, 0, 0 },
	  0,
	  false },
};

static void a_full_disk_is_seen(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(fillings) / sizeof(*fillings); i++) {
		const struct disk start[2] = { fillings[i].start };
		const struct disk now[2] = { fillings[i].now };
		struct scratch_space space;
		bool is_full;

		machine = start;
		assert_int_equal(
			scratch_space_check_by(fake_statfs, "/s", &space, NULL),
			0);
		machine = now;
		is_full =
			scratch_space_is_full_by(fake_statfs, "/s", &space,
						 fillings[i].reserve_mib * MIB);
		if (is_full != fillings[i].is_full)
			fail_msg("%s: %d", fillings[i].name, (int)is_full);
	}
}

static const struct {
	const char *name, *given, *environment;
	struct disk disks[DISKS_MAX];
	int result;
	const char *folder; /* or words of the message */
	bool is_memory;
} choices[] = {
	{ "the default",
	  NULL,
	  "TMPDIR=/t",
	  { { "/home", DISK, 999, 0 }, { "/t", DISK, 9999, 0 } },
	  0,
	  "/home/ann/.cache/scratch",
	  false },
	{ "given, and no other",
	  "/g",
	  "TMPDIR=/t",
	  { { "/home", DISK, 999, 0 }, { "/g", TMPFS, 300, 0 } },
	  0,
	  "/g",
	  true },
	{ "given, and full",
	  "/g",
	  "TMPDIR=/t",
	  { { "/home", DISK, 999, 0 },
	    { "/t", DISK, 999, 0 },
	    { "/g", DISK, 1, 0 } },
	  -ENOSPC,
	  "1.00 MiB are free in /g",
	  false },
	{ "the default is in memory",
	  NULL,
	  "TMPDIR=/t",
	  { { "/home", TMPFS, 999, 0 }, { "/t", DISK, 999, 0 } },
	  0,
	  "/t",
	  false },
	{ "the default is full",
	  NULL,
	  "X=1",
	  { { "/home", DISK, 9, 0 }, { "/var/tmp", DISK, 999, 0 } },
	  0,
	  "/var/tmp",
	  false },
	{ "TMPDIR is not there",
	  NULL,
	  "TMPDIR=/none",
	  { { "/", DISK, 9999, 0 },
	    { "/home", TMPFS, 9, 0 },
	    { "/tmp", DISK, 999, 0 } },
	  0,
	  "/tmp",
	  false },
	{ "TMPDIR is relative",
	  NULL,
	  "TMPDIR=t",
	  { { "/home", DISK, 9, 0 },
	    { "t", DISK, 9999, 0 },
	    { "/tmp", DISK, 999, 0 } },
	  0,
	  "/tmp",
	  false },
	{ "all is memory: the first with room",
	  NULL,
	  "TMPDIR=/t",
	  { { "/home", TMPFS, 9, 0 },
	    { "/t", TMPFS, 300, 0 },
	    { "/var/tmp", TMPFS, 9999, 0 },
	    { "/tmp", TMPFS, 9999, 0 } },
	  0,
	  "/t",
	  true },
	{ "read-only and broken ones are passed over",
	  NULL,
	  "TMPDIR=/t",
	  { { "/home", READ_ONLY, 9999, 0 },
	    { "/t", BROKEN, 0, 0 },
	    { "/var/tmp", DISK, 300, 0 } },
	  0,
	  "/var/tmp",
	  false },
	{ "no room anywhere: about the first",
	  NULL,
	  "TMPDIR=/t",
	  { { "/home", DISK, 9, 0 },
	    { "/t", DISK, 8, 0 },
	    { "/tmp", TMPFS, 7, 0 } },
	  -ENOSPC,
	  "9.00 MiB are free in /home/ann/.cache/scratch",
	  false },
};

static void a_folder_is_chosen(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		struct strlist environment = STRLIST_INIT;
		const struct scratch_candidates candidates = {
			choices[i].given, "/home/ann/.cache/scratch",
			&environment
		};
		struct scratch_choice choice;
		struct error err = ERROR_INIT;
		int result;

		print_message("  %s\n", choices[i].name);
		machine = choices[i].disks;
		strlist_add(&environment, choices[i].environment);
		result = scratch_space_choose_by(fake_statfs, &choice,
						 &candidates, &err);
		assert_int_equal(result, choices[i].result);
		assert_int_equal(err.code, choices[i].result);
		if (result < 0) {
			assert_null(choice.folder);
			assert_non_null(strstr(err.message, choices[i].folder));
		} else {
			assert_string_equal(choice.folder, choices[i].folder);
			assert_int_equal(choice.is_memory,
					 choices[i].is_memory);
			assert_true(choice.free_bytes >= SCRATCH_FREE_MIN);
		}
		free(choice.folder);
		strlist_release(&environment);
	}
}

static void the_reserve_is_bounded(void **state)
{
	(void)state;
	assert_int_equal(scratch_space_reserve(0), 0);
	assert_int_equal(scratch_space_reserve(8 * GIB), GIB);
	assert_int_equal(scratch_space_reserve(16 * GIB), 2 * GIB);
	assert_int_equal(scratch_space_reserve(UINT64_MAX), 2 * GIB);
}

static void this_machine_can_be_asked(void **state)
{
	struct scratch_space space;
	struct error err = ERROR_INIT;
	int result;

	(void)state;
	result = scratch_space_check("/proc/self/none", &space, &err);
	assert_int_equal(result, -ENOSPC);
	result = scratch_space_check("/", &space, &err);
	assert_true(result == 0 || result == -ENOSPC || result == -EROFS);
	assert_false(space.is_memory && space.free_bytes == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(space_is_checked),
		cmocka_unit_test(a_full_disk_is_seen),
		cmocka_unit_test(a_folder_is_chosen),
		cmocka_unit_test(the_reserve_is_bounded),
		cmocka_unit_test(this_machine_can_be_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
