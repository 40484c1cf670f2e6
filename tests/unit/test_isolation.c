/* What isolated processes do to files, as root and as an ordinary user. */
/* SPDX-License-Identifier: MIT */
/* USES base configs probes */
#include "probes/isolation/isolation.h"

#include "isolation_case.h"

#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/xattr.h>

#include <cmocka.h>

#define NEW "new bytes"
#define PLAIN_USER 4711

/* ------------------------------------- what a training does to its files */

static int put(int fd)
{
	int result = 0;

	if (fd < 0)
		return errno;
	if (write(fd, NEW, strlen(NEW)) < 0)
		result = errno;
	(void)close(fd);
	return result;
}

static int put_in(const char *folder, const char *name, int flags)
{
	char path[SCRATCH_PATH_MAX];

	return put(open(scratch_path(path, folder, name),
			O_WRONLY | O_CLOEXEC | flags, 0644));
}

static int result_of(int returned)
{
	return returned < 0 ? errno : 0;
}

static int writes(const struct isolation_case *test)
{
	(void)test;
	return put(open("ckpt.pt", O_WRONLY | O_CLOEXEC));
}

static int appends(const struct isolation_case *test)
{
	(void)test;
	return put(open("ckpt.pt", O_WRONLY | O_APPEND | O_CLOEXEC));
}

static int opens_to_truncate(const struct isolation_case *test)
{
	(void)test;
	return put(open("ckpt.pt", O_WRONLY | O_TRUNC | O_CLOEXEC));
}

static int truncates(const struct isolation_case *test)
{
	(void)test;
	return result_of(truncate("ckpt.pt", 1));
}

static int makes_and_renames_over(const struct isolation_case *test)
{
	int result = put(open("tmp.pt", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));

	(void)test;
	return result ? result : result_of(rename("tmp.pt", "ckpt.pt"));
}

static int renames(const struct isolation_case *test)
{
	(void)test;
	return result_of(rename("ckpt.pt", "ckpt.old"));
}

static int renames_over(const struct isolation_case *test)
{
	(void)test;
	return result_of(rename("hard", "ckpt.pt"));
}

static int renames_from_elsewhere(const struct isolation_case *test)
{
	char path[SCRATCH_PATH_MAX];

	return result_of(
		rename(scratch_path(path, test->out, "ckpt.pt"), "ckpt.pt"));
}

static int renames_a_folder(const struct isolation_case *test)
{
	(void)test;
	return result_of(rename("dir", "dir.old"));
}

static int unlinks(const struct isolation_case *test)
{
	(void)test;
	return result_of(unlink("ckpt.pt"));
}

static int removes_a_tree(const struct isolation_case *test)
{
	(void)test;
	return unlink("dir/inner") < 0 ? errno : result_of(rmdir("dir"));
}

static int writes_to_a_hard_link(const struct isolation_case *test)
{
	(void)test;
	return put(open("hard2", O_WRONLY | O_CLOEXEC));
}

static int makes_a_hard_link(const struct isolation_case *test)
{
	(void)test;
	return link("ckpt.pt", "same.pt") < 0
		       ? errno
		       : put(open("same.pt", O_WRONLY | O_CLOEXEC));
}

static int writes_through_a_link(const struct isolation_case *test)
{
	(void)test;
	return put(open("near", O_WRONLY | O_CLOEXEC));
}

static int writes_through_a_link_outwards(const struct isolation_case *test)
{
	(void)test;
	return put(open("far", O_WRONLY | O_TRUNC | O_CLOEXEC));
}

static int turns_a_link(const struct isolation_case *test)
{
	(void)test;
	return unlink("near") < 0 ? errno : result_of(symlink("hard", "near"));
}

static int makes_a_link(const struct isolation_case *test)
{
	(void)test;
	return result_of(symlink("ckpt.pt", "latest"));
}

static int changes_the_mode(const struct isolation_case *test)
{
	(void)test;
	return result_of(chmod("ckpt.pt", 0600));
}

static int changes_the_time(const struct isolation_case *test)
{
	(void)test;
	return result_of(utimensat(AT_FDCWD, "ckpt.pt", NULL, 0));
}

