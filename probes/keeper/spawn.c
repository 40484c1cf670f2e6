/* fork and exec of a probe's command, told apart from its own failures. */
/* SPDX-License-Identifier: MIT */
#include "probes/keeper/spawn.h"

#include "probes/channel/channel.h"

#include "probes/process/limit_mark.h"
#include "probes/process/process_state.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static bool spawn_is_kept(int fd, const int *keep, size_t count)
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
		if (fd != dirfd(folder) && !spawn_is_kept((int)fd, keep, count))
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

static void set_descriptors(const struct keeper_spec *spec,
			    const struct spawn_pipes *pipes)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int keep[] = { pipes->report[1], -1 };

	(void)dup2(null, 0);
	if (null > 2)
		(void)close(null);
	(void)dup2(pipes->out, 1);
	(void)dup2(pipes->err, 2);
	/* Not there when so many are not allowed: there is the path as well. */
	if (spec->channel_fd && dup2(*spec->channel_fd, CHANNEL_COMMAND_FD) > 0)
		keep[1] = CHANNEL_COMMAND_FD;
	if (!pipes->copy)
		spawn_close_except(keep, sizeof(keep) / sizeof(*keep));
}

/* As exec would have left it: nothing of the keeper's is seen. */
static void become_copy(const struct spawn_pipes *pipes)
	__attribute__((noreturn));

static void become_copy(const struct spawn_pipes *pipes)
{
	struct spawn_copy *copy = pipes->copy;

	assert(copy->go_on);
	for (size_t i = 0; i < copy->foreign_count; i++)
		if (copy->foreign[i] >= 0)
			(void)close(copy->foreign[i]);
	(void)close(pipes->report[0]);
	(void)close(pipes->report[1]);
	(void)prctl(PR_SET_NAME, copy->name, 0, 0, 0);
	(void)sigprocmask(SIG_SETMASK, &copy->mask, NULL);
	copy->go_on(copy);
}

struct spawn_failure {
	int step; /* enum spawn_step */
	int code; /* errno */
};

static void spawn_give_up(int report, enum spawn_step step, int code)
	__attribute__((noreturn));

static void spawn_give_up(int report, enum spawn_step step, int code)
{
	const struct spawn_failure failure = { (int)step, code };

	(void)!write(report, &failure, sizeof(failure));
	_exit(127);
}

/* A change of credentials takes the signal away: it is asked for again. */
static void die_with(pid_t keeper)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != keeper)
		_exit(127);
}

/*
 * A group apart from the keeper's, for programs that signal all of theirs. As
 * in a script the command does not lead it, or it could begin no session: a
 * child that is gone at once does.
 */
static void join_group_apart(void)
{
	pid_t leader = fork();

	if (leader == 0)
		_exit(0);
	if (leader < 0 || setpgid(leader, leader) < 0 || setpgid(0, leader) < 0)
		(void)setpgid(0, 0);
	while (leader > 0 && waitpid(leader, NULL, 0) < 0 && errno == EINTR)
		continue;
}

static void isolate(const struct isolation_spec *spec,
		    const struct spawn_pipes *pipes)
{
	struct error err = ERROR_INIT;
	int result = isolation_enter(spec, &err);

	if (result == 0)
		return;
	(void)dprintf(pipes->err, "autofit: %s\n", err.message);
	spawn_give_up(pipes->report[1], SPAWN_OWN, -result);
}

static void child(const struct keeper_spec *spec,
		  const struct spawn_pipes *pipes, pid_t keeper)
	__attribute__((noreturn));

static void child(const struct keeper_spec *spec,
		  const struct spawn_pipes *pipes, pid_t keeper)
{
	die_with(keeper);
	join_group_apart();
	offer_to_oom_killer();
	if (spec->cgroup)
		(void)host_cgroup_enter(spec->cgroup); /* best effort */
	if (spec->isolation) {
		isolate(spec->isolation, pipes);
		die_with(keeper);
	}
	/* After that, so that /dev/null is the one of the view. */
	set_descriptors(spec, pipes);
	if (spec->mark)
		limit_mark_set(spec->mark);
	if (pipes->copy)
		become_copy(pipes);
	process_state_restore(spec->state);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
	environ = spec->environment->items;
	(void)execvp(spec->argv->items[0], spec->argv->items);
	spawn_give_up(pipes->report[1], SPAWN_EXEC, errno);
}

/* The pipe closes by itself when exec succeeds: then nothing is read. */
static bool read_failure(int report, struct spawn_failure *failure)
{
	ssize_t got;

	do
		got = read(report, failure, sizeof(*failure));
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)sizeof(*failure);
}

int spawn_command(pid_t *pid, const struct keeper_spec *spec,
		  const struct spawn_pipes *pipes, enum spawn_step *failed)
{
	pid_t keeper = getpid();
	struct spawn_failure failure = { SPAWN_EXEC, 0 };
	int result = 0;

	assert(spec->argv->count >= 1 && pipes->report[1] >= 0);
	*pid = fork();
	if (*pid == 0)
		child(spec, pipes, keeper);
	if (*pid < 0) {
		result = -errno;
		failure.step = SPAWN_OWN;
	}
	(void)close(pipes->report[1]);
	if (result == 0 && read_failure(pipes->report[0], &failure)) {
		(void)waitpid(*pid, NULL, 0);
		result = -failure.code;
	}
	(void)close(pipes->report[0]);
	*failed = (enum spawn_step)failure.step;
	return result;
}
