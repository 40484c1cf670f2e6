/* Whose files may give numbers: owners, modes, links and folders. */
/* SPDX-License-Identifier: MIT */
/* USES configs */
#include "configs/records/record.h"

#include "base/textfile.h"
#include "configs/files/owned_file.h"
#include "tests/unit/scratch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include <cmocka.h>

#define USER 54321
#define OTHER 54322
#define FRIEND 54323 /* owns the site */
#define GROUP 54324  /* nobody's own */

/* In each row: what differs from a file of the user in a folder of his. */
struct row {
	const char *name;
	uid_t file, folder; /* owners; 0: root */
	mode_t file_mode, folder_mode;
	bool of_group; /* of file and folder: GROUP, else that of root */
	int own, site, given;
	const char *message;
};

/* All of these run as USER, who can read but not write the files. */
static const struct row rows[] = {
	{ "the user's", USER, USER, 0600, 0700, false, 0, -EPERM, 0,
	  "belongs to another user" },
	{ "readable by all", USER, USER, 0644, 0755, false, 0, -EPERM, 0,
	  "belongs to another user" },
	{ "root's", 0, 0, 0644, 0755, false, -EPERM, 0, 0,
	  "its folder belongs to another user (0)" },
	{ "root's in a folder of the user", 0, USER, 0644, 0755, false, -EPERM,
	  -EPERM, 0, "belongs to another user" },
	{ "the site's", FRIEND, FRIEND, 0644, 0755, false, -EPERM, 0, 0,
	  "its folder belongs to another user (54323)" },
	{ "another's", OTHER, OTHER, 0644, 0755, false, -EPERM, -EPERM, -EPERM,
	  "its folder belongs to another user (54322)" },
	{ "another's in a folder of the user", OTHER, USER, 0644, 0755, false,
	  -EPERM, -EPERM, -EPERM, "belongs to another user" },
	{ "the user's in a folder of another", USER, OTHER, 0644, 0755, false,
	  -EPERM, -EPERM, -EPERM,
	  "its folder belongs to another user (54322)" },
	{ "writable by all", USER, USER, 0666, 0700, false, -EPERM, -EPERM,
	  -EPERM, "others may write to it: chmod go-w /" },
	{ "root's, writable by all", 0, 0, 0646, 0755, false, -EPERM, -EPERM,
	  -EPERM, "others may write to it" },
	{ "in a folder writable by all", USER, USER, 0600, 0777, false, -EPERM,
	  -EPERM, -EPERM, "others may write to its folder: chmod go-w /" },
	{ "in a folder as /tmp", USER, 0, 0600, 01777, false, -EPERM, -EPERM, 0,
	  "belongs to another user" },
	{ "root's in a folder as /tmp", 0, 0, 0644, 01777, false, -EPERM, 0, 0,
	  "its folder belongs to another user (0)" },
	{ "another's in a folder as /tmp", OTHER, 0, 0644, 01777, false, -EPERM,
	  -EPERM, -EPERM, "belongs to another user" },
	{ "writable by a group", USER, USER, 0660, 0700, true, -EPERM, -EPERM,
	  -EPERM, "others may write to it" },
	{ "in a folder writable by a group", USER, USER, 0600, 0770, true,
	  -EPERM, -EPERM, -EPERM, "others may write to its folder" },
	{ "of a group that may only read", USER, USER, 0640, 0750, true, 0,
	  -EPERM, 0, "belongs to another user" },
	/* The owner's own group, as root's is. */
	{ "root's, writable by its own group", 0, 0, 0664, 0775, false, -EPERM,
	  0, 0, "its folder belongs to another user (0)" },
	{ "root's, writable by a group", 0, 0, 0664, 0755, true, -EPERM, -EPERM,
	  -EPERM, "others may write to it" },
	{ "root's in a folder of a group", 0, 0, 0644, 0775, true, -EPERM,
	  -EPERM, -EPERM, "others may write to its folder" },
};

struct place {
	char site[SCRATCH_PATH_MAX];
	char folder[SCRATCH_PATH_MAX];
	char file[SCRATCH_PATH_MAX];
};