static int maps_and_changes(const struct isolation_case *test)
{
	int fd = open("ckpt.pt", O_RDWR | O_CLOEXEC);
	char *bytes;

	(void)test;
	if (fd < 0)
		return errno;
	bytes = mmap(NULL, 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		return errno;
	memcpy(bytes, "map", 4);
	return result_of(msync(bytes, 4, MS_SYNC));
}

static int makes_a_file(const struct isolation_case *test)
{
	(void)test;
	return put(
		open("new.pt", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
}

static int makes_a_file_deeper(const struct isolation_case *test)
{
	(void)test;
	return put(open("dir/new.pt", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
}

static int makes_a_folder(const struct isolation_case *test)
{
	(void)test;
	return result_of(mkdir("checkpoint-1", 0755));
}

static int makes_a_socket(const struct isolation_case *test)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX,
				       .sun_path = "socket" };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)test;
	return result_of(
		bind(fd, (struct sockaddr *)&address, sizeof(address)));
}

static int makes_a_pipe(const struct isolation_case *test)
{
	(void)test;
	return result_of(mkfifo("pipe", 0644));
}

static int writes_beside(const struct isolation_case *test)
{
	(void)test;
	return put(open("../out/ckpt.pt", O_WRONLY | O_TRUNC | O_CLOEXEC));
}

static int makes_beside(const struct isolation_case *test)
{
	(void)test;
	return put(open("../out/new", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
}

static int writes_by_absolute_path(const struct isolation_case *test)
{
	return put_in(test->out, "ckpt.pt", O_TRUNC);
}

static int writes_by_proc(const struct isolation_case *test)
{
	(void)test;
	return put(open("/proc/self/cwd/ckpt.pt", O_WRONLY | O_CLOEXEC));
}

static int writes_by_grandchild(const struct isolation_case *test)
{
	int status = system("exec 2>/dev/null; (echo x >ckpt.pt) & wait $!");

	(void)test;
	return WEXITSTATUS(status) == 0 ? 0 : EACCES;
}

static int writes_guarded_in_shared(const struct isolation_case *test)
{
	return put_in(test->kept, "ckpt.pt", O_TRUNC);
}

static int makes_guarded_in_shared(const struct isolation_case *test)
{
	return put_in(test->kept, "new.pt", O_CREAT);
}

static const struct {
	const char *name;
	deed *deed;
	/* What fails in a view without privilege; and what Landlock misses. */
	int in_user_namespace;
	bool is_missed;
} deeds[] = {
	{ "writes", writes, 0, false },
	{ "appends", appends, 0, false },
	{ "opens to truncate", opens_to_truncate, 0, false },
	{ "truncates", truncates, 0, false },
	{ "makes, renames over", makes_and_renames_over, 0, false },
	{ "renames", renames, 0, false },
	{ "renames over", renames_over, 0, false },
	{ "renames from elsewhere", renames_from_elsewhere, 0, false },
	/* As between two file systems: who moves folders copies then. */
	{ "renames a folder", renames_a_folder, EXDEV, false },
	{ "unlinks", unlinks, 0, false },
	{ "removes a tree", removes_a_tree, 0, false },
	{ "writes to a hard link", writes_to_a_hard_link, 0, false },
	{ "makes a hard link", makes_a_hard_link, 0, false },
	{ "writes through a link", writes_through_a_link, 0, false },
	{ "writes outwards", writes_through_a_link_outwards, 0, false },
	{ "turns a link", turns_a_link, 0, false },
	{ "makes a link", makes_a_link, 0, false },
	{ "changes the mode", changes_the_mode, 0, true },
	{ "changes the time", changes_the_time, 0, true },
	{ "maps and changes", maps_and_changes, 0, false },
	{ "makes a file", makes_a_file, 0, false },
	{ "makes a file deeper", makes_a_file_deeper, 0, false },
	{ "makes a folder", makes_a_folder, 0, false },
	{ "makes a socket", makes_a_socket, 0, false },
	{ "makes a pipe", makes_a_pipe, 0, false },
	{ "writes beside", writes_beside, 0, false },
	{ "makes beside", makes_beside, 0, false },
	{ "writes by absolute path", writes_by_absolute_path, 0, false },
	{ "writes by proc", writes_by_proc, 0, false },
	{ "writes by grandchild", writes_by_grandchild, 0, false },
	{ "writes guarded in shared", writes_guarded_in_shared, 0, false },
	{ "makes guarded in shared", makes_guarded_in_shared, 0, false },
};

/* ------------------------------------ for each kind, and for each of both */

static const struct {
	enum isolation_kind kind;
	uid_t user;
} ways[] = {
	{ ISOLATION_VIEW, 0 },
	{ ISOLATION_VIEW, CASE_NOBODY },
	{ ISOLATION_LANDLOCK, 0 },
	{ ISOLATION_LANDLOCK, CASE_NOBODY },
};

/* Who is not root tests as himself alone. */
static bool way_is_possible(size_t way, uid_t *user)
{
	*user = geteuid() == 0 ? ways[way].user : geteuid();
	return geteuid() == 0 || ways[way].user != 0;
}

static void for_each_way(const char *top,
			 void (*test)(const struct isolation_case *test,
				      enum isolation_kind kind))
{
	char *mounts_before = case_read("/proc/self/mountinfo");

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		char folder[SCRATCH_PATH_MAX], name[16];
		struct isolation_case made;
		char *mounts;
		uid_t user;

		if (!way_is_possible(i, &user))
			continue;
		(void)snprintf(name, sizeof(name), "way%zu", i);
		(void)mkdir(scratch_path(folder, top, name), 0755);
		case_make(&made, folder, user);
		test(&made, ways[i].kind);
		case_release(&made);
		mounts = case_read("/proc/self/mountinfo");
		assert_string_equal(mounts, mounts_before);
		free(mounts);
	}
	free(mounts_before);
}

static int expected(size_t number, const struct isolation_case *test,
		    enum isolation_kind kind)
{
	if (kind == ISOLATION_LANDLOCK)
		return EACCES;
	return test->user == 0 ? 0 : deeds[number].in_user_namespace;
}

static void no_deed_reaches_a_file(const struct isolation_case *test,
				   enum isolation_kind kind)
{
	char *before = case_guarded_text(test);

	assert_non_null(strstr(before, CASE_OLD));
	for (size_t i = 0; i < sizeof(deeds) / sizeof(*deeds); i++) {
		char *after;
		int result;

		if (kind == ISOLATION_LANDLOCK && deeds[i].is_missed)
			continue;
		result = case_do(test, kind, deeds[i].deed);
		if (result != expected(i, test, kind))
			fail_msg("%s, %s, user %u: %s", isolation_name(kind),
				 deeds[i].name, test->user, strerror(result));
		assert_int_equal(case_clean(test), 0);
		after = case_guarded_text(test);
		assert_string_equal(after, before);
		free(after);
	}
	free(before);
}

static void guarded_files_stay_what_they_were(void **state)
{
	(void)chmod(*state, 0755);
	for_each_way(*state, no_deed_reaches_a_file);
}

/* ------------------------------------------------ what goes on as before */

static int writes_shared(const struct isolation_case *test)
{
	int result = put_in(test->cache, "ckpt.pt", O_TRUNC);

	return result ? result : put_in(test->cache, "new", O_CREAT);
}

static int writes_scratch(const struct isolation_case *test)
{
	char from[SCRATCH_PATH_MAX], to[SCRATCH_PATH_MAX];
	int result = put_in(test->scratch, "tmp", O_CREAT);

	if (result)
		return result;
	return result_of(rename(scratch_path(from, test->scratch, "tmp"),
				scratch_path(to, test->scratch, "new")));
}

static int writes_devices(const struct isolation_case *test)
{
	int result = put(open("/dev/null", O_WRONLY | O_TRUNC | O_CLOEXEC));

	(void)test;
	return result ? result : put(open("/dev/zero", O_RDWR | O_CLOEXEC));
}

static int uses_shared_memory(const struct isolation_case *test)
{
	char name[64];
	int fd;

	(void)test;
	(void)snprintf(name, sizeof(name), "/autofit-test-%d", (int)getpid());
	fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0)
		return errno;
	if (ftruncate(fd, 4096) < 0)
		return errno;
	return result_of(shm_unlink(name));
}

static int writes_its_proc(const struct isolation_case *test)
{
	(void)test;
	return put(open("/proc/self/comm", O_WRONLY | O_CLOEXEC));
}

static int is_where_it_was(const struct isolation_case *test)
{
	char here[SCRATCH_PATH_MAX], link[SCRATCH_PATH_MAX] = "";

	if (!getcwd(here, sizeof(here)) || strcmp(here, test->work) != 0)
		return EDOM;
	if (readlink("/proc/self/cwd", link, sizeof(link) - 1) < 0)
		return errno;
	return strcmp(link, test->work) == 0 ? 0 : ERANGE;
}

static int is_who_it_was(const struct isolation_case *test)
{
	return getuid() == test->user && geteuid() == test->user &&
			       getgid() == (gid_t)test->user
		       ? 0
		       : EDOM;
}

/* Capabilities that come with the view must not go on to the command. */
static int gains_nothing_at_exec(const struct isolation_case *test)
{
	char command[2 * SCRATCH_PATH_MAX], path[SCRATCH_PATH_MAX];
	Elf64_auxv_t vector[64];
	char *status;
	bool has_none;
	int fd;

	(void)scratch_path(path, test->scratch, "status");
	(void)snprintf(command, sizeof(command),
		       "cat /proc/self/status >'%s'; "
		       "cat /proc/self/auxv >'%s.auxv'",
		       path, path);
	if (system(command) != 0)
		return EDOM;
	status = case_read(path);
	has_none = strstr(status, "CapEff:\t0000000000000000\n") != NULL;
	free(status);
	if (test->user != 0 && !has_none)
		return EPERM;
	(void)strncat(path, ".auxv", sizeof(path) - strlen(path) - 1);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	memset(vector, 0, sizeof(vector));
	if (read(fd, vector, sizeof(vector) - sizeof(*vector)) <= 0)
		return EIO;
	/* With AT_SECURE no library is preloaded: nothing would be seen. */
	for (size_t i = 0; vector[i].a_type; i++)
		if (vector[i].a_type == AT_SECURE)
			return vector[i].a_un.a_val ? EACCES : 0;
	return ENOENT;
}

static int keeps_its_deathsig(const struct isolation_case *test)
{
	int number = 0;

	(void)test;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)prctl(PR_GET_PDEATHSIG, &number, 0, 0, 0);
	return number == SIGKILL ? 0 : EDOM;
}

static const struct {
	const char *name;
	deed *deed;
	const char *folder; /* "new" appears in it for real; NULL */
} rights[] = {
	{ "writes shared", writes_shared, "cache" },
	{ "writes scratch", writes_scratch, "scratch, of:mine" },
	{ "writes devices", writes_devices, NULL },
	{ "uses shared memory", uses_shared_memory, NULL },
	{ "writes its proc", writes_its_proc, NULL },
	{ "is where it was", is_where_it_was, NULL },
	{ "is who it was", is_who_it_was, NULL },
	{ "gains nothing at exec", gains_nothing_at_exec, NULL },
	{ "keeps its deathsig", keeps_its_deathsig, NULL },
};

static void what_is_allowed_is_done(const struct isolation_case *test,
				    enum isolation_kind kind)
{
	for (size_t i = 0; i < sizeof(rights) / sizeof(*rights); i++) {
		char folder[SCRATCH_PATH_MAX], path[SCRATCH_PATH_MAX];
		int result = case_do(test, kind, rights[i].deed);

		if (result != 0)
			fail_msg("%s, %s, user %u: %s", isolation_name(kind),
				 rights[i].name, test->user, strerror(result));
		assert_int_equal(case_clean(test), 0);
		if (!rights[i].folder)
			continue;
		(void)scratch_path(folder, test->top, rights[i].folder);
		assert_int_equal(
			access(scratch_path(path, folder, "new"), F_OK), 0);
	}
}

static void what_is_shared_is_written_for_real(void **state)
{
	char path[SCRATCH_PATH_MAX];
	char *text;

	(void)chmod(*state, 0755);
	for_each_way(*state, what_is_allowed_is_done);
	(void)scratch_path(path, *state, "way1/cache/ckpt.pt");
	text = case_read(path);
	assert_string_equal(text, NEW);
	free(text);
}

/* A file that has another outside the view would be no way to a server. */
static int talks_to_servers(const struct isolation_case *test)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	static const char *const folders[] = { "cache", "out" };
	char path[SCRATCH_PATH_MAX];

	for (size_t i = 0; i < 2; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		(void)snprintf(address.sun_path, sizeof(address.sun_path),
			       "%s/%s/server", test->top, folders[i]);
		if (connect(fd, (struct sockaddr *)&address, sizeof(address)) <
		    0)
			return errno;
		(void)close(fd);
	}
	(void)scratch_path(path, test->cache, "pipe");
	return put(open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC));
}

