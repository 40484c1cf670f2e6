/* The table of mounts as the kernel writes it, and as it never should. */
/* SPDX-License-Identifier: MIT */
/* USES base configs probes */
#include "probes/isolation/mounts.h"

#include "base/strbuf.h"
#include "scratch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mount.h>

#include <cmocka.h>

#define ROOT "1 0 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"

static const struct {
	const char *line; /* after that of the root */
	const char *point;
	enum mount_use use;
	unsigned long flags;
} uses[] = {
	{ "2 1 0:5 / /proc rw - proc proc rw\n", "/proc", MOUNT_AS_IS, 0 },
	{ "2 1 0:5 / /dev/x rw,nosuid - tmpfs none rw\n", "/dev/x", MOUNT_AS_IS,
	  MS_NOSUID },
	{ "2 1 0:5 / /devil rw - tmpfs none rw\n", "/devil", MOUNT_LAYERED, 0 },
	{ "2 1 0:5 / /run/user/7 rw - tmpfs none rw\n", "/run/user/7",
	  MOUNT_AS_IS, 0 },
	{ "2 1 0:5 / /run/disk rw - ext4 none rw\n", "/run/disk", MOUNT_LAYERED,
	  0 },
	{ "2 1 0:5 / /tmp rw,noexec,nodev,noatime - tmpfs tmpfs rw\n", "/tmp",
	  MOUNT_LAYERED, MS_NOEXEC | MS_NODEV | MS_NOATIME },
	{ "2 1 0:5 / /home rw shared:3 master:1 - nfs4 nas:/home "
	  "rw,vers=4.2\n",
	  "/home", MOUNT_LAYERED, 0 },
	{ "2 1 0:5 / /net rw - autofs systemd-1 rw,fd=5\n", "/net",
	  MOUNT_AUTOMOUNT, 0 },
	{ "2 1 0:5 / /sw ro,nodiratime - nfs nas:/sw rw\n", "/sw", MOUNT_AS_IS,
	  MS_RDONLY | MS_NODIRATIME },
	{ "2 1 0:5 / /sw rw - squashfs x ro\n", "/sw", MOUNT_AS_IS, MS_RDONLY },
	/* Options are words, not their beginnings. */
	{ "2 1 0:5 / /a rw,rootcontext=ro - ext4 x rw,errors=ro\n", "/a",
	  MOUNT_LAYERED, 0 },
	{ "2 1 0:5 /x\\040y /a\\040b\\011\\134c\\012\\043d rw - ext4 "
	  "x\\040y rw\n",
	  "/a b\t\\c\n#d", MOUNT_LAYERED, 0 },
	{ "2 1 0:5 / /\\303\\244 rw - ext4 x rw\n", "/\xc3\xa4", MOUNT_LAYERED,
	  0 },
	{ "2 1 0:5 / /e rw - ext4  rw\n", "/e", MOUNT_LAYERED, 0 },
	{ "2 1 0:4 net:[4026] /run/netns/a rw - nsfs nsfs rw\n", "/run/netns/a",
	  MOUNT_AS_IS, 0 },
	{ "2 1 0:5 / /a/..b/.c rw - ext4 x rw\n", "/a/..b/.c", MOUNT_LAYERED,
	  0 },
};

static void each_mount_has_its_use(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof(uses) / sizeof(*uses); i++) {
		struct strbuf text = STRBUF_INIT;
		const struct mount *found;
		struct mounts mounts;

		strbuf_adds(&text, ROOT);
		strbuf_adds(&text, uses[i].line);
		if (mounts_parse(&mounts, text.data, text.length) != 0)
			fail_msg("not understood: %s", uses[i].line);
		found = mounts_find(&mounts, uses[i].point);
		assert_string_equal(found->point, uses[i].point);
		assert_int_equal(found->use, uses[i].use);
		assert_int_equal(found->flags & ~(unsigned long)MS_RELATIME,
				 uses[i].flags);
		mounts_release(&mounts);
		strbuf_release(&text);
	}
}

