/* Where files are, whose folders are used, and what is removed with them. */
/* SPDX-License-Identifier: MIT */
/* USES configs */
#include "configs/files/paths.h"

#include "base/alloc.h"
#include "tests/unit/scratch.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>

#define NOBODY 65534

static const struct {
	const char *name;
	const char *environment[6];
	const char *config, *records, *scratch; /* NULL: -ENOENT */
} environments[] = {
	{ "home",
	  { "HOME=/h" },
	  "/h/.config/autofit",
	  "/h/.local/state/autofit/records",
	  "/h/.cache/autofit/scratch" },
	{ "XDG",
	  { "HOME=/h", "XDG_CONFIG_HOME=/c", "XDG_STATE_HOME=/s",
	    "XDG_CACHE_HOME=/x" },
	  "/c/autofit",
	  "/s/autofit/records",
	  "/x/autofit/scratch" },
	{ "XDG without home",
	  { "XDG_CONFIG_HOME=/c", "XDG_STATE_HOME=/s", "XDG_CACHE_HOME=/x" },
	  "/c/autofit",
	  "/s/autofit/records",
	  "/x/autofit/scratch" },
	{ "some XDG",
	  { "XDG_STATE_HOME=/s", "HOME=/h" },
	  "/h/.config/autofit",
	  "/s/autofit/records",
	  "/h/.cache/autofit/scratch" },
	{ "relative XDG",
	  { "HOME=/h", "XDG_STATE_HOME=s", "XDG_CACHE_HOME=./x" },
	  "/h/.config/autofit",
	  "/h/.local/state/autofit/records",
	  "/h/.cache/autofit/scratch" },
	{ "empty XDG",
	  { "HOME=/h", "XDG_STATE_HOME=" },
	  "/h/.config/autofit",
	  "/h/.local/state/autofit/records",
	  "/h/.cache/autofit/scratch" },
	{ "own home",
	  { "AUTOFIT_HOME=/a b", "HOME=/h", "XDG_STATE_HOME=/s" },
	  "/a b/config",
	  "/a b/records",
	  "/a b/scratch" },
	{ "only own home",
	  { "AUTOFIT_HOME=/a" },
	  "/a/config",
	  "/a/records",
	  "/a/scratch" },
	{ "relative own home",
	  { "AUTOFIT_HOME=a", "HOME=/h" },
	  "/h/.config/autofit",
	  "/h/.local/state/autofit/records",
	  "/h/.cache/autofit/scratch" },
	{ "empty own home",
	  { "AUTOFIT_HOME=", "HOME=/h" },
	  "/h/.config/autofit",
	  "/h/.local/state/autofit/records",
	  "/h/.cache/autofit/scratch" },
	{ "nothing", { NULL }, NULL, NULL, NULL },
	{ "empty home", { "HOME=" }, NULL, NULL, NULL },
	{ "relative home", { "HOME=h" }, NULL, NULL, NULL },
	{ "one XDG is not enough", { "XDG_STATE_HOME=/s" }, NULL, NULL, NULL },
};

static void the_environment_says_where(void **state)
{

	(void)state;
	for (size_t i = 0; i < sizeof(environments) / sizeof(*environments);
	     i++) {
		struct strlist environment = STRLIST_INIT;
		struct error err = ERROR_INIT;
		struct paths paths;
		int result;

		print_message("%s\n", environments[i].name);
		for (size_t j = 0; environments[i].environment[j]; j++)
			strlist_add(&environment,
				    environments[i].environment[j]);
		result = paths_find(&paths, &environment, &err);
		assert_int_equal(result, environments[i].config ? 0 : -ENOENT);
		if (environments[i].config) {
			assert_string_equal(paths.config,
					    environments[i].config);
			assert_string_equal(paths.records,
					    environments[i].records);
			assert_string_equal(paths.scratch,
					    environments[i].scratch);
		} else {
			assert_non_null(strstr(err.message, "AUTOFIT_HOME"));
			assert_null(paths.config);
		}
		paths_release(&paths);
		strlist_release(&environment);
	}
}

static void all_folders_differ(void **state)
{
	struct strlist environment = STRLIST_INIT;
	struct paths paths;

	(void)state;
	strlist_add(&environment, "AUTOFIT_HOME=/a");
	assert_int_equal(paths_find(&paths, &environment, NULL), 0);
	assert_string_equal(paths.journals, "/a/journals");
	assert_string_equal(paths.locks, "/a/locks");
	assert_string_equal(paths.leases, "/a/leases");
	assert_string_equal(paths.starts, "/a/starts");
	assert_string_equal(paths.logs, "/a/logs");
	paths_release(&paths);
	paths_release(&paths);
	strlist_release(&environment);
}