static int listen_in(const struct isolation_case *test, const char *folder)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(address.sun_path, sizeof(address.sun_path),
		       "%s/%s/server", test->top, folder);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)),
			 0);
	assert_int_equal(chmod(address.sun_path, 0777), 0);
	assert_int_equal(listen(fd, 4), 0);
	return fd;
}

static void a_server_is_reached(const struct isolation_case *test,
				enum isolation_kind kind)
{
	int shared = listen_in(test, "cache");
	int guarded = listen_in(test, "out");
	char path[SCRATCH_PATH_MAX], got[32] = "";
	int result, pipe;

	(void)scratch_path(path, test->cache, "pipe");
	assert_int_equal(mkfifo(path, 0666), 0);
	assert_int_equal(chmod(path, 0666), 0);
	pipe = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	result = case_do(test, kind, talks_to_servers);
	if (result != 0)
		fail_msg("%s, user %u: %s", isolation_name(kind), test->user,
			 strerror(result));
	assert_int_equal(read(pipe, got, sizeof(got)), strlen(NEW));
	assert_int_equal(case_clean(test), 0);
	(void)close(shared);
	(void)close(guarded);
	(void)close(pipe);
}

static void running_servers_are_reached(void **state)
{
	(void)chmod(*state, 0755);
	for_each_way(*state, a_server_is_reached);
}

