/* What changed in folders, seen by comparing them before and after. */
/* SPDX-License-Identifier: MIT */
/* USES base probes */
#include "probes/isolation/compare/checkpoints.h"
#include "probes/isolation/compare/snapshot.h"
#include "probes/isolation/compare/snapshot_changes.h"

#include "base/alloc.h"
#include "base/strbuf.h"

#include "scratch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

#define LIST_MAX 6

/* Every row starts with this tree in the scratch folder. */
static const char tree[] =
	"mkdir -p tree/sub tree/cache outside && echo one > tree/a && "
	"echo two > tree/sub/b && echo c > tree/cache/c && ln -s a tree/link "
	"&& "
	"ln -s ../outside tree/out && echo o > outside/o && "
	"touch -d '2001-02-03' tree/a tree/sub/b outside/o";

static const struct {
	const char *name, *change;
	const char *differ[LIST_MAX]; /* below tree/ */
} rows[] = {
	{ "nothing", "true", { NULL } },
	{ "read", "cat tree/a tree/sub/b; ls tree/sub", { NULL } },
	{ "access time", "touch -a -d 2030-01-01 tree/cache", { NULL } },
	{ "a new file", "echo n > tree/new", { "new" } },
	{ "an empty one", "touch tree/sub/new", { "sub/new" } },
	{ "a new folder with a file",
	  "mkdir tree/d; echo > tree/d/f",
	  { "d", "d/f" } },
	{ "a file removed", "rm tree/a", { "a" } },
	{ "a folder removed", "rm -r tree/sub", { "sub", "sub/b" } },
	{ "made and removed again",
	  "touch tree/sub/x; rm tree/sub/x",
	  { NULL } },
	{ "longer", "echo >> tree/a", { "a" } },
	{ "other bytes, as many", "echo ONE > tree/a", { "a" } },
	{ "other bytes, as many, and the old time",
	  "echo ONE > tree/a; touch -d 2001-02-03 tree/a",
	  { "a" } },
	{ "the same bytes again", "echo one > tree/a", { "a" } },
	{ "replaced by a rename", "cp -p tree/a t; mv t tree/a", { "a" } },
	{ "renamed", "mv tree/a tree/z", { "a", "z" } },
	{ "permissions", "chmod 600 tree/a", { "a" } },
	{ "permissions of a folder", "chmod 700 tree/sub", { "sub" } },
	{ "a link turned", "ln -sf sub tree/link", { "link" } },
	{ "a file turned folder", "rm tree/a; mkdir tree/a", { "a" } },
	{ "a file of a link that leads out", "echo >> outside/o", { NULL } },
	{ "a hard link from outside", "ln tree/a outside/a", { "a" } },
	{ "through a link from outside",
	  "ln -s ../tree/sub/b outside/b; echo >> outside/b",
	  { "sub/b" } },
	{ "what is excluded",
	  "echo > tree/cache/d; rm tree/cache/c",
	  { NULL } },
	{ "in order of path",
	  "touch tree/b tree/a-1 tree/sub/a tree/B",
	  { "B", "a-1", "b", "sub/a" } },
};

static void run(const char *folder, const char *command)
{
	char *line =
		xasprintf("cd '%s' && { %s; } > /dev/null", folder, command);

	assert_int_equal(system(line), 0);
	free(line);
}

/* Until the clock that files are stamped with has moved on. */
static void wait_for_next_stamp(void)
{
	struct timespec begun, now;

	assert_int_equal(clock_gettime(CLOCK_REALTIME_COARSE, &begun), 0);
	do
		assert_int_equal(clock_gettime(CLOCK_REALTIME_COARSE, &now), 0);
	while (now.tv_sec == begun.tv_sec && now.tv_nsec == begun.tv_nsec);
}

static struct snapshot *take(const char *root, const char *const *folders,
			     const char *excluded)
{
	struct strlist list = STRLIST_INIT;
	struct strlist without = STRLIST_INIT;
	struct snapshot *snapshot = NULL;
	struct error err = ERROR_INIT;

	for (; *folders; folders++)
		strlist_addf(&list, "%s/%s", root, *folders);
	if (excluded)
		strlist_addf(&without, "%s/%s", root, excluded);
	if (snapshot_take(&snapshot, &list, &without, &err) < 0)
		fail_msg("%s", err.message);
	strlist_release(&list);
	strlist_release(&without);
	return snapshot;
}