static void the_site_is_an_absolute_folder(void **state)
{
	static const struct {
		const char *name, *variable, *home, *site;
	} rows[] = {
		{ "none", "X=y", "HOME=/h", NULL },
		{ "absolute", "AUTOFIT_SITE=/shared/a b", "HOME=/h",
		  "/shared/a b" },
		{ "with an own home", "AUTOFIT_SITE=/s", "AUTOFIT_HOME=/a",
		  "/s" },
		{ "relative", "AUTOFIT_SITE=shared", "HOME=/h", NULL },
		{ "dots", "AUTOFIT_SITE=./s", "HOME=/h", NULL },
		{ "empty", "AUTOFIT_SITE=", "HOME=/h", NULL },
		{ "no home", "AUTOFIT_SITE=/s", "X=y", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strlist environment = STRLIST_INIT;
		struct paths paths;

		print_message("%s\n", rows[i].name);
		strlist_add(&environment, rows[i].variable);
		strlist_add(&environment, rows[i].home);
		(void)paths_find(&paths, &environment, NULL);
		if (rows[i].site)
			assert_string_equal(paths.site, rows[i].site);
		else
			assert_null(paths.site);
		paths_release(&paths);
		assert_null(paths.site);
		strlist_release(&environment);
	}
}

static void folders_are_made_for_their_user_only(void **state)
{
	char path[SCRATCH_PATH_MAX];
	char parent[SCRATCH_PATH_MAX];
	struct stat info;
	mode_t mask = umask(0);

	scratch_path(path, *state, "a/b/c");
	scratch_path(parent, *state, "a");
	assert_int_equal(paths_make(path, NULL), 0);
	(void)umask(mask);
	assert_int_equal(paths_make(path, NULL), 0);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0700);
	assert_int_equal(stat(parent, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0700);
}

static bool is_there(const char *path)
{
	struct stat info;

	return lstat(path, &info) == 0;
}

/* Owners can only be set by root; for others these rows are all their own. */
static void folders_of_others_are_refused(void **state)
{
	static const struct {
		const char *name;
		bool target_of_other, link, link_of_other;
	} rows[] = {
		{ "own folder", false, false, false },
		{ "folder of another", true, false, false },
		{ "own link", false, true, false },
		{ "own link to another's", true, true, false },
		{ "another's link", false, true, true },
	};
	char target[SCRATCH_PATH_MAX];
	char link[SCRATCH_PATH_MAX];
	bool root = geteuid() == 0;

	scratch_path(target, *state, "target");
	scratch_path(link, *state, "link");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct error err = ERROR_INIT;
		bool refused = root && (rows[i].target_of_other ||
					rows[i].link_of_other);
		int result;

		print_message("%s\n", rows[i].name);
		assert_int_equal(mkdir(target, 0700), 0);
		assert_int_equal(symlink(target, link), 0);
		if (root && rows[i].target_of_other)
			assert_int_equal(chown(target, NOBODY, NOBODY), 0);
		if (root && rows[i].link_of_other)
			assert_int_equal(lchown(link, NOBODY, NOBODY), 0);
		result = paths_make(rows[i].link ? link : target, &err);
		assert_int_equal(result, refused ? -EPERM : 0);
		if (refused)
			assert_non_null(strstr(err.message, "another user"));
		assert_int_equal(unlink(link), 0);
		assert_int_equal(rmdir(target), 0);
	}
}