static void the_mount_that_shows_is_found(void **unused)
{
	/* The newest first, as after a pivot_root. */
	static const char text[] =
		"30 1 0:9 / /a/b rw - ext4 x rw\n"
		"31 30 0:9 / /a/b/c rw - ext4 x rw\n"
		/* stacked on 31, and one that went down with it */
		"32 31 0:9 / /a/b/c rw - ext4 x rw\n"
		"33 31 0:9 / /a/b/c/gone rw - ext4 x rw\n"
		/* covered by a later one further up */
		"40 1 0:9 / /v/w rw - ext4 x rw\n"
		"41 40 0:9 / /v/w/x rw - ext4 x rw\n"
		"42 1 0:9 / /v rw - ext4 x rw\n"
		"43 42 0:9 / /v/w/z rw - ext4 x rw\n"
		"50 1 0:9 / /a-b rw - ext4 x rw\n" ROOT;
	static const struct {
		const char *path;
		int64_t id;
		bool has_below;
	} rows[] = {
		{ "/", 1, true },
		{ "/a", 1, true },
		{ "/a/b", 30, true },
		{ "/a/b/c", 32, false },
		{ "/a/b/c/gone/f", 32, false },
		{ "/a/b/d", 30, false },
		{ "/a-b", 50, false },
		{ "/a-bc", 1, false },
		{ "/v", 42, true },
		{ "/v/w", 42, true },
		{ "/v/w/x/y", 42, false },
		{ "/v/w/z", 43, false },
	};
	struct mounts mounts;

	(void)unused;
	assert_int_equal(mounts_parse(&mounts, text, sizeof(text) - 1), 0);
	assert_int_equal(mounts.count, 10);
	assert_string_equal(mounts.items[0].point, "/");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(mounts_find(&mounts, rows[i].path)->id,
				 rows[i].id);
		assert_int_equal(mounts_has_below(&mounts, rows[i].path),
				 rows[i].has_below);
	}
	mounts_release(&mounts);
}

static void what_is_not_understood_fails_as_a_whole(void **unused)
{
	static const struct {
		const char *line;
		int result;
	} rows[] = {
		{ "", 0 },
		{ "2 1 0:5 / /a rw - ext4 x rw", -EINVAL }, /* cut off */
		{ "2 1 0:5 / /a rw - ext4\n", -EINVAL },
		{ "2 1 0:5 / /a rw shared:1 ext4 x rw\n", -EINVAL },
		{ "2 1 0:5 / /a rw\n", -EINVAL },
		{ "\n", -EINVAL },
		{ "x 1 0:5 / /a rw - ext4 x rw\n", -EINVAL },
		{ "2 1x 0:5 / /a rw - ext4 x rw\n", -EINVAL },
		{ "99999999999999999999 1 0:5 / /a rw - ext4 x rw\n", -EINVAL },
		{ "2 1 0:5 / a rw - ext4 x rw\n", -EINVAL },
		{ "2 1 0:5 / /a/../b rw - ext4 x rw\n", -EINVAL },
		{ "2 1 0:5 / /a/.. rw - ext4 x rw\n", -EINVAL },
		{ "2 1 0:5 / /a/\\056\\056/b rw - ext4 x rw\n", -EINVAL },
		{ "2 1 0:5 / /a/./b rw - ext4 x rw\n", -EINVAL },
		{ "2 1 0:5 / /a/ rw - ext4 x rw\n", -EINVAL },
		{ "2 1 0:5 / /a//deleted rw - ext4 x rw\n", -EINVAL },
		{ "2 1 0:5 / /a\\ rw - ext4 x rw\n", -EINVAL },
		{ "2 1 0:5 / /a\\04 rw - ext4 x rw\n", -EINVAL },
		{ "2 1 0:5 / /a\\000b rw - ext4 x rw\n", -EINVAL },
		{ "2 1 0:5 / /a\\777b rw - ext4 x rw\n", -EINVAL },
		{ "2 1 0:5 / /a\\x41 rw - ext4 x rw\n", -EINVAL },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strbuf text = STRBUF_INIT;
		struct mounts mounts;
		int result;

		strbuf_adds(&text, ROOT);
		strbuf_adds(&text, rows[i].line);
		result = mounts_parse(&mounts, text.data, text.length);
		if (result != rows[i].result)
			fail_msg("%d for: %s", result, rows[i].line);
		if (result == 0)
			mounts_release(&mounts);
		strbuf_release(&text);
	}
}