static void check_row(const char *root, size_t row)
{
	static const char *const folders[] = { "tree", NULL };
	struct strlist found = STRLIST_INIT;
	struct snapshot *before, *after;
	size_t count = 0;

	run(root, tree);
	wait_for_next_stamp();
	before = take(root, folders, "tree/cache");
	run(root, rows[row].change);
	after = take(root, folders, "tree/cache");
	while (count < LIST_MAX && rows[row].differ[count])
		count++;
	if (snapshot_differences(&found, before, after, LIST_MAX) != count)
		fail_msg("%s: %zu differences, the first %s", rows[row].name,
			 found.count, found.count ? found.items[0] : "");
	for (size_t i = 0; i < count; i++) {
		char *path = xasprintf("%s/tree/%s", root, rows[row].differ[i]);

		if (strcmp(path, found.items[i]) != 0)
			fail_msg("%s: %s, not %s", rows[row].name,
				 found.items[i], path);
		free(path);
	}
	strlist_release(&found);
	snapshot_free(before);
	snapshot_free(after);
	run(root, "rm -rf tree outside");
}

static void every_change_is_seen(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		check_row(*state, i);
}

static void at_most_max_are_named(void **state)
{
	static const char *const folders[] = { "tree", NULL };
	struct strlist found = STRLIST_INIT;
	struct snapshot *before, *after;

	run(*state, "mkdir tree");
	before = take(*state, folders, NULL);
	run(*state, "cd tree && touch $(seq 100 199)");
	after = take(*state, folders, NULL);
	assert_int_equal(snapshot_differences(&found, before, after, 3), 100);
	assert_int_equal(found.count, 3);
	assert_non_null(strstr(found.items[2], "/tree/102"));
	snapshot_free(before);
	snapshot_free(after);
	strlist_release(&found);
}

/* What a probe can do that may not write. */
static void of_others_doings_some_are_passed_over(void **state)
{
	static const char *const folders[] = { "tree", NULL };
	struct strlist found = STRLIST_INIT;
	struct snapshot *before, *after;

	run(*state, "mkdir tree tree/sub && cd tree && "
		    "touch mode time link bytes gone same put longer");
	wait_for_next_stamp();
	before = take(*state, folders, NULL);
	run(*state, "cd tree && chmod 600 mode && touch -d 2001-02-03 time && "
		    "chmod 700 sub && ln link ../link && rm gone && "
		    "touch new && cp same t && mv t put && echo >> longer");
	after = take(*state, folders, NULL);
	assert_int_equal(snapshot_touched(&found, before, after, 8), 4);
	assert_non_null(strstr(found.items[0], "/tree/link"));
	assert_non_null(strstr(found.items[1], "/tree/mode"));
	assert_non_null(strstr(found.items[2], "/tree/sub"));
	assert_non_null(strstr(found.items[3], "/tree/time"));
	snapshot_free(before);
	snapshot_free(after);
	strlist_release(&found);
}

/* One in another, the same twice, one that is made only later, a file. */
static void folders_may_overlap_or_be_missing(void **state)
{
	static const char *const folders[] = { "tree/sub", "tree",   "tree/",
					       "later",    "tree/a", NULL };
	struct strlist found = STRLIST_INIT;
	struct snapshot *before, *after;

	run(*state, tree);
	before = take(*state, folders, NULL);
	run(*state, "echo n > tree/sub/n; mkdir later; touch later/x");
	after = take(*state, folders, NULL);
	assert_int_equal(snapshot_differences(&found, before, after, 9), 2);
	assert_non_null(strstr(found.items[0], "/later/x"));
	assert_non_null(strstr(found.items[1], "/tree/sub/n"));
	snapshot_free(before);
	snapshot_free(after);
	strlist_release(&found);
}

static void the_deeper_path_wins(void **state)
{
	static const char *const inner[] = { "tree/sub", NULL };
	static const char *const outer[] = { "tree", NULL };
	struct strlist found = STRLIST_INIT;
	struct snapshot *none, *snapshot;

	run(*state, tree);
	none = take(*state, outer, "tree");
	/* A folder that was asked for, in one that is excluded. */
	snapshot = take(*state, inner, "tree");
	assert_int_equal(snapshot_differences(&found, none, snapshot, 9), 1);
	assert_non_null(strstr(found.items[0], "/tree/sub/b"));
	snapshot_free(snapshot);
	strlist_release(&found);
	/* Names that only begin alike are others. */
	snapshot = take(*state, outer, "tree/su");
	assert_true(snapshot_differences(&found, none, snapshot, 0) > 5);
	snapshot_free(snapshot);
	snapshot_free(none);
}

static bool scratch_has(const char *folder, const char *name)
{
	char path[SCRATCH_PATH_MAX];

	return access(scratch_path(path, folder, name), F_OK) == 0;
}

/* Nothing about other mounts: a bind mount, where one may be made. */
static void other_mounts_are_not_entered(void **state)
{
	static const char *const folders[] = { "tree", NULL };
	struct strlist found = STRLIST_INIT;
	struct snapshot *before, *after;

	run(*state, tree);
	run(*state, "mount --bind outside tree/sub 2> no || touch refused");
	if (scratch_has(*state, "refused"))
		skip();
	before = take(*state, folders, NULL);
	run(*state, "echo n > tree/sub/n");
	after = take(*state, folders, NULL);
	run(*state, "umount tree/sub");
	assert_int_equal(snapshot_differences(&found, before, after, 9), 0);
	snapshot_free(before);
	snapshot_free(after);
}

