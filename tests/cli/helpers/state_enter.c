/* Takes on the state that its options say, then becomes the rest. */
/* SPDX-License-Identifier: MIT */
/*
 * state_enter [NAME=VALUE]... -- COMMAND...
 *
 *     close=N          close a descriptor
 *     open=N           open a file for reading there, at byte 3
 *     keep=N           the same for appending
 *     pipe=N           a pipe that is read to its end by nobody
 *     nonblock=N       set O_NONBLOCK there
 *     ignore=N, default=N, block=N, pend=N      a signal, by its number
 *     limit=R:SOFT     a resource limit, by its number
 *     umask=OCTAL, folder=PATH, nice=N, subreaper=1, deathsig=N, slack=NS
 *     session=1        a session of its own (setsid)
 *     group=1          a process group of its own
 *     cpu=N            run on this processor only
 *     alarm=SECONDS
 *     child=SECONDS    a child that lives so long: STATE_CHILD
 *     ended=CODE       a child that has ended and is not waited for
 *
 * It puts its pid and its parent's into STATE_PID and STATE_PPID and removes
 * "_", which every shell sets to something else.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_USAGE 99
#define DISTANT_FD 200

/* Each takes the text behind the '='; 0, or -1 with errno. */

static int number(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

static int do_close(const char *text)
{
	return close(number(text));
}

static int move_to(int from, int to)
{
	if (from < 0 || (from != to && dup2(from, to) < 0))
		return -1;
	return from == to ? 0 : close(from);
}

static int do_open(const char *text)
{
	int fd = open("/proc/self/exe", O_RDONLY);

	if (fd < 0 || lseek(fd, 3, SEEK_SET) < 0)
		return -1;
	return move_to(fd, number(text));
}

static int do_keep(const char *text)
{
	return move_to(open("kept", O_WRONLY | O_CREAT | O_APPEND, 0600),
		       number(text));
}

/* The reading end stays open, out of the way, so that nothing breaks. */
static int do_pipe(const char *text)
{
	int ends[2];

	if (pipe(ends) < 0 || fcntl(ends[0], F_DUPFD, DISTANT_FD) < 0)
		return -1;
	(void)close(ends[0]);
	return move_to(ends[1], number(text));
}

static int do_nonblock(const char *text)
{
	int flags = fcntl(number(text), F_GETFL);

	return flags < 0 ? -1
			 : fcntl(number(text), F_SETFL, flags | O_NONBLOCK);
}

static int do_ignore(const char *text)
{
	return signal(number(text), SIG_IGN) == SIG_ERR ? -1 : 0;
}

static int do_default(const char *text)
{
	return signal(number(text), SIG_DFL) == SIG_ERR ? -1 : 0;
}

static int do_block(const char *text)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, number(text));
	return sigprocmask(SIG_BLOCK, &set, NULL);
}

static int do_pend(const char *text)
{
	return do_block(text) < 0 ? -1 : raise(number(text));
}

static int do_limit(const char *text)
{
	const char *colon = strchr(text, ':');
	struct rlimit limit;
	__rlimit_resource_t resource = (__rlimit_resource_t)number(text);

	if (!colon || getrlimit(resource, &limit) < 0)
		return -1;
	limit.rlim_cur = (rlim_t)strtoull(colon + 1, NULL, 10);
	return setrlimit(resource, &limit);
}

static int do_umask(const char *text)
{
	(void)umask((mode_t)strtoul(text, NULL, 8));
	return 0;
}

static int do_nice(const char *text)
{
	return setpriority(PRIO_PROCESS, 0, number(text));
}

static int do_subreaper(const char *text)
{
	return prctl(PR_SET_CHILD_SUBREAPER, number(text), 0, 0, 0);
}

static int do_deathsig(const char *text)
{
	return prctl(PR_SET_PDEATHSIG, number(text), 0, 0, 0);
}

static int do_slack(const char *text)
{
	return prctl(PR_SET_TIMERSLACK, number(text), 0, 0, 0);
}

/* A group leader cannot begin a session: its child can. */
static int do_session(const char *text)
{
	(void)text;
	if (getpgrp() == getpid()) {
		int status;
		pid_t pid = fork();

		if (pid < 0)
			return -1;
		if (pid > 0) {
			(void)waitpid(pid, &status, 0);
			_exit(WIFEXITED(status) ? WEXITSTATUS(status)
						: EXIT_USAGE);
		}
	}
	return setsid() < 0 ? -1 : 0;
}

static int do_group(const char *text)
{
	(void)text;
	return setpgid(0, 0);
}

static int do_cpu(const char *text)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)number(text), &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

static int do_alarm(const char *text)
{
	(void)alarm((unsigned)number(text));
	return 0;
}

static int do_child(const char *text)
{
	char value[32];
	pid_t pid = fork();

	if (pid == 0) {
		(void)signal(SIGTERM, SIG_DFL);
		/* Whoever reads this test's output must not wait for it. */
		for (int fd = 0; fd < 3; fd++)
			(void)close(fd);
		(void)sleep((unsigned)number(text));
		_exit(0);
	}
	(void)snprintf(value, sizeof(value), "%d", (int)pid);
	return pid < 0 ? -1 : setenv("STATE_CHILD", value, 1);
}

static int do_ended(const char *text)
{
	siginfo_t info;
	pid_t pid = fork();

	if (pid == 0)
		_exit(number(text));
	return pid < 0 ? -1
		       : waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
}

static const struct {
	const char *name;
	int (*apply)(const char *text);
} options[] = {
	{ "close", do_close },       { "open", do_open },
	{ "keep", do_keep },         { "pipe", do_pipe },
	{ "nonblock", do_nonblock }, { "ignore", do_ignore },
	{ "default", do_default },   { "block", do_block },
	{ "pend", do_pend },         { "limit", do_limit },
	{ "umask", do_umask },       { "folder", chdir },
	{ "nice", do_nice },         { "subreaper", do_subreaper },
	{ "deathsig", do_deathsig }, { "slack", do_slack },
	{ "session", do_session },   { "group", do_group },
	{ "cpu", do_cpu },           { "alarm", do_alarm },
	{ "child", do_child },       { "ended", do_ended },
};

static int apply(const char *argument)
{
	const char *equals = strchr(argument, '=');

	for (size_t i = 0; equals && i < sizeof(options) / sizeof(*options);
	     i++) {
		size_t length = strlen(options[i].name);

		if ((size_t)(equals - argument) == length &&
		    strncmp(argument, options[i].name, length) == 0)
			return options[i].apply(equals + 1);
	}
	errno = EINVAL;
	return -1;
}

static void tell_pid(const char *name, pid_t pid)
{
	char value[32];

	(void)snprintf(value, sizeof(value), "%d", (int)pid);
	(void)setenv(name, value, 1);
}

int main(int argc, char **argv)
{
	int i = 1;

	for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (apply(argv[i]) == 0)
			continue;
		(void)fprintf(stderr, "state_enter: %s: %s\n", argv[i],
			      strerror(errno));
		return EXIT_USAGE;
	}
	if (i + 1 >= argc)
		return EXIT_USAGE;
	tell_pid("STATE_PID", getpid());
	tell_pid("STATE_PPID", getppid());
	(void)unsetenv("_");
	(void)execvp(argv[i + 1], argv + i + 1);
	return EXIT_USAGE;
}
