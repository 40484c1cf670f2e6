/* Shared memory in a view: its own, with what was there to be read. */
/* SPDX-License-Identifier: MIT */
/* USES base configs probes */
#include "probes/isolation/isolation.h"

#include "isolation_case.h"

#include <fcntl.h>
#include <mqueue.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>

#include <cmocka.h>

#define SHM ISOLATION_SHARED_MEMORY
#define NEW "new bytes"
#define SIZE_MIB 64
#define ENTRIES_MAX 1024

static int result_of(int returned)
{
	return returned < 0 ? errno : 0;
}

static int put(const char *path, int flags)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0644);
	int result = 0;

	if (fd < 0)
		return errno;
	if (write(fd, NEW, strlen(NEW)) < 0)
		result = errno;
	(void)close(fd);
	return result;
}

static int has(const char *path, const char *wanted)
{
	char *text = case_read(path);
	int result = strcmp(text, wanted) == 0 ? 0 : ENODATA;

	free(text);
	return result;
}

static int makes(const struct isolation_case *test)
{
	(void)test;
	return put(SHM "/new", O_CREAT | O_EXCL);
}

static int makes_by_call(const struct isolation_case *test)
{
	int fd = shm_open("/new", O_RDWR | O_CREAT | O_EXCL, 0600);

	(void)test;
	return fd < 0 ? errno : result_of(ftruncate(fd, 4096));
}

static int makes_and_removes(const struct isolation_case *test)
{
	int result = makes(test);

	return result ? result : result_of(unlink(SHM "/new"));
}

static int reads(const struct isolation_case *test)
{
	(void)test;
	return has(SHM "/staged", CASE_OLD);
}

static int reads_deeper(const struct isolation_case *test)
{
	(void)test;
	return has(SHM "/data/staged", CASE_OLD);
}

static int reads_through_a_link(const struct isolation_case *test)
{
	(void)test;
	return has(SHM "/link", CASE_OLD);
}

/* In a user namespace this user looks like all who have no name in it. */
static int follows_the_link_of_another(const struct isolation_case *test)
{
	return test->user != CASE_NOBODY && access(SHM "/strange", F_OK) == 0
		       ? EEXIST
		       : 0;
}

static int writes(const struct isolation_case *test)
{
	(void)test;
	return put(SHM "/staged", 0);
}

static int removes(const struct isolation_case *test)
{
	(void)test;
	return result_of(unlink(SHM "/staged"));
}

static int renames_over(const struct isolation_case *test)
{
	int result = makes(test);

	return result ? result : result_of(rename(SHM "/new", SHM "/staged"));
}

static int makes_deeper(const struct isolation_case *test)
{
	(void)test;
	return put(SHM "/data/new", O_CREAT);
}

static int has_the_right_mount(const struct isolation_case *test)
{
	struct statvfs space;
	struct stat info;

	(void)test;
	if (statvfs(SHM, &space) < 0 || stat(SHM, &info) < 0)
		return errno;
	if ((info.st_mode & 07777) != 01777)
		return EDOM;
	if (!(space.f_flag & ST_NOSUID) || !(space.f_flag & ST_NODEV))
		return EPERM;
	/* As much as was free: 2 MiB and some entries are in the real one. */
	return space.f_blocks * space.f_frsize > (SIZE_MIB - 4) << 20 &&
			       space.f_blocks * space.f_frsize <= (SIZE_MIB - 2)
									  << 20
		       ? 0
		       : ERANGE;
}

static int talks_to_a_server(const struct isolation_case *test)
{
	(void)test;
	return put(SHM "/cuda.shm.0.1.1", 0);
}

static int writes_what_is_allowed(const struct isolation_case *test)
{
	(void)test;
	return put(SHM "/allowed", O_TRUNC);
}

static int writes_what_is_guarded(const struct isolation_case *test)
{
	(void)test;
	return put(SHM "/data/run/staged", O_TRUNC);
}

static const struct {
	const char *name;
	deed *deed;
	int result;
} deeds[] = {
	{ "makes", makes, 0 },
	{ "makes by call", makes_by_call, 0 },
	{ "makes and removes", makes_and_removes, 0 },
	{ "reads", reads, 0 },
	{ "reads deeper", reads_deeper, 0 },
	{ "reads through a link", reads_through_a_link, 0 },
	{ "follows the link of another", follows_the_link_of_another, 0 },
	{ "writes", writes, EROFS },
	{ "removes", removes, EBUSY },
	{ "renames over", renames_over, EBUSY },
	{ "makes deeper", makes_deeper, EROFS },
	{ "has the right mount", has_the_right_mount, 0 },
	{ "writes what is guarded", writes_what_is_guarded, 0 },
};