static void make_place(struct place *place, const char *scratch,
		       const struct row *row)
{
	gid_t group = row->of_group ? GROUP : 0;

	scratch_path(place->site, scratch, "site");
	scratch_path(place->folder, scratch, "folder");
	scratch_path(place->file, place->folder, "a.ini");
	assert_int_equal(chmod(scratch, 0755), 0);
	assert_int_equal(mkdir(place->site, 0755), 0);
	assert_int_equal(chown(place->site, FRIEND, GROUP), 0);
	assert_int_equal(mkdir(place->folder, 0700), 0);
	assert_int_equal(scratch_write(place->file, "numbers", 7), 0);
	assert_int_equal(chown(place->file, row->file, group), 0);
	assert_int_equal(chmod(place->file, row->file_mode), 0);
	assert_int_equal(chown(place->folder, row->folder, group), 0);
	assert_int_equal(chmod(place->folder, row->folder_mode), 0);
}

static void remove_place(const struct place *place)
{
	assert_int_equal(unlink(place->file), 0);
	assert_int_equal(rmdir(place->folder), 0);
	assert_int_equal(rmdir(place->site), 0);
}

static int trust(const char *path, enum record_place kind, const char *site,
		 int expected, const char *message)
{
	struct error err = ERROR_INIT;
	int result = record_trust(path, kind, site, &err);

	if (result != expected || err.code != expected) {
		(void)fprintf(stderr, "%d: %d, not %d: %s\n", (int)kind, result,
			      expected, err.message);
		return 1;
	}
	if (expected < 0 &&
	    (!strstr(err.message, path) || strchr(err.message, '\n'))) {
		(void)fprintf(stderr, "%s\n", err.message);
		return 2;
	}
	if (expected < 0 && kind == RECORD_GIVEN &&
	    !strstr(err.message, message)) {
		(void)fprintf(stderr, "%s\n", err.message);
		return 3;
	}
	return record_trust(path, kind, site, NULL) == expected ? 0 : 4;
}

/* In a process of its own: who became USER stays it. */
static void check_as_user(const struct place *place, const struct row *row)
{
	int failed;

	if (setresgid(GROUP + 1, GROUP + 1, GROUP + 1) < 0 ||
	    setresuid(USER, USER, USER) < 0)
		_exit(9);
	failed = trust(place->file, RECORD_OWN, place->site, row->own,
		       row->message) ||
		 trust(place->file, RECORD_SITE, place->site, row->site,
		       row->message) ||
		 trust(place->file, RECORD_GIVEN, place->site, row->given,
		       row->message);
	_exit(failed);
}

static void owner_and_mode_decide(void **state)
{
	if (geteuid() != 0)
		skip();
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct place place;
		int status;
		pid_t pid;

		print_message("%s\n", rows[i].name);
		make_place(&place, *state, &rows[i]);
		pid = fork();
		if (pid == 0)
			check_as_user(&place, &rows[i]);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		remove_place(&place);
	}
}

/* What every user can see, without chown. */
static void others_must_not_write(void **state)
{
	static const struct {
		const char *name;
		mode_t file, folder;
		int result;
	} modes[] = {
		{ "own", 0600, 0700, 0 },
		{ "readable", 0644, 0755, 0 },
		{ "file for all", 0606, 0700, -EPERM },
		{ "folder for all", 0600, 0707, -EPERM },
		{ "sticky folder for all", 0600, 01707, 0 },
		{ "unwritten", 0400, 0500, 0 },
	};
	char folder[SCRATCH_PATH_MAX];
	char path[SCRATCH_PATH_MAX];

	scratch_path(folder, *state, "folder");
	scratch_path(path, folder, "a.ini");
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(scratch_write(path, "x", 1), 0);
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		print_message("%s\n", modes[i].name);
		assert_int_equal(chmod(path, modes[i].file), 0);
		assert_int_equal(chmod(folder, modes[i].folder), 0);
		assert_int_equal(record_trust(path, RECORD_OWN, NULL, NULL),
				 modes[i].result);
		assert_int_equal(record_trust(path, RECORD_GIVEN, NULL, NULL),
				 modes[i].result);
	}
	assert_int_equal(chmod(folder, 0700), 0);
}

