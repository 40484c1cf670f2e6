/* fork and exec of a probe's command, told apart from its own failures. */
/* SPDX-License-Identifier: MIT */
#include "probes/spawn.h"

#include "probes/process_state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_kept(int fd, const int *keep, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (keep[i] == fd)
			return true;
	return false;
}

/*
 * Runs after fork in processes with one thread, where the C library's
 * allocator may be used; close_range alone would need a newer glibc.
 */
void spawn_close_except(const int *keep, size_t count)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;

	if (!folder)
		return;
	while ((entry = readdir(folder))) {
		char *end;
		long fd = strtol(entry->d_name, &end, 10);

		if (end == entry->d_name || *end || fd <= 2 || fd > INT_MAX)
			continue;
		if (fd != dirfd(folder) && !is_kept((int)fd, keep, count))
			(void)close((int)fd);
	}
	(void)closedir(folder);
}

/* The kernel's killer is to take the probe, never a neighbour. */
static void offer_to_oom_killer(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)!write(fd, "1000", 4);
	(void)close(fd);
}

static void set_descriptors(int out, int err_fd, int report)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)dup2(null, 0);
	(void)dup2(out, 1);
	(void)dup2(err_fd, 2);
	spawn_close_except(&report, 1);
}

static void child(const struct keeper_spec *spec, int out, int err_fd,
		  int report, pid_t keeper) __attribute__((noreturn));

static void child(const struct keeper_spec *spec, int out, int err_fd,
		  int report, pid_t keeper)
{
	int code;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != keeper)
		_exit(127);
	(void)setpgid(0, 0);
	offer_to_oom_killer();
	if (spec->cgroup)
		(void)host_cgroup_enter(spec->cgroup); /* best effort */
	set_descriptors(out, err_fd, report);
	process_state_restore(spec->state);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
	environ = spec->environment->items;
	(void)execvp(spec->argv->items[0], spec->argv->items);
	code = errno;
	(void)!write(report, &code, sizeof(code));
	_exit(127);
}

int spawn_command(pid_t *pid, const struct keeper_spec *spec, int out,
		  int err_fd, const int report[2])
{
	pid_t keeper = getpid();
	int code = 0;
	ssize_t got;

	*pid = fork();
	if (*pid < 0) {
		code = errno;
		(void)close(report[0]);
		(void)close(report[1]);
		return -code;
	}
	if (*pid == 0)
		child(spec, out, err_fd, report[1], keeper);
	(void)close(report[1]);
	/* The pipe closes by itself when exec succeeds: nothing is read. */
	do
		got = read(report[0], &code, sizeof(code));
	while (got < 0 && errno == EINTR);
	(void)close(report[0]);
	if (got != (ssize_t)sizeof(code))
		return 0;
	(void)waitpid(*pid, NULL, 0);
	return -code;
}