/* A folder with all kinds of entries, where the real one was. */
static void fill_memory(struct isolation_case *test)
{
	char options[64];
	static char bytes[2 << 20];

	(void)snprintf(options, sizeof(options), "mode=1777,size=%dm",
		       SIZE_MIB);
	assert_int_equal(unshare(CLONE_NEWNS), 0);
	assert_int_equal(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	assert_int_equal(mount("test", SHM, "tmpfs", 0, options), 0);
	memset(bytes, 1, sizeof(bytes));
	assert_int_equal(scratch_write(SHM "/large", bytes, sizeof(bytes)), 0);
	case_file(SHM, "staged");
	case_file(SHM, "cuda.shm.0.1.1");
	case_file(SHM, "allowed");
	assert_int_equal(mkdir(SHM "/data", 0755), 0);
	case_file(SHM "/data", "staged");
	assert_int_equal(mkdir(SHM "/data/run", 0755), 0);
	case_file(SHM "/data/run", "staged");
	assert_int_equal(symlink("data/staged", SHM "/link"), 0);
	assert_int_equal(symlink("data/staged", SHM "/strange"), 0);
	assert_int_equal(mkfifo(SHM "/pipe", 0600), 0);
	if (test->user)
		(void)nftw(SHM, case_own, 32, FTW_PHYS);
	assert_int_equal(lchown(SHM "/strange", 1, 1), 0);
	assert_int_equal(lchown(SHM, 0, 0), 0);
	assert_int_equal(chmod(SHM, 01777), 0);
	strlist_add(&test->shared, SHM "/allowed");
	strlist_add(&test->guarded, SHM "/data/run");
}

static char *memory_text(void)
{
	struct strbuf text = STRBUF_INIT;

	case_describe(&text, SHM);
	return strbuf_detach(&text);
}

static void try_deeds(const struct isolation_case *test)
{
	char *before = memory_text();

	for (size_t i = 0; i < sizeof(deeds) / sizeof(*deeds); i++) {
		int result = case_do(test, ISOLATION_VIEW, deeds[i].deed);
		char *after = memory_text();

		if (result != deeds[i].result)
			fail_msg("%s, user %u: %s", deeds[i].name, test->user,
				 strerror(result));
		assert_string_equal(after, before);
		assert_int_equal(case_clean(test), 0);
		free(after);
	}
	free(before);
	assert_int_equal(case_do(test, ISOLATION_VIEW, talks_to_a_server), 0);
	assert_int_equal(case_clean(test), 0);
	assert_int_equal(has(SHM "/cuda.shm.0.1.1", NEW "\n"), 0);
	assert_int_equal(case_do(test, ISOLATION_VIEW, writes_what_is_allowed),
			 0);
	assert_int_equal(case_clean(test), 0);
	assert_int_equal(has(SHM "/allowed", NEW), 0);
}

/* Is an entry that a probe makes there afterwards? Removes it. */
static bool memory_is_shared(const struct isolation_case *test)
{
	assert_int_equal(case_do(test, ISOLATION_VIEW, makes), 0);
	assert_int_equal(case_clean(test), 0);
	return unlink(SHM "/new") == 0;
}

static int count_entries(void)
{
	DIR *folder = opendir(SHM);
	int count = -2;

	assert_non_null(folder);
	while (readdir(folder))
		count++;
	(void)closedir(folder);
	return count;
}

static void make_entries(int count)
{
	char name[32];

	for (int have = count_entries(); have < count; have++) {
		(void)snprintf(name, sizeof(name), "entry-%d", have);
		case_file(SHM, name);
	}
}

/* More mounts than that cost too much; a server needs names of both sides. */
static void try_what_stays_shared(struct isolation_case *test)
{
	char path[SCRATCH_PATH_MAX];

	assert_false(memory_is_shared(test));
	(void)scratch_path(path, test->cache, "control");
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_true(memory_is_shared(test));
	assert_int_equal(unlink(path), 0);
	make_entries(ENTRIES_MAX);
	assert_false(memory_is_shared(test));
	make_entries(ENTRIES_MAX + 1);
	assert_true(memory_is_shared(test));
	strlist_add(&test->shared, SHM);
	assert_true(memory_is_shared(test));
}

static void try_as(const char *top, uid_t user)
{
	struct isolation_case made;

	(void)chmod(top, 0755);
	case_make(&made, top, user);
	fill_memory(&made);
	try_deeds(&made);
	try_what_stays_shared(&made);
	case_release(&made);
}

/* A process of its own, so that the mounts are nobody else's. */
static void try_apart(const char *top, uid_t user)
{
	int status = -1;
	pid_t pid;

	if (geteuid() != 0)
		skip();
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		try_as(top, user);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void with_privilege(void **state)
{
	try_apart(*state, 0);
}

static void without_privilege(void **state)
{
	try_apart(*state, CASE_NOBODY);
}

/* A number and a name that no other test has. */
static int ipc_key(const struct isolation_case *test)
{
	struct stat info = { 0 };

	(void)stat(test->top, &info);
	return (int)(info.st_ino & 0x7fffffff) | 1;
}

static void queue_name(char name[64], const struct isolation_case *test)
{
	(void)snprintf(name, 64, "/autofit-test-%x", ipc_key(test));
}

static int leaves_objects(const struct isolation_case *test)
{
	char name[64];
	mqd_t queue;

	queue_name(name, test);
	queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, NULL);
	if (queue == (mqd_t)-1)
		return errno;
	if (shmget(ipc_key(test), 4096, IPC_CREAT | IPC_EXCL | 0600) < 0 ||
	    semget(ipc_key(test), 1, IPC_CREAT | IPC_EXCL | 0600) < 0 ||
	    msgget(ipc_key(test), IPC_CREAT | IPC_EXCL | 0600) < 0)
		return errno;
	/* Only root may; his, too, ends with the view. */
	(void)!sethostname("autofit-test", 12);
	return 0;
}

static void no_object_stays(const struct isolation_case *test)
{
	struct utsname names;
	char name[64];

	queue_name(name, test);
	assert_true(shmget(ipc_key(test), 0, 0) < 0 && errno == ENOENT);
	assert_true(semget(ipc_key(test), 0, 0) < 0 && errno == ENOENT);
	assert_true(msgget(ipc_key(test), 0) < 0 && errno == ENOENT);
	assert_true(mq_open(name, O_RDONLY) == (mqd_t)-1 && errno == ENOENT);
	assert_int_equal(uname(&names), 0);
	assert_string_not_equal(names.nodename, "autofit-test");
}

static void objects_end_with_a_view(void **state)
{
	static const uid_t users[] = { 0, CASE_NOBODY };

	for (size_t i = geteuid() == 0 ? 0 : 1; i < 2; i++) {
		struct isolation_case test;
		uid_t user = geteuid() == 0 ? users[i] : geteuid();

		case_make(&test, *state, user);
		assert_int_equal(case_do(&test, ISOLATION_VIEW, leaves_objects),
				 0);
		no_object_stays(&test);
		assert_int_equal(case_clean(&test), 0);
		case_release(&test);
	}
}

static void it_is_told_whose_memory_it_is(void **state)
{
	struct isolation_choice choice;
	struct isolation_case made;
	struct isolation_spec spec;
	char *after;

	(void)chmod(*state, 0755);
	case_make(&made, *state, geteuid());
	for (int kind = 0; kind < ISOLATION_KINDS; kind++) {
		spec = case_spec(&made, (enum isolation_kind)kind);
		isolation_choose(&choice, &spec);
		assert_int_equal(choice.kind, kind);
		assert_int_equal(choice.has_own_memory, kind == ISOLATION_VIEW);
	}
	strlist_add(&made.shared, SHM);
	spec = case_spec(&made, ISOLATION_VIEW);
	isolation_choose(&choice, &spec);
	assert_int_equal(choice.kind, ISOLATION_VIEW);
	assert_false(choice.has_own_memory);
	after = memory_text();
	assert_null(strstr(after, "trial"));
	free(after);
	case_release(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(with_privilege, scratch_make,
						scratch_remove),
		cmocka_unit_test_setup_teardown(without_privilege, scratch_make,
						scratch_remove),
		cmocka_unit_test_setup_teardown(objects_end_with_a_view,
						scratch_make, scratch_remove),
		cmocka_unit_test_setup_teardown(it_is_told_whose_memory_it_is,
						scratch_make, scratch_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