/* ------------------------------------------- folders of others, and groups */

static int makes_in_folders_of_a_group(const struct isolation_case *test)
{
	int result = put_in(test->work, "group/new", O_CREAT | O_EXCL);

	if (result == 0)
		result = put_in(test->work, "group/sub/new", O_CREAT | O_EXCL);
	if (result == 0)
		result = put_in(test->top, "open/new", O_CREAT | O_EXCL);
	return result;
}

static int unlinks_a_file_of_a_group(const struct isolation_case *test)
{
	(void)test;
	return result_of(unlink("group/ckpt.pt"));
}

static int writes_a_file_of_a_group(const struct isolation_case *test)
{
	return put_in(test->work, "group/ckpt.pt", O_TRUNC);
}

/* A folder that is not to be written is not to be in a view either. */
static int makes_where_it_may_not(const struct isolation_case *test)
{
	return put_in(test->top, "closed/new", O_CREAT | O_EXCL);
}

/* In a folder of another's, in which nothing can be made. */
static int makes_in_its_own(const struct isolation_case *test)
{
	return put_in(test->top, "led/mine/new", O_CREAT | O_EXCL);
}

static int writes_to_its_own(const struct isolation_case *test)
{
	return put_in(test->top, "noted/mine.log", O_APPEND);
}

