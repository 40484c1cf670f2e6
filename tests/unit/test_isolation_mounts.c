/* A view where much is mounted: layers on layers, files, things hidden. */
/* SPDX-License-Identifier: MIT */
/* USES base configs probes */
#include "probes/isolation/isolation.h"

#include "isolation_case.h"

#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mount.h>

#include <cmocka.h>

#define NEW "new bytes"
#define ODD "a b,c:d\\e#f"
/* Descriptors by which a deed and the test take turns. */
#define LATE_READY 100
#define LATE_DONE 101
/* More than a view has layers. */
#define CROWD 600

static int put_in(const char *folder, const char *name, int flags)
{
	char path[SCRATCH_PATH_MAX];
	int fd = open(scratch_path(path, folder, name),
		      O_WRONLY | O_CLOEXEC | flags, 0644);
	int result = 0;

	if (fd < 0)
		return errno;
	if (write(fd, NEW, strlen(NEW)) < 0)
		result = errno;
	(void)close(fd);
	return result;
}

static int writes_beside_a_mount(const struct isolation_case *test)
{
	return put_in(test->work, "ckpt.pt", O_TRUNC);
}

static int writes_in_a_mount(const struct isolation_case *test)
{
	return put_in(test->work, "mnt/ckpt.pt", O_TRUNC);
}

static int writes_in_a_mount_in_a_mount(const struct isolation_case *test)
{
	return put_in(test->work, "mnt/deep/ckpt.pt", O_TRUNC);
}

static int makes_in_an_odd_mount(const struct isolation_case *test)
{
	return put_in(test->work, ODD "/new", O_CREAT);
}

static int writes_on_top(const struct isolation_case *test)
{
	return put_in(test->work, "covered/ckpt.pt", O_TRUNC);
}

static int finds_what_is_hidden(const struct isolation_case *test)
{
	char path[SCRATCH_PATH_MAX];

	(void)scratch_path(path, test->work, "covered/below/ckpt.pt");
	return access(path, F_OK) == 0 ? EEXIST : 0;
}

static int writes_to_a_file_alone(const struct isolation_case *test)
{
	return put_in(test->work, "hard", O_TRUNC);
}

static int writes_read_only(const struct isolation_case *test)
{
	return put_in(test->work, "locked/new", O_CREAT);
}

static int runs_where_it_may_not(const struct isolation_case *test)
{
	char command[2 * SCRATCH_PATH_MAX];

	(void)snprintf(command, sizeof(command),
		       "cp /bin/true '%s/mnt/deep' && exec 2>/dev/null && "
		       "'%s/mnt/deep/true'",
		       test->work, test->work);
	return WEXITSTATUS(system(command));
}

static int writes_shared_with_a_mount(const struct isolation_case *test)
{
	int result = put_in(test->cache, "mnt/new", O_CREAT);

	return result ? result : put_in(test->cache, "new", O_CREAT);
}

static int writes_guarded_below_shared_mount(const struct isolation_case *test)
{
	return put_in(test->kept, "mnt/ckpt.pt", O_TRUNC);
}

static int makes_in_shared_memory(const struct isolation_case *test)
{
	return put_in(test->guarded.items[test->guarded.count - 1], "new",
		      O_CREAT);
}

/* Comes back when the folder has been mounted on outside. */
static int looks_for_a_late_mount(const struct isolation_case *test)
{
	char path[SCRATCH_PATH_MAX], byte;

	if (write(LATE_READY, "x", 1) != 1 || read(LATE_DONE, &byte, 1) != 1)
		return EIO;
	(void)scratch_path(path, test->work, "late/ckpt.pt");
	return access(path, F_OK) == 0 ? EEXIST : 0;
}

/*
 * Without privilege no layer can lie over a folder that has a mount in it: its
 * own files are only read there, and refused.
 */
static const struct {
	const char *name;
	deed *deed;
	int privileged, in_user_namespace;
} deeds[] = {
	{ "beside a mount", writes_beside_a_mount, 0, EROFS },
	{ "in a mount", writes_in_a_mount, 0, EROFS },
	{ "in a mount in a mount", writes_in_a_mount_in_a_mount, 0, 0 },
	{ "in an odd mount", makes_in_an_odd_mount, 0, 0 },
	{ "on top", writes_on_top, 0, 0 },
	{ "hidden", finds_what_is_hidden, 0, 0 },
	{ "a file alone", writes_to_a_file_alone, EROFS, EROFS },
	{ "read-only", writes_read_only, EROFS, EROFS },
	{ "noexec", runs_where_it_may_not, 126, 126 },
	{ "shared with a mount", writes_shared_with_a_mount, 0, 0 },
	{ "guarded below", writes_guarded_below_shared_mount, 0, 0 },
	{ "guarded in shared memory", makes_in_shared_memory, 0, 0 },
};

static void mount_in(const struct isolation_case *test, const char *folder,
		     const char *name, unsigned long flags)
{
	char path[SCRATCH_PATH_MAX];

	(void)scratch_path(path, folder, name);
	assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
	assert_int_equal(mount("test", path, "tmpfs", flags, "mode=755"), 0);
	case_file(path, "ckpt.pt");
	if (test->user)
		(void)nftw(path, case_own, 32, FTW_PHYS);
}