static void a_file_is_no_folder(void **state)
{
	char path[SCRATCH_PATH_MAX];
	struct error err = ERROR_INIT;

	scratch_path(path, *state, "file");
	assert_int_equal(scratch_write(path, "", 0), 0);
	assert_int_equal(paths_make(path, &err), -ENOTDIR);
	assert_non_null(strstr(err.message, path));
	assert_non_null(strstr(err.message, "set AUTOFIT_HOME to"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/nowhere/at/all", path), 0);
	assert_true(paths_make(path, &err) < 0);
}

static void make_file(const char *folder, const char *name)
{
	char path[SCRATCH_PATH_MAX];

	scratch_path(path, folder, name);
	assert_int_equal(scratch_write(path, "x", 1), 0);
}

static void make_folder(const char *folder, const char *name)
{
	char path[SCRATCH_PATH_MAX];

	assert_int_equal(mkdir(scratch_path(path, folder, name), 0700), 0);
}

static void a_tree_goes_and_what_it_points_to_stays(void **state)
{
	char tree[SCRATCH_PATH_MAX];
	char path[SCRATCH_PATH_MAX];
	char outside[SCRATCH_PATH_MAX];

	scratch_path(tree, *state, "tree");
	scratch_path(outside, *state, "outside");
	make_folder(*state, "tree");
	make_folder(*state, "outside");
	make_file(outside, "precious");
	make_folder(tree, "a");
	make_folder(tree, "a/b");
	make_file(tree, "a/b/file");
	make_file(tree, ".hidden");
	assert_int_equal(symlink("../outside", scratch_path(path, tree, "to")),
			 0);
	assert_int_equal(symlink("nowhere", scratch_path(path, tree, "x")), 0);
	assert_int_equal(mkfifo(scratch_path(path, tree, "fifo"), 0600), 0);
	paths_remove_tree(tree);
	assert_false(is_there(tree));
	assert_true(is_there(scratch_path(path, outside, "precious")));
	paths_remove_tree(tree);
}

static void a_link_is_not_followed_from_the_top(void **state)
{
	static const char *const ends[] = { "", "/", "//" };
	char target[SCRATCH_PATH_MAX];
	char link[SCRATCH_PATH_MAX];
	char file[SCRATCH_PATH_MAX];

	scratch_path(target, *state, "target");
	make_folder(*state, "target");
	make_file(target, "precious");
	scratch_path(link, *state, "link");
	assert_int_equal(symlink(target, link), 0);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		char *name = xasprintf("%s%s", link, ends[i]);

		paths_remove_tree(name);
		assert_true(is_there(scratch_path(file, target, "precious")));
		free(name);
	}
	paths_remove_tree(scratch_path(file, target, "precious"));
	assert_true(is_there(file));
	scratch_path(file, *state, "target//");
	paths_remove_tree(file);
	assert_false(is_there(target));
}

static void a_tree_of_any_depth_goes(void **state)
{
	char tree[SCRATCH_PATH_MAX];
	struct rlimit limit;
	struct rlimit few;
	int fd;

	scratch_path(tree, *state, "tree");
	make_folder(*state, "tree");
	fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int depth = 0; depth < 1500; depth++) {
		int below;

		assert_int_equal(mkdirat(fd, "folder", 0700), 0);
		assert_int_equal(mkdirat(fd, "sibling", 0700), 0);
		below = openat(fd, "folder",
			       O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(below >= 0);
		(void)close(fd);
		fd = below;
	}
	(void)close(fd);
	/* Each level that is entered costs a descriptor. */
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = limit;
	few.rlim_cur = 128;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	paths_remove_tree(tree);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_false(is_there(tree));
}

/* Exits 0 when its own folders went whatever their modes were. */
static void remove_unreadable(const char *folder)
{
	static const mode_t modes[] = { 0, 0100, 0300, 0400, 0500, 0600 };
	char path[SCRATCH_PATH_MAX];
	char name[32];

	if (geteuid() == 0 && (setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
			       setresuid(NOBODY, NOBODY, NOBODY) < 0))
		_exit(2);
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		(void)snprintf(name, sizeof(name), "tree/%zu", i);
		if ((i == 0 &&
		     mkdir(scratch_path(path, folder, "tree"), 0700) < 0) ||
		    mkdir(scratch_path(path, folder, name), 0700) < 0)
			_exit(3);
		(void)snprintf(name, sizeof(name), "tree/%zu/below", i);
		if (mkdir(scratch_path(path, folder, name), 0700) < 0)
			_exit(4);
		(void)snprintf(name, sizeof(name), "tree/%zu/below/x", i);
		if (scratch_write(scratch_path(path, folder, name), "", 0) < 0)
			_exit(5);
		path[strlen(path) - 2] = '\0';
		if (chmod(path, modes[i]) < 0)
			_exit(6);
		path[strlen(path) - strlen("/below")] = '\0';
		if (chmod(path, modes[i]) < 0)
			_exit(7);
	}
	scratch_path(path, folder, "tree");
	if (chmod(path, 0) < 0)
		_exit(8);
	paths_remove_tree(path);
	_exit(is_there(path) ? 1 : 0);
}