/* A copy of each folder of others' that is somewhere would cost time. */
static int finds_no_more_than_it_needs(const struct isolation_case *test)
{
	char command[2 * SCRATCH_PATH_MAX];

	(void)snprintf(command, sizeof(command),
		       "cd '%s/view' && test -n \"$(find . -name noted "
		       "2>/dev/null)\" && "
		       "test -z \"$(find . -name closed 2>/dev/null)\"",
		       test->scratch);
	return system(command) == 0 ? 0 : EEXIST;
}

static void make_folder_of(const char *parent, const char *name, gid_t group,
			   mode_t mode)
{
	char folder[SCRATCH_PATH_MAX], file[SCRATCH_PATH_MAX];
	uid_t owner = group ? CASE_NOBODY : 0;

	(void)scratch_path(folder, parent, name);
	assert_int_equal(mkdir(folder, 0755), 0);
	case_file(folder, "ckpt.pt");
	assert_int_equal(chown(folder, owner, group), 0);
	assert_int_equal(chmod(folder, mode), 0);
	(void)scratch_path(file, folder, "ckpt.pt");
	assert_int_equal(chown(file, owner, group), 0);
}

/* A namespace knows one user and one group; files of a project have more. */
static void a_view_reaches_folders_of_others(void **state)
{
	static const struct {
		deed *deed;
		int result;
	} rows[] = {
		{ makes_in_folders_of_a_group, 0 },
		{ unlinks_a_file_of_a_group, 0 },
		/* No layer can take it: refused, not written for real. */
		{ writes_a_file_of_a_group, EOVERFLOW },
		{ makes_where_it_may_not, EACCES },
	};
	struct isolation_case made;
	char open[SCRATCH_PATH_MAX];
	char *before;

	if (geteuid() != 0)
		skip();
	(void)chmod(*state, 0755);
	case_make(&made, *state, CASE_NOBODY);
	assert_int_equal(chown(made.top, 0, 0), 0);
	make_folder_of(made.work, "group", 100, 02775);
	make_folder_of(made.work, "group/sub", 100, 02775);
	make_folder_of(made.top, "open", 0, 01777);
	make_folder_of(made.top, "closed", 0, 0755);
	strlist_add(&made.guarded, scratch_path(open, made.top, "open"));
	before = case_guarded_text(&made);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *after;

		assert_int_equal(case_do(&made, ISOLATION_VIEW, rows[i].deed),
				 rows[i].result);
		assert_int_equal(case_clean(&made), 0);
		after = case_guarded_text(&made);
		assert_string_equal(after, before);
		free(after);
	}
	free(before);
	case_release(&made);
}

