/* A tree of files, and a process that is isolated from it. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_UNIT_ISOLATION_CASE_H
#define AUTOFIT_TESTS_UNIT_ISOLATION_CASE_H

#include "probes/isolation/isolation.h"

#include "base/strbuf.h"
#include "configs/files/paths.h"
#include "scratch.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define CASE_NOBODY 65534
#define CASE_NO_ENTRY 200 /* the exit status when it was not isolated */
#define CASE_OLD "old bytes\n"

/* Folders of a case, all below one of the test's own. */
struct isolation_case {
	char top[SCRATCH_PATH_MAX];
	char work[SCRATCH_PATH_MAX];    /* guarded, and worked in */
	char out[SCRATCH_PATH_MAX];     /* guarded, beside it */
	char cache[SCRATCH_PATH_MAX];   /* shared */
	char mixed[SCRATCH_PATH_MAX];   /* shared, with a guarded one in it */
	char kept[SCRATCH_PATH_MAX];    /* that one */
	char scratch[SCRATCH_PATH_MAX]; /* of the probe */
	struct strlist shared, guarded;
	uid_t user;
};

typedef int deed(const struct isolation_case *test);

static inline void case_file(const char *folder, const char *name)
{
	char path[SCRATCH_PATH_MAX];

	(void)scratch_write(scratch_path(path, folder, name), CASE_OLD,
			    strlen(CASE_OLD));
}

static inline void case_link(const char *folder, const char *name,
			     const char *target,
			     int (*make)(const char *, const char *))
{
	char path[SCRATCH_PATH_MAX];

	(void)make(target, scratch_path(path, folder, name));
}

static inline int case_own(const char *path, const struct stat *info, int kind,
			   struct FTW *where)
{
	(void)info;
	(void)kind;
	(void)where;
	return lchown(path, CASE_NOBODY, CASE_NOBODY);
}

/* A checkpoint in each folder, and other ways to come to it. */
static inline void case_make(struct isolation_case *test, const char *top,
			     uid_t user)
{
	char path[SCRATCH_PATH_MAX];

	memset(test, 0, sizeof(*test));
	test->user = user;
	(void)snprintf(test->top, sizeof(test->top), "%s", top);
	(void)scratch_path(test->work, top, "work, of:mine");
	(void)scratch_path(test->out, top, "out");
	(void)scratch_path(test->cache, top, "cache");
	(void)scratch_path(test->mixed, top, "mixed");
	(void)scratch_path(test->kept, top, "mixed/kept");
	(void)scratch_path(test->scratch, top, "scratch, of:mine");
	for (char *folder = test->work; folder <= test->scratch;
	     folder += SCRATCH_PATH_MAX) {
		(void)mkdir(folder, 0755);
		case_file(folder, "ckpt.pt");
	}
	(void)mkdir(scratch_path(path, test->work, "dir"), 0755);
	case_file(path, "inner");
	case_file(test->work, "hard");
	case_link(test->work, "near", "ckpt.pt", symlink);
	case_link(test->work, "far", "../out/ckpt.pt", symlink);
	case_link(test->work, "hard2", scratch_path(path, test->work, "hard"),
		  link);
	strlist_add(&test->shared, test->cache);
	strlist_add(&test->shared, test->mixed);
	strlist_add(&test->shared, "/no/such/cache");
	strlist_add(&test->guarded, test->work);
	strlist_add(&test->guarded, test->out);
	strlist_add(&test->guarded, test->kept);
	(void)chmod(top, 0755);
	if (user == CASE_NOBODY && geteuid() == 0)
		(void)nftw(top, case_own, 32, FTW_PHYS);
}

static inline struct isolation_spec case_spec(const struct isolation_case *test,
					      enum isolation_kind kind)
{
	return (struct isolation_spec){
		.kind = kind,
		.working = test->work,
		.scratch = test->scratch,
		.shared = &test->shared,
		.guarded = &test->guarded,
	};
}

static inline void case_release(struct isolation_case *test)
{
	strlist_release(&test->shared);
	strlist_release(&test->guarded);
}