static void folders_that_cannot_be_read_go_too(void **state)
{
	int status;
	pid_t pid;

	assert_int_equal(chmod(*state, 0777), 0);
	pid = fork();
	if (pid == 0)
		remove_unreadable(*state);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

#define NO_NAMESPACE 77

static bool mount_in(const char *tree, const char *name, const char *source)
{
	char path[SCRATCH_PATH_MAX];

	return mount(source, scratch_path(path, tree, name), NULL,
		     MS_BIND | MS_REC, NULL) == 0;
}

/* Exits 0 when the tree is gone. */
static void remove_with_mounts(const char *tree, const char *outside)
{
	char file[SCRATCH_PATH_MAX];

	scratch_path(file, outside, "precious");
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 ||
	    !mount_in(tree, "mounted", outside) ||
	    !mount_in(tree, "mounted", outside) ||
	    !mount_in(tree, "own/file", file))
		_exit(NO_NAMESPACE);
	paths_remove_tree(tree);
	_exit(is_there(tree) ? 1 : 0);
}

/* Where no namespace can be made, no probe mounts anything either. */
static void what_is_mounted_in_a_tree_stays_where_it_is(void **state)
{
	char path[SCRATCH_PATH_MAX];
	char tree[SCRATCH_PATH_MAX];
	char outside[SCRATCH_PATH_MAX];
	struct stat info;
	int status;
	pid_t pid;

	scratch_path(tree, *state, "tree");
	scratch_path(outside, *state, "outside");
	make_folder(*state, "tree");
	make_folder(*state, "outside");
	make_file(outside, "precious");
	assert_int_equal(chmod(outside, 0500), 0);
	make_folder(tree, "mounted");
	make_folder(tree, "own");
	make_file(tree, "own/file");
	pid = fork();
	if (pid == 0)
		remove_with_mounts(tree, outside);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) != NO_NAMESPACE)
		assert_int_equal(status, 0);
	assert_int_equal(stat(outside, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0500);
	assert_int_equal(chmod(outside, 0700), 0);
	assert_true(is_there(scratch_path(path, outside, "precious")));
}

static void set_changed(const char *folder, const char *name, time_t seconds)
{
	struct timespec times[2] = { { seconds, 0 }, { seconds, 0 } };
	char path[SCRATCH_PATH_MAX];

	assert_int_equal(
		utimensat(AT_FDCWD, scratch_path(path, folder, name), times, 0),
		0);
}

static void the_newest_folders_are_kept(void **state)
{
	static const struct {
		const char *name;
		size_t keep;
		const char *left; /* of the folders a to e, b the newest */
	} rows[] = {
		{ "all", 9, "abcde" },     { "exact", 5, "abcde" },
		{ "less one", 4, "abcd" }, { "two", 2, "bd" },
		{ "one", 1, "b" },         { "none", 0, "" },
	};
	static const time_t ages[] = { 30, 50, 20, 40, 10 };
	char folder[SCRATCH_PATH_MAX];
	char path[SCRATCH_PATH_MAX];

	scratch_path(folder, *state, "logs");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		print_message("%s\n", rows[i].name);
		make_folder(*state, "logs");
		make_file(folder, "file");
		assert_int_equal(
			symlink(*state, scratch_path(path, folder, "link")), 0);
		for (size_t j = 0; j < 5; j++) {
			char name[] = { (char)('a' + j), '\0', '\0', '\0' };

			make_folder(folder, name);
			memcpy(name + 1, "/x", 2);
			make_file(folder, name);
			name[1] = '\0';
			set_changed(folder, name, ages[j]);
		}
		paths_prune(folder, rows[i].keep);
		for (char name[] = "a"; name[0] <= 'e'; name[0]++)
			assert_int_equal(
				is_there(scratch_path(path, folder, name)),
				strchr(rows[i].left, name[0]) != NULL);
		assert_true(is_there(scratch_path(path, folder, "file")));
		assert_true(is_there(scratch_path(path, folder, "link")));
		paths_remove_tree(folder);
	}
	paths_prune(folder, 0);
	assert_false(is_there(folder));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_environment_says_where),
		cmocka_unit_test(all_folders_differ),
		cmocka_unit_test(the_site_is_an_absolute_folder),
#define IN_FOLDER(test)                                                        \
	cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)
		IN_FOLDER(folders_are_made_for_their_user_only),
		IN_FOLDER(folders_of_others_are_refused),
		IN_FOLDER(a_file_is_no_folder),
		IN_FOLDER(a_tree_goes_and_what_it_points_to_stays),
		IN_FOLDER(a_link_is_not_followed_from_the_top),
		IN_FOLDER(a_tree_of_any_depth_goes),
		IN_FOLDER(folders_that_cannot_be_read_go_too),
		IN_FOLDER(what_is_mounted_in_a_tree_stays_where_it_is),
		IN_FOLDER(the_newest_folders_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