static void too_much_is_refused(void **state)
{
	struct strlist folders = STRLIST_INIT;
	struct snapshot *snapshot = NULL;
	struct error err = ERROR_INIT;
	struct strbuf deep = STRBUF_INIT;

	strbuf_adds(&deep, "mkdir -p tree");
	for (int i = 1; i < SNAPSHOT_DEPTH_MAX; i++)
		strbuf_adds(&deep, "/d");
	run(*state, strbuf_text(&deep));
	strlist_addf(&folders, "%s/tree", (const char *)*state);
	assert_int_equal(snapshot_take(&snapshot, &folders, NULL, &err), 0);
	snapshot_free(snapshot);
	strbuf_adds(&deep, "/d");
	run(*state, strbuf_text(&deep));
	assert_int_equal(snapshot_take(&snapshot, &folders, NULL, &err),
			 -E2BIG);
	assert_non_null(strstr(err.message, folders.items[0]));
	strbuf_release(&deep);
	strlist_release(&folders);
}

static void too_many_are_refused(void **state)
{
	struct strlist folders = STRLIST_INIT;
	struct snapshot *snapshot = NULL;
	struct error err = ERROR_INIT;

	/* Links to one file are quick to make. */
	run(*state, "mkdir tree && cd tree && touch f && perl -e 'for $i "
		    "(1..200) { mkdir $i; open(F, \">$i/0\"); "
		    "link(\"$i/0\", \"$i/$_\") for 1..998 }'");
	strlist_addf(&folders, "%s/tree", (const char *)*state);
	assert_int_equal(snapshot_take(&snapshot, &folders, NULL, &err),
			 -E2BIG);
	assert_non_null(strstr(err.message, "/tree"));
	run(*state, "rm -r tree/1");
	assert_int_equal(snapshot_take(&snapshot, &folders, NULL, &err), 0);
	snapshot_free(snapshot);
	strlist_release(&folders);
}

static void checkpoints_are_known_by_name(void **state)
{
	static const struct {
		const char *make, *found;
	} names[] = {
		{ "touch train.py model.py data.bin notes.txt", NULL },
		{ "touch b.pt a.txt", "b.pt" },
		{ "touch z.PTH", "z.PTH" },
		{ "touch epoch=3.ckpt", "epoch=3.ckpt" },
		{ "touch model.safetensors", "model.safetensors" },
		{ "mkdir -p out/checkpoint-500", "out/checkpoint-500" },
		{ "touch pytorch_model-00001-of-00002.bin",
		  "pytorch_model-00001-of-00002.bin" },
		{ "touch checkpoint.pth.tar", "checkpoint.pth.tar" },
		{ "touch model.ckpt-100.index", "model.ckpt-100.index" },
		{ "mkdir global_step100", "global_step100" },
		{ "mkdir iter_0000100", "iter_0000100" },
		{ "touch checkpoint", "checkpoint" },
		{ "mkdir checkpoint; touch checkpoint/save.py", NULL },
		{ "touch checkpoint.py checkpoint_utils.py ckpt.py", NULL },
		{ "mkdir -p .venv/lib/site-packages; "
		  "touch .venv/lib/site-packages/distutils-precedence.pth",
		  NULL },
		{ "mkdir -p .git/refs/heads; touch .git/refs/heads/"
		  "checkpoint-fix",
		  NULL },
		{ "touch b.pt a.pt", "a.pt" },
	};
	static const char *const folders[] = { "tree", NULL };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *command =
			xasprintf("mkdir tree && cd tree && %s", names[i].make);
		struct snapshot *snapshot;
		const char *found;
		const char *base;

		run(*state, command);
		snapshot = take(*state, folders, NULL);
		found = snapshot_checkpoint(snapshot);
		base = found ? strstr(found, "/tree/") : NULL;
		if (names[i].found
			    ? !base || strcmp(base + 6, names[i].found) != 0
			    : found != NULL)
			fail_msg("%s: %s", names[i].make,
				 found ? found : "none");
		snapshot_free(snapshot);
		run(*state, "rm -rf tree");
		free(command);
	}
}

#define TEST(function)                                                         \
	cmocka_unit_test_setup_teardown(function, scratch_make, scratch_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_change_is_seen),
		TEST(at_most_max_are_named),
		TEST(of_others_doings_some_are_passed_over),
		TEST(folders_may_overlap_or_be_missing),
		TEST(the_deeper_path_wins),
		TEST(other_mounts_are_not_entered),
		TEST(too_much_is_refused),
		TEST(too_many_are_refused),
		TEST(checkpoints_are_known_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