/*
 * In a namespace of the test's own, which goes away with it. Its folder becomes
 * the whole of /tmp: each folder beside it would cost a layer.
 */
static void move_apart(const char *top, char moved[SCRATCH_PATH_MAX])
{
	assert_int_equal(unshare(CLONE_NEWNS), 0);
	assert_int_equal(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	assert_int_equal(mount(top, "/tmp", NULL, MS_BIND, NULL), 0);
	(void)scratch_path(moved, "/tmp", "top");
	assert_int_equal(mkdir(moved, 0755), 0);
	/* As systemd does it: what is mounted here goes on to all copies. */
	assert_int_equal(mount(NULL, "/", NULL, MS_REC | MS_SHARED, NULL), 0);
}

static void mount_all(struct isolation_case *test)
{
	char path[SCRATCH_PATH_MAX];

	mount_in(test, test->work, "mnt", 0);
	mount_in(test, test->work, "mnt/deep", MS_NOEXEC);
	mount_in(test, test->work, ODD, 0);
	mount_in(test, test->work, "covered", 0);
	mount_in(test, test->work, "covered/below", 0);
	mount_in(test, test->work, "covered", 0);
	mount_in(test, test->work, "locked", 0);
	(void)scratch_path(path, test->work, "locked");
	assert_int_equal(
		mount(NULL, path, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL),
		0);
	(void)scratch_path(path, test->work, "hard");
	assert_int_equal(mount(path, path, NULL, MS_BIND, NULL), 0);
	mount_in(test, test->cache, "mnt", 0);
	mount_in(test, test->kept, "mnt", 0);
	/* Mounted as it is, but for this one folder. */
	assert_int_equal(mount("test", "/dev/shm", "tmpfs", 0, "mode=1777"), 0);
	assert_int_equal(mkdir("/dev/shm/run", 0755), 0);
	case_file("/dev/shm/run", "ckpt.pt");
	(void)nftw("/dev/shm/run", case_own, 32, FTW_PHYS);
	strlist_add(&test->guarded, "/dev/shm/run");
}

static void try_deeds(const struct isolation_case *test)
{
	char *mounts_before = case_read("/proc/self/mountinfo");
	char *before = case_guarded_text(test);

	assert_non_null(strstr(before, "mnt/deep/ckpt.pt"));
	for (size_t i = 0; i < sizeof(deeds) / sizeof(*deeds); i++) {
		int result = case_do(test, ISOLATION_VIEW, deeds[i].deed);
		char *after, *mounts;

		if (result != (test->user ? deeds[i].in_user_namespace
					  : deeds[i].privileged))
			fail_msg("%s, user %u: %d (%s)", deeds[i].name,
				 test->user, result, strerror(result));
		assert_int_equal(case_clean(test), 0);
		after = case_guarded_text(test);
		assert_string_equal(after, before);
		free(after);
		mounts = case_read("/proc/self/mountinfo");
		assert_string_equal(mounts, mounts_before);
		free(mounts);
	}
	free(before);
	free(mounts_before);
}

/* It would be a file system that can be written for real. */
static void mount_late(const struct isolation_case *test)
{
	int ready[2], done[2];
	char byte;
	pid_t pid;
	int status = -1;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(done), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)dup2(ready[1], LATE_READY);
		(void)dup2(done[0], LATE_DONE);
		_exit(case_do(test, ISOLATION_VIEW, looks_for_a_late_mount));
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	mount_in(test, test->work, "late", 0);
	assert_int_equal(write(done[1], "x", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(case_clean(test), 0);
	for (int i = 0; i < 2; i++) {
		(void)close(ready[i]);
		(void)close(done[i]);
	}
}

/* Folders of others beside it use up no layer that it needs. */
static void try_in_a_crowd(const struct isolation_case *test)
{
	char path[SCRATCH_PATH_MAX];
	char name[32];

	for (int i = 0; i < CROWD; i++) {
		(void)snprintf(name, sizeof(name), "folder-%03d", i);
		(void)scratch_path(path, "/tmp", name);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	assert_int_equal(
		case_do(test, ISOLATION_VIEW, writes_in_a_mount_in_a_mount), 0);
	assert_int_equal(case_clean(test), 0);
}

static int try_as(const char *top, uid_t user)
{
	char path[SCRATCH_PATH_MAX];
	struct isolation_case made;

	(void)chmod(top, 0755);
	move_apart(top, path);
	case_make(&made, path, user);
	mount_all(&made);
	try_deeds(&made);
	mount_late(&made);
	try_in_a_crowd(&made);
	(void)scratch_path(path, made.cache, "mnt/new");
	assert_int_equal(access(path, F_OK), 0);
	case_release(&made);
	return 0;
}

/* A process of its own, so that the mounts are nobody else's. */
static void try_apart(const char *top, uid_t user)
{
	int status = -1;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(try_as(top, user));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void mounts_in_the_way_with_privilege(void **state)
{
	if (geteuid() != 0)
		skip();
	try_apart(*state, 0);
}

static void mounts_in_the_way_without(void **state)
{
	if (geteuid() != 0)
		skip();
	try_apart(*state, CASE_NOBODY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			mounts_in_the_way_with_privilege, scratch_make,
			scratch_remove),
		cmocka_unit_test_setup_teardown(mounts_in_the_way_without,
						scratch_make, scratch_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
