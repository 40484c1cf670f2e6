/* Files of launchers: what is read, what the user adds, what is refused. */
/* SPDX-License-Identifier: MIT */
/* USES configs */
#include "configs/launchers/launcher.h"
#include "tests/unit/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define STARTER                                                                \
	"[launcher]\nnames = starter begin\nkind = ranks\ncount = plain\n"     \
	"ranks_option = --ranks=N\nadvice = leave\n    it out\n"               \
	"options = r= ranks=\n    quiet\n"                                     \
	"[says]\nranks = r ranks\n"                                            \
	"refused = quiet : it says\n    nothing\n"                             \
	"[variables]\nranks = STARTER_RANKS\n"

struct folder {
	char path[64];
	char file[96];
};

static struct folder folder_with(const char *name, const char *text)
{
	struct folder folder = { .path = "/tmp/launchers-XXXXXX" };

	assert_non_null(mkdtemp(folder.path));
	(void)snprintf(folder.file, sizeof(folder.file), "%s/%s", folder.path,
		       name);
	assert_int_equal(scratch_write(folder.file, text, strlen(text)), 0);
	return folder;
}

static void folder_remove(const struct folder *folder)
{
	assert_int_equal(unlink(folder->file), 0);
	assert_int_equal(rmdir(folder->path), 0);
}

static const struct launcher *find(const struct launchers *launchers,
				   const char *file)
{
	for (size_t i = 0; i < launchers->count; i++)
		if (strcmp(launchers->items[i].file, file) == 0)
			return &launchers->items[i];
	return NULL;
}

static void a_user_adds_one(void **state)
{
	struct folder folder = folder_with("starter.ini", STARTER);
	struct launchers launchers;
	const struct launcher *row;

	(void)state;
	assert_int_equal(launchers_load(&launchers, folder.path, NULL), 0);
	row = find(&launchers, "starter");
	assert_non_null(row);
	assert_int_equal(row->names.count, 2);
	assert_int_equal(row->kind, LAUNCHER_RANKS);
	assert_int_equal(row->count, COUNT_PLAIN);
	assert_string_equal(row->options, "r= ranks= quiet");
	assert_string_equal(row->advice, "leave it out");
	assert_int_equal(row->says.count, 3);
	assert_int_equal(row->says.items[1].word, SAYS_RANKS);
	assert_string_equal(row->says.items[1].name, "ranks");
	assert_int_equal(row->says.items[2].word, SAYS_REFUSED);
	assert_string_equal(row->says.items[2].why, "it says nothing");
	assert_string_equal(row->variables.items[0].name, "STARTER_RANKS");
	launchers_release(&launchers);
	folder_remove(&folder);
}

/* What is recognised and what is read later are one file. */
static void each_is_whole_when_asked_for(void **state)
{
	struct launchers launchers;

	(void)state;
	assert_int_equal(launchers_load(&launchers, NULL, NULL), 0);
	assert_true(launchers.count > 30);
	for (size_t i = 0; i < launchers.count; i++) {
		const struct launcher *row = &launchers.items[i];
		size_t names = row->names.count;
		size_t modules = row->modules.count;
		size_t commands = row->command_modules.count;
		size_t alone = row->alone.count;

		assert_non_null(row->unread);
		assert_ptr_equal(launchers_whole(&launchers, row), row);
		assert_null(row->unread);
		assert_int_equal(row->names.count, names);
		assert_int_equal(row->modules.count, modules);
		assert_int_equal(row->command_modules.count, commands);
		assert_int_equal(row->alone.count, alone);
		assert_true(names > 0);
	}
	assert_string_equal(find(&launchers, "torchrun")->ranks_option,
			    "--nproc_per_node=N");
	launchers_release(&launchers);
}

static void a_user_replaces_one(void **state)
{
	struct folder folder = folder_with("torchrun.ini", STARTER);
	struct launchers builtin, launchers;

	(void)state;
	assert_int_equal(launchers_load(&builtin, NULL, NULL), 0);
	assert_int_equal(launchers_load(&launchers, folder.path, NULL), 0);
	assert_int_equal(launchers.count, builtin.count);
	assert_string_equal(find(&launchers, "torchrun")->names.items[0],
			    "starter");
	launchers_release(&launchers);
	launchers_release(&builtin);
	folder_remove(&folder);
}

static const struct {
	const char *text, *message;
} wrong_rows[] = {
	{ "[launcher]\nkind = wrapper\nadvice = x\n", "has no names" },
	{ "[launcher]\nnames = a\n", "has no advice" },
	{ "[launcher]\nnames = a\nkind = rank\n",
	  "bad.ini:3: kind = rank: write wrapper, python, shell, ranks, tasks, "
	  "opaque, refused or unknown" },
	{ "[launcher]\nname = a\n", "bad.ini:2: [launcher] has no key name" },
	{ "[launcher]\nnames = a\nadvice = x\nkind = tasks\n",
	  "count and ranks_option go with" },
	{ "[launcher]\nnames = a\nadvice = x\ncount = plain\n",
	  "count and ranks_option go with" },
	{ "[launcher]\nnames = a\nadvice = x\noperands = -1\n",
	  "operands = -1: write a whole number" },
	{ "[launcher]\nnames = a\nadvice = x\nmust_wait = 1\n",
	  "must_wait = 1: write yes or no" },
	{ "[says]\nrank = n\n", "bad.ini:2: [says] has no key rank" },
	{ "[launcher]\nnames = a\nadvice = x\n[says]\nunknown = n\n",
	  "unknown = n: write NAMES : what to do instead" },
	{ "[other]\nx = n\n", "bad.ini:2: [other] has no key x" },
};

static void wrong_files_are_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wrong_rows) / sizeof(*wrong_rows); i++) {
		struct folder folder =
			folder_with("bad.ini", wrong_rows[i].text);
		struct error err = ERROR_INIT;
		struct launchers launchers;

		if (launchers_load(&launchers, folder.path, &err) >= 0 ||
		    !strstr(err.message, "bad.ini") ||
		    !strstr(err.message, wrong_rows[i].message))
			fail_msg("%s: %s", wrong_rows[i].text, err.message);
		launchers_release(&launchers);
		folder_remove(&folder);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_user_adds_one),
		cmocka_unit_test(each_is_whole_when_asked_for),
		cmocka_unit_test(a_user_replaces_one),
		cmocka_unit_test(wrong_files_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