static void a_table_without_a_root_is_none(void **unused)
{
	static const char chroot[] = "2 1 0:5 / /proc rw - proc proc rw\n";
	static const char zero[] = ROOT "\0" ROOT;
	struct mounts mounts;

	(void)unused;
	assert_int_equal(mounts_parse(&mounts, "", 0), -ENOENT);
	assert_int_equal(mounts_parse(&mounts, chroot, sizeof(chroot) - 1),
			 -ENOENT);
	assert_int_equal(mounts_parse(&mounts, zero, sizeof(zero) - 1),
			 -EINVAL);
}

static void a_table_is_bounded(void **unused)
{
	struct strbuf text = STRBUF_INIT;
	struct mounts mounts;

	(void)unused;
	strbuf_adds(&text, ROOT);
	for (int i = 1; i < MOUNTS_MAX; i++)
		strbuf_addf(&text, "%d %d 0:5 / /m%d rw - ext4 x rw\n", i + 1,
			    i, i);
	assert_int_equal(mounts_parse(&mounts, text.data, text.length), 0);
	assert_int_equal(mounts.count, MOUNTS_MAX);
	mounts_release(&mounts);
	strbuf_adds(&text, "9999 1 0:5 / /last rw - ext4 x rw\n");
	assert_int_equal(mounts_parse(&mounts, text.data, text.length), -E2BIG);
	strbuf_release(&text);
}

/* Parents in a ring: what cannot be reached counts as hidden. */
static void a_ring_of_parents_ends(void **unused)
{
	static const char text[] = ROOT "2 3 0:5 / /a rw - ext4 x rw\n"
					"3 2 0:5 / /b rw - ext4 x rw\n"
					"4 4 0:5 / /c rw - ext4 x rw\n";
	struct mounts mounts;

	(void)unused;
	assert_int_equal(mounts_parse(&mounts, text, sizeof(text) - 1), 0);
	assert_int_equal(mounts_find(&mounts, "/a")->id, 1);
	assert_int_equal(mounts_find(&mounts, "/c")->id, 4);
	mounts_release(&mounts);
}

/* Cut at every byte and bent at random: an answer, and no more. */
static void noise_does_no_harm(void **unused)
{
	static const char good[] =
		ROOT "2 1 0:5 / /a\\040b rw,nosuid shared:2 - nfs x:/ rw\n"
		     "3 2 0:5 / /a\\040b/c ro - tmpfs tmpfs rw\n";
	uint64_t random = 7;
	struct mounts mounts;

	(void)unused;
	for (size_t i = 0; i < sizeof(good); i++)
		if (mounts_parse(&mounts, good, i) == 0)
			mounts_release(&mounts);
	for (int i = 0; i < 20000; i++) {
		char bent[sizeof(good)];

		memcpy(bent, good, sizeof(good));
		for (int k = 0; k < 3; k++)
			bent[scratch_random(&random) % (sizeof(good) - 1)] =
				(char)scratch_random(&random);
		if (mounts_parse(&mounts, bent, sizeof(good) - 1) == 0)
			mounts_release(&mounts);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_mount_has_its_use),
		cmocka_unit_test(the_mount_that_shows_is_found),
		cmocka_unit_test(what_is_not_understood_fails_as_a_whole),
		cmocka_unit_test(a_table_without_a_root_is_none),
		cmocka_unit_test(a_table_is_bounded),
		cmocka_unit_test(a_ring_of_parents_ends),
		cmocka_unit_test(noise_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