static void what_is_no_file_is_refused(void **state)
{
	static const struct {
		const char *name, *link; /* NULL: made below */
		int result;
	} odd[] = {
		{ "fifo", NULL, -EINVAL },
		{ "folder", NULL, -EINVAL },
		{ "zero", "/dev/zero", -EINVAL },
		{ "tty", "/dev/tty", -EINVAL },
		{ "nowhere", "/nowhere/at/all", -ENOENT },
		{ "loop", "loop", -ELOOP },
		{ "missing", NULL, -ENOENT },
		{ "missing/a", NULL, -ENOENT },
	};
	char path[SCRATCH_PATH_MAX];

	assert_int_equal(mkfifo(scratch_path(path, *state, "fifo"), 0600), 0);
	assert_int_equal(mkdir(scratch_path(path, *state, "folder"), 0700), 0);
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		struct error err = ERROR_INIT;

		print_message("%s\n", odd[i].name);
		scratch_path(path, *state, odd[i].name);
		if (odd[i].link)
			assert_int_equal(symlink(odd[i].link, path), 0);
		assert_int_equal(record_trust(path, RECORD_OWN, NULL, &err),
				 odd[i].result);
		assert_non_null(strstr(err.message, path));
	}
	assert_true(record_trust("", RECORD_OWN, NULL, NULL) < 0);
}

static void a_link_and_its_target_must_both_do(void **state)
{
	static const struct {
		const char *name;
		uid_t link, target, folder; /* 0: as the test */
		mode_t folder_mode;
		int result;
	} links[] = {
		{ "own", 0, 0, 0, 0700, 0 },
		{ "another's link", OTHER, 0, 0, 0700, -EPERM },
		{ "another's target", 0, OTHER, 0, 0700, -EPERM },
		{ "target in another's folder", 0, 0, OTHER, 0700, -EPERM },
		{ "target in a folder for all", 0, 0, 0, 0777, -EPERM },
	};
	char folder[SCRATCH_PATH_MAX];
	char target[SCRATCH_PATH_MAX];
	char link[SCRATCH_PATH_MAX];

	scratch_path(folder, *state, "far");
	scratch_path(target, folder, "a.ini");
	scratch_path(link, *state, "link.ini");
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		bool chowned =
			links[i].link || links[i].target || links[i].folder;

		if (chowned && geteuid() != 0)
			continue;
		print_message("%s\n", links[i].name);
		assert_int_equal(mkdir(folder, 0700), 0);
		assert_int_equal(scratch_write(target, "x", 1), 0);
		assert_int_equal(symlink("far/a.ini", link), 0);
		if (links[i].link)
			assert_int_equal(lchown(link, links[i].link, 0), 0);
		if (links[i].target)
			assert_int_equal(chown(target, links[i].target, 0), 0);
		if (links[i].folder)
			assert_int_equal(chown(folder, links[i].folder, 0), 0);
		assert_int_equal(chmod(folder, links[i].folder_mode), 0);
		assert_int_equal(record_trust(link, RECORD_OWN, NULL, NULL),
				 links[i].result);
		assert_int_equal(unlink(link), 0);
		assert_int_equal(unlink(target), 0);
		assert_int_equal(rmdir(folder), 0);
	}
}