static void give(const char *path)
{
	assert_int_equal(chown(path, PLAIN_USER, PLAIN_USER), 0);
}

/* Folders of root that are not to be written, with what is the user's. */
static void make_own_in_others(const struct isolation_case *test)
{
	char path[SCRATCH_PATH_MAX];

	make_folder_of(test->top, "closed", 0, 0755);
	make_folder_of(test->top, "led", 0, 0755);
	make_folder_of(test->top, "led/mine", 0, 0755);
	give(scratch_path(path, test->top, "led/mine"));
	make_folder_of(test->top, "noted", 0, 0755);
	case_file(scratch_path(path, test->top, "noted"), "mine.log");
	give(scratch_path(path, test->top, "noted/mine.log"));
	give(test->work);
	give(test->scratch);
}

/* Not of nobody, who looks like all that have no name in the namespace. */
static void only_what_is_needed_is_in_a_layer(void **state)
{
	static deed *const does[] = {
		makes_in_its_own,
		writes_to_its_own,
		finds_no_more_than_it_needs,
	};
	struct isolation_case made;

	if (geteuid() != 0)
		skip();
	(void)chmod(*state, 0755);
	case_make(&made, *state, PLAIN_USER);
	make_own_in_others(&made);
	for (size_t i = 0; i < sizeof(does) / sizeof(*does); i++) {
		assert_int_equal(case_do(&made, ISOLATION_VIEW, does[i]), 0);
		assert_int_equal(case_clean(&made), 0);
	}
	case_release(&made);
}

/* --------------------------- root in a container, that may mount nothing */

static void drop_privilege(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	(void)prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0);
	if (syscall(SYS_capget, &header, data) < 0)
		_exit(CASE_NO_ENTRY);
	data[0].effective &= ~(1U << CAP_SYS_ADMIN);
	data[0].permitted &= ~(1U << CAP_SYS_ADMIN);
	if (syscall(SYS_capset, &header, data) < 0)
		_exit(CASE_NO_ENTRY);
}

/* By exec, where root gets all capabilities that it may have. */
static int takes_off_the_view(const struct isolation_case *test)
{
	char command[4 * SCRATCH_PATH_MAX];

	(void)snprintf(command, sizeof(command),
		       "exec 2>/dev/null; cd /; "
		       "echo new >'%s/ckpt.pt' || exit 2; "
		       "for mount in $(awk '$3 == \"overlay\" { print $2 }' "
		       "/proc/self/mounts); do umount -l $mount; done; "
		       "mount -o remount,bind,rw /; "
		       "grep -q new '%s/ckpt.pt' || exit 3; "
		       "echo newer >'%s/ckpt.pt' || exit 4",
		       test->work, test->work, test->work);
	return WEXITSTATUS(system(command));
}