static inline void case_become(uid_t user)
{
	if (user == geteuid())
		return;
	if (setgroups(0, NULL) < 0 || setgid((gid_t)user) < 0 ||
	    setuid(user) < 0)
		_exit(CASE_NO_ENTRY);
	/* As after an exec: otherwise its own /proc is not the user's. */
	(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

/* As exec does it for all but root: the deeds are the command's. */
static inline void case_drop_capabilities(uid_t user)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3];

	memset(none, 0, sizeof(none));
	if (user != 0 && syscall(SYS_capset, &header, none) < 0)
		_exit(CASE_NO_ENTRY);
}

/* Does it in a process of its own: the deed's result, or CASE_NO_ENTRY. */
static inline int case_do(const struct isolation_case *test,
			  enum isolation_kind kind, deed *does)
{
	const struct isolation_spec spec = case_spec(test, kind);
	struct error err = ERROR_INIT;
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		case_become(test->user);
		if (isolation_enter(&spec, &err) < 0) {
			(void)fprintf(stderr, "not isolated: %s\n",
				      err.message);
			_exit(CASE_NO_ENTRY);
		}
		case_drop_capabilities(test->user);
		_exit(does(test));
	}
	(void)waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline int case_remove_layers(const struct isolation_case *test)
{
	char path[SCRATCH_PATH_MAX];

	paths_remove_tree(scratch_path(path, test->scratch, "view"));
	return access(path, F_OK) < 0 ? 0 : EEXIST;
}

/* By the same user, without any privilege: 0 when nothing is left. */
static inline int case_clean(const struct isolation_case *test)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		case_become(test->user);
		_exit(case_remove_layers(test));
	}
	(void)waitpid(pid, &status, 0);
	return status;
}

/* ------------------------------------------------ what is in it, as text */

static inline void case_describe_file(struct strbuf *text, const char *path)
{
	char bytes[256];
	ssize_t got = readlink(path, bytes, sizeof(bytes));
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (got < 0 && fd >= 0)
		got = read(fd, bytes, sizeof(bytes));
	if (got > 0)
		strbuf_add(text, bytes, (size_t)got);
	if (fd >= 0)
		(void)close(fd);
}

/* By path, so that two descriptions can be compared. */
static inline void case_describe(struct strbuf *text, const char *folder)
{
	struct dirent **names = NULL;
	int count = scandir(folder, &names, NULL, alphasort);

	for (int i = 0; i < count; i++) {
		char path[SCRATCH_PATH_MAX];
		struct stat info;

		(void)scratch_path(path, folder, names[i]->d_name);
		if (strcmp(names[i]->d_name, "..") == 0 ||
		    lstat(path, &info) < 0) {
			free(names[i]);
			continue;
		}
		strbuf_addf(
			text,
			"%s %o %u %u ino %lu links %lu "
			"%lld.%09ld %lld.%09ld ",
			path, info.st_mode, info.st_uid, info.st_gid,
			(unsigned long)info.st_ino,
			(unsigned long)info.st_nlink,
			(long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec,
			(long long)info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
		if (S_ISDIR(info.st_mode) && strcmp(names[i]->d_name, ".") != 0)
			case_describe(text, path);
		else if (!S_ISDIR(info.st_mode))
			case_describe_file(text, path);
		strbuf_adds(text, "\n");
		free(names[i]);
	}
	free(names);
}

/* Everything that may never change, in one text; the caller frees it. */
static inline char *case_guarded_text(const struct isolation_case *test)
{
	struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < test->guarded.count; i++)
		case_describe(&text, test->guarded.items[i]);
	return strbuf_detach(&text);
}

static inline char *case_read(const char *path)
{
	struct strbuf text = STRBUF_INIT;
	char bytes[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	while (fd >= 0 && (got = read(fd, bytes, sizeof(bytes))) > 0)
		strbuf_add(&text, bytes, (size_t)got);
	if (fd >= 0)
		(void)close(fd);
	strbuf_adds(&text, "");
	return strbuf_detach(&text);
}

#endif