/* An access list gives others the right that the group's bits show. */
static void an_access_list_is_no_group_of_ones_own(void **state)
{
	/* Version 2; user::rw- user:OTHER:rw- group::r-- mask::rw- other::r */
	static const unsigned char list[] = {
		2,    0,    0,    0, /* version */
		1,    0,    6,    0,    0xff, 0xff, 0xff, 0xff, 2,    0,
		6,    0,    0x32, 0xd4, 0,    0,    4,    0,    4,    0,
		0xff, 0xff, 0xff, 0xff, 16,   0,    6,    0,    0xff, 0xff,
		0xff, 0xff, 32,   0,    4,    0,    0xff, 0xff, 0xff, 0xff,
	};
	char path[SCRATCH_PATH_MAX];

	scratch_path(path, *state, "a.ini");
	assert_int_equal(scratch_write(path, "x", 1), 0);
	if (geteuid() != 0 || setxattr(path, "system.posix_acl_access", list,
				       sizeof(list), 0) < 0)
		skip();
	assert_int_equal(record_trust(path, RECORD_OWN, NULL, NULL), -EPERM);
	assert_int_equal(removexattr(path, "system.posix_acl_access"), 0);
	assert_int_equal(chmod(path, 0664), 0);
	assert_int_equal(record_trust(path, RECORD_OWN, NULL, NULL), 0);
}

static void a_site_that_is_none_vouches_for_nobody(void **state)
{
	static const char *const sites[] = { "missing", "file" };
	char path[SCRATCH_PATH_MAX];
	char site[SCRATCH_PATH_MAX];

	if (geteuid() != 0)
		skip();
	scratch_path(path, *state, "file");
	assert_int_equal(scratch_write(path, "x", 1), 0);
	assert_int_equal(chown(path, FRIEND, 0), 0);
	for (size_t i = 0; i < 2; i++) {
		scratch_path(site, *state, sites[i]);
		assert_int_equal(record_trust(path, RECORD_SITE, site, NULL),
				 -EPERM);
	}
	assert_int_equal(record_trust(path, RECORD_SITE, NULL, NULL), -EPERM);
	assert_int_equal(record_trust(path, RECORD_GIVEN, NULL, NULL), -EPERM);
}

static void a_relative_path_has_a_folder_too(void **state)
{
	char here[SCRATCH_PATH_MAX];

	assert_non_null(getcwd(here, sizeof(here)));
	assert_int_equal(chdir(*state), 0);
	assert_int_equal(scratch_write("a.ini", "x", 1), 0);
	assert_int_equal(record_trust("a.ini", RECORD_OWN, NULL, NULL), 0);
	assert_int_equal(chmod(".", 0777), 0);
	assert_int_equal(record_trust("a.ini", RECORD_OWN, NULL, NULL), -EPERM);
	assert_int_equal(chmod(".", 0700), 0);
	assert_int_equal(chdir(here), 0);
}

/* What was judged is what is read, whatever the name is by then. */
static void what_was_opened_is_read(void **state)
{
	static const struct {
		size_t max_bytes;
		int result;
		const char *text;
	} reads[] = {
		{ 100, 0, "numbers" },
		{ 7, 0, "numbers" },
		{ 6, 1, "number" },
		{ 0, 1, "" },
	};
	struct owners owners = owners_of_user();
	char path[SCRATCH_PATH_MAX];

	scratch_path(path, *state, "a.ini");
	for (size_t i = 0; i < sizeof(reads) / sizeof(*reads); i++) {
		struct strbuf text = STRBUF_INIT;
		int fd;

		assert_int_equal(scratch_write(path, "numbers", 7), 0);
		fd = owned_file_open(path, &owners, NULL);
		assert_true(fd >= 0);
		assert_int_equal(unlink(path), 0);
		assert_int_equal(scratch_write(path, "others!", 7), 0);
		assert_int_equal(textfile_read_open(fd, path,
						    reads[i].max_bytes, &text,
						    NULL),
				 reads[i].result);
		assert_string_equal(strbuf_text(&text), reads[i].text);
		assert_int_equal(fcntl(fd, F_GETFD), -1);
		strbuf_release(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define IN_FOLDER(test)                                                        \
	cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)
		IN_FOLDER(owner_and_mode_decide),
		IN_FOLDER(others_must_not_write),
		IN_FOLDER(what_is_no_file_is_refused),
		IN_FOLDER(a_link_and_its_target_must_both_do),
		IN_FOLDER(an_access_list_is_no_group_of_ones_own),
		IN_FOLDER(a_site_that_is_none_vouches_for_nobody),
		IN_FOLDER(a_relative_path_has_a_folder_too),
		IN_FOLDER(what_was_opened_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