static void a_root_without_privilege_has_none_in_a_view(void **state)
{
	struct isolation_case made;
	struct isolation_spec spec;
	char *before, *after;
	int status = -1;
	pid_t pid;

	if (geteuid() != 0)
		skip();
	case_make(&made, *state, 0);
	spec = case_spec(&made, ISOLATION_VIEW);
	before = case_guarded_text(&made);
	pid = fork();
	if (pid == 0) {
		drop_privilege();
		_exit(isolation_enter(&spec, NULL) < 0
			      ? CASE_NO_ENTRY
			      : takes_off_the_view(&made));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	after = case_guarded_text(&made);
	assert_string_equal(after, before);
	free(after);
	free(before);
	case_release(&made);
}

/* ---------------------------------------- what another layer leaves behind */

/* Everything an overlay knows: whiteouts, opaque folders, copies, locks. */
static int leaves_a_mess(const struct isolation_case *test)
{
	(void)test;
	return system("rm -r dir ckpt.pt && mkdir dir && chmod 0 dir && "
		      "echo x >>near && mkdir -p a/b && echo x >a/b/c && "
		      "chmod 0500 a/b && chmod 0 hard && ln -s / root")
		       ? EDOM
		       : 0;
}

static void layers_are_removed_by_their_user(const struct isolation_case *test,
					     enum isolation_kind kind)
{
	char path[SCRATCH_PATH_MAX];

	if (kind != ISOLATION_VIEW)
		return;
	(void)unlink(scratch_path(path, test->work, "near"));
	case_file(test->work, "near");
	if (test->user && geteuid() == 0)
		assert_int_equal(chown(path, test->user, (gid_t)test->user), 0);
	assert_int_equal(case_do(test, kind, leaves_a_mess), 0);
	(void)scratch_path(path, test->scratch, "view");
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(case_clean(test), 0);
}

static void nothing_of_a_layer_is_left(void **state)
{
	(void)chmod(*state, 0755);
	for_each_way(*state, layers_are_removed_by_their_user);
}

/* ------------------------------------------------------- its own mistakes */

static void a_view_that_cannot_be_says_why(void **state)
{
	struct isolation_case made;
	struct isolation_spec spec;
	struct error err = ERROR_INIT;
	char text[512] = "";
	int report[2];
	pid_t pid;

	(void)chmod(*state, 0755);
	case_make(&made, *state, geteuid());
	spec = case_spec(&made, ISOLATION_VIEW);
	spec.working = "/no/such/folder";
	assert_int_equal(pipe(report), 0);
	pid = fork();
	if (pid == 0) {
		int result = isolation_enter(&spec, &err);

		(void)!write(report[1], err.message, sizeof(err.message));
		_exit(-result);
	}
	(void)close(report[1]);
	assert_true(read(report[0], text, sizeof(text)) > 0);
	(void)close(report[0]);
	assert_string_equal(text, "cannot enter /no/such/folder: "
				  "No such file or directory");
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	case_release(&made);
}

static void kinds_have_names(void **unused)
{
	static const char *const names[] = { "view", "landlock", "compare" };
	enum isolation_kind kind;

	(void)unused;
	for (int i = 0; i < ISOLATION_KINDS; i++) {
		assert_string_equal(isolation_name((enum isolation_kind)i),
				    names[i]);
		assert_int_equal(isolation_parse(names[i], &kind), 0);
		assert_int_equal(kind, i);
		assert_true(strlen(isolation_words(kind)) > 10);
	}
	assert_int_equal(isolation_parse("views", &kind), -EINVAL);
	assert_int_equal(isolation_parse("", &kind), -EINVAL);
	assert_int_equal(isolation_parse(NULL, &kind), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_have_names),
		cmocka_unit_test_setup_teardown(
			guarded_files_stay_what_they_were, scratch_make,
			scratch_remove),
		cmocka_unit_test_setup_teardown(
			what_is_shared_is_written_for_real, scratch_make,
			scratch_remove),
		cmocka_unit_test_setup_teardown(running_servers_are_reached,
						scratch_make, scratch_remove),
		cmocka_unit_test_setup_teardown(
			a_view_reaches_folders_of_others, scratch_make,
			scratch_remove),
		cmocka_unit_test_setup_teardown(
			only_what_is_needed_is_in_a_layer, scratch_make,
			scratch_remove),
		cmocka_unit_test_setup_teardown(
			a_root_without_privilege_has_none_in_a_view,
			scratch_make, scratch_remove),
		cmocka_unit_test_setup_teardown(nothing_of_a_layer_is_left,
						scratch_make, scratch_remove),
		cmocka_unit_test_setup_teardown(a_view_that_cannot_be_says_why,
						scratch_make, scratch_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
