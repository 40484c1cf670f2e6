/* Prints all of the state that a program inherits; in a probe, trains. */
/* SPDX-License-Identifier: MIT */
/*
 * print_state --state FILE [--batch-size N] [--grad-accum N] [--steps N]
 *
 * FILE ("-": stdout) receives the state, so that closed descriptors do not
 * matter. What differs from run to run is printed by what it is in relation
 * to: pids, pipes. Then the program exits with STATE_EXIT, or dies by signal
 * STATE_SIGNAL. The sizes are no part of the state; they go to stdout.
 *
 * With AUTOFIT_PROBE set (and STATE_ALWAYS not) it is a small trainer: 2 MiB
 * per sample, one line per step.
 *
 * state_enter.c says who sets STATE_PID, STATE_PPID and STATE_CHILD.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define FDS 256
#define SIGNALS 65
#define SAMPLE_BYTES ((size_t)2 << 20)
#define STEP_NS 5000000L
#define CHILDREN_MAX 64
#define STEPS_DEFAULT 20

struct arguments {
	long micro, accum, steps;
	const char *state;
};

static long number_of(const char *text, long otherwise)
{
	return text ? strtol(text, NULL, 10) : otherwise;
}

static void read_arguments(struct arguments *arguments, char **argv)
{
	for (int i = 1; argv[i] && argv[i + 1]; i += 2) {
		if (strcmp(argv[i], "--batch-size") == 0)
			arguments->micro = strtol(argv[i + 1], NULL, 10);
		else if (strcmp(argv[i], "--grad-accum") == 0)
			arguments->accum = strtol(argv[i + 1], NULL, 10);
		else if (strcmp(argv[i], "--steps") == 0)
			arguments->steps = strtol(argv[i + 1], NULL, 10);
		else if (strcmp(argv[i], "--state") == 0)
			arguments->state = argv[i + 1];
	}
}

static int train(const struct arguments *arguments)
{
	const struct timespec pause = { 0, STEP_NS };
	size_t bytes = (size_t)arguments->micro * SAMPLE_BYTES;
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		(void)fprintf(stderr, "MemoryError\n");
		return 1;
	}
	memset(memory, 1, bytes);
	for (long step = 1; step <= arguments->steps; step++) {
		(void)nanosleep(&pause, NULL);
		(void)printf("step %ld/%ld loss %.3f\n", step, arguments->steps,
			     1.0 / (double)step);
		(void)fflush(stdout);
	}
	return 0;
}

/* ----------------------------------------------------------- descriptors */

static void print_target(FILE *file, int fd)
{
	char path[64], target[PATH_MAX];
	ssize_t length;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	length = readlink(path, target, sizeof(target) - 1);
	target[length < 0 ? 0 : length] = '\0';
	/* pipe:[12345]: the number is another one in every run. */
	if (strstr(target, ":["))
		*strchr(target, ':') = '\0';
	(void)fprintf(file, " %s", target);
}

static void print_descriptors(FILE *file, const bool open_before[FDS])
{
	for (int fd = 0; fd < FDS; fd++) {
		struct stat info;

		if (!open_before[fd])
			continue;
		(void)fprintf(file, "fd %d flags %d status %o", fd,
			      fcntl(fd, F_GETFD), fcntl(fd, F_GETFL));
		print_target(file, fd);
		/* The report goes to 2 and moves its end; nothing else may. */
		if (fd != 2 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
			(void)fprintf(file, " at %ld",
				      (long)lseek(fd, 0, SEEK_CUR));
		(void)fprintf(file, "\n");
	}
}

/* --------------------------------------------------------------- signals */

static const char *action_name(const struct sigaction *action)
{
	if (action->sa_handler == SIG_IGN)
		return "ignored";
	return action->sa_handler == SIG_DFL ? "default" : "handled";
}

static void print_signals(FILE *file)
{
	sigset_t mask, pending;

	(void)sigprocmask(SIG_SETMASK, NULL, &mask);
	(void)sigpending(&pending);
	for (int number = 1; number < SIGNALS; number++) {
		struct sigaction action;

		if (sigaction(number, NULL, &action) < 0)
			continue;
		(void)fprintf(file, "signal %d %s flags %x%s%s\n", number,
			      action_name(&action), (unsigned)action.sa_flags,
			      sigismember(&mask, number) ? " blocked" : "",
			      sigismember(&pending, number) ? " pending" : "");
	}
}

/* -------------------------------------------------- limits and attributes */

static void print_limits(FILE *file)
{
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		struct rlimit limit;

		if (getrlimit((__rlimit_resource_t)i, &limit) == 0)
			(void)fprintf(file, "limit %d %llu %llu\n", i,
				      (unsigned long long)limit.rlim_cur,
				      (unsigned long long)limit.rlim_max);
	}
}

static int get_by_prctl(int option)
{
	int value = -1;

	(void)prctl(option, &value, 0, 0, 0);
	return value;
}

static void print_timers(FILE *file)
{
	for (int which = 0; which <= ITIMER_PROF; which++) {
		struct itimerval timer;

		if (getitimer((__itimer_which_t)which, &timer) == 0)
			(void)fprintf(file, "timer %d %s\n", which,
				      timer.it_value.tv_sec ||
						      timer.it_value.tv_usec
					      ? "running"
					      : "off");
	}
}

static void print_affinity(FILE *file)
{
	cpu_set_t set;

	(void)fprintf(file, "affinity");
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (CPU_ISSET(cpu, &set))
				(void)fprintf(file, " %zu", cpu);
	(void)fprintf(file, "\n");
}

static void print_attributes(FILE *file)
{
	(void)fprintf(file, "subreaper %d\n",
		      get_by_prctl(PR_GET_CHILD_SUBREAPER));
	(void)fprintf(file, "pdeathsig %d\n", get_by_prctl(PR_GET_PDEATHSIG));
	(void)fprintf(file, "timerslack %d\n", prctl(PR_GET_TIMERSLACK));
	(void)fprintf(file, "no_new_privs %d\n",
		      prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
	(void)fprintf(file, "thp_disable %d\n",
		      prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0));
	(void)fprintf(file, "dumpable %d\n", prctl(PR_GET_DUMPABLE));
	(void)fprintf(file, "nice %d\n", getpriority(PRIO_PROCESS, 0));
	(void)fprintf(file, "scheduler %d\n", sched_getscheduler(0));
	(void)fprintf(file, "ioprio %ld\n", syscall(SYS_ioprio_get, 1, 0));
	(void)fprintf(file, "personality %d\n", personality(0xffffffff));
	print_affinity(file);
	print_timers(file);
}

/* ------------------------------------------------------------------ /proc */

static void print_file(FILE *file, const char *path)
{
	FILE *source = fopen(path, "re");
	char line[512];

	(void)fprintf(file, "%s:", path);
	while (source && fgets(line, sizeof(line), source))
		(void)fprintf(file, " %.*s", (int)strcspn(line, "\n"), line);
	(void)fprintf(file, "\n");
	if (source)
		(void)fclose(source);
}

static void print_status_lines(FILE *file)
{
	static const char *const names[] = {
		"Umask:",
		"Uid:",
		"Gid:",
		"Groups:",
		"Threads:",
		"CapInh:",
		"CapPrm:",
		"CapEff:",
		"CapBnd:",
		"CapAmb:",
		"Seccomp:",
		"Cpus_allowed_list:",
		"Mems_allowed_list:",
	};
	FILE *source = fopen("/proc/self/status", "re");
	char line[512];

	while (source && fgets(line, sizeof(line), source))
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			if (strncmp(line, names[i], strlen(names[i])) == 0)
				(void)fprintf(file, "%s", line);
	if (source)
		(void)fclose(source);
}

static void print_namespaces(FILE *file)
{
	static const char *const names[] = { "cgroup", "ipc",  "mnt", "net",
					     "pid",    "user", "uts" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char path[64], target[128];
		ssize_t length;

		(void)snprintf(path, sizeof(path), "/proc/self/ns/%s",
			       names[i]);
		length = readlink(path, target, sizeof(target) - 1);
		(void)fprintf(file, "%.*s\n", (int)(length < 0 ? 0 : length),
			      target);
	}
}

static void print_folders(FILE *file)
{
	char path[PATH_MAX] = "";
	mode_t mask = umask(0);

	(void)umask(mask);
	(void)fprintf(file, "umask %o\n", (unsigned)mask);
	(void)fprintf(file, "folder %s\n", getcwd(path, sizeof(path)));
	path[0] = '\0';
	(void)!readlink("/proc/self/root", path, sizeof(path) - 1);
	(void)fprintf(file, "root %.1s\n", path);
}

/* ------------------------------------------------------------ environment */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names only, where the value is a pid. */
static bool is_pid_of_test(const char *item)
{
	return strncmp(item, "STATE_PID=", 10) == 0 ||
	       strncmp(item, "STATE_PPID=", 11) == 0 ||
	       strncmp(item, "STATE_CHILD=", 12) == 0;
}

static void print_environment(FILE *file)
{
	size_t count = 0;

	while (environ[count])
		count++;
	qsort(environ, count, sizeof(*environ), by_text);
	for (size_t i = 0; i < count; i++)
		(void)fprintf(file, "env %.*s\n",
			      is_pid_of_test(environ[i])
				      ? (int)strcspn(environ[i], "=")
				      : INT_MAX,
			      environ[i]);
}

/* -------------------------------------------------------------- processes */

static const char *relation(pid_t pid, pid_t self)
{
	if (pid == self)
		return "own";
	return pid == getppid() ? "parent's" : "other";
}

static void print_identity(FILE *file)
{
	pid_t self = getpid();
	const char *pid = getenv("STATE_PID");
	const char *ppid = getenv("STATE_PPID");

	(void)fprintf(file, "pid %s\n",
		      !pid                        ? "not told"
		      : number_of(pid, 0) == self ? "as started"
						  : "another");
	(void)fprintf(file, "parent %s\n",
		      !ppid                             ? "not told"
		      : number_of(ppid, 0) == getppid() ? "as started"
							: "another");
	(void)fprintf(file, "group %s\n", relation(getpgrp(), self));
	(void)fprintf(file, "session %s\n", relation(getsid(0), self));
}

static void print_terminal(FILE *file)
{
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	struct termios settings;

	if (fd < 0) {
		(void)fprintf(file, "terminal none\n");
		return;
	}
	(void)fprintf(file, "terminal foreground group %s\n",
		      tcgetpgrp(fd) == getpgrp() ? "own" : "another");
	if (tcgetattr(fd, &settings) == 0)
		(void)fprintf(file, "terminal modes %o %o %o %o\n",
			      settings.c_iflag, settings.c_oflag,
			      settings.c_cflag, settings.c_lflag);
	(void)close(fd);
}

static size_t list_children(pid_t children[CHILDREN_MAX])
{
	FILE *source = fopen("/proc/thread-self/children", "re");
	size_t count = 0;
	char line[4096];
	char *at = line;

	if (source && fgets(line, sizeof(line), source)) {
		for (;;) {
			char *end;
			long pid = strtol(at, &end, 10);

			if (end == at || count == CHILDREN_MAX)
				break;
			children[count++] = (pid_t)pid;
			at = end;
		}
	}
	if (source)
		(void)fclose(source);
	return count;
}

/* A child that still runs is told to end: its parent must come to know. */
static void print_children(FILE *file)
{
	const char *known = getenv("STATE_CHILD");
	pid_t children[CHILDREN_MAX];
	size_t count = list_children(children);

	(void)fprintf(file, "children %zu\n", count);
	for (size_t i = 0; i < count; i++) {
		int status = 0;
		pid_t got = waitpid(children[i], &status, WNOHANG);

		(void)fprintf(file, "child %s ",
			      known && number_of(known, 0) == children[i]
				      ? "known"
				      : "unknown");
		if (got == 0) {
			(void)fprintf(file, "runs, ");
			(void)kill(children[i], SIGTERM);
			got = waitpid(children[i], &status, 0);
		}
		if (got != children[i])
			(void)fprintf(file, "cannot be waited for\n");
		else
			(void)fprintf(file, "ended with %x\n",
				      (unsigned)status);
	}
}

static void print_state(FILE *file, const bool open_before[FDS])
{
	print_descriptors(file, open_before);
	print_signals(file);
	print_limits(file);
	print_attributes(file);
	print_file(file, "/proc/self/oom_score_adj");
	print_file(file, "/proc/self/coredump_filter");
	print_file(file, "/proc/self/cgroup");
	print_status_lines(file);
	print_namespaces(file);
	print_folders(file);
	print_environment(file);
	print_identity(file);
	print_terminal(file);
	print_children(file);
}

static int write_state(const char *path)
{
	bool open_before[FDS];
	FILE *file;
	int copy;

	/* Before anything is opened here. */
	for (int fd = 0; fd < FDS; fd++)
		open_before[fd] = fcntl(fd, F_GETFD) >= 0;
	copy = strcmp(path, "-") == 0
		       ? fcntl(1, F_DUPFD_CLOEXEC, FDS)
		       : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			      0600);
	file = copy < 0 ? NULL : fdopen(copy, "w");
	if (!file) {
		(void)fprintf(stderr, "print_state: %s: %s\n", path,
			      strerror(errno));
		return 99;
	}
	print_state(file, open_before);
	return fclose(file) == 0 ? 0 : 99;
}

int main(int argc, char **argv)
{
	struct arguments arguments = { .steps = STEPS_DEFAULT };
	const char *code = getenv("STATE_EXIT");
	const char *number = getenv("STATE_SIGNAL");

	(void)argc;
	read_arguments(&arguments, argv);
	if (getenv("AUTOFIT_PROBE") && !getenv("STATE_ALWAYS"))
		return train(&arguments);
	if (arguments.state) {
		int result = write_state(arguments.state);

		if (result != 0)
			return result;
	}
	if (fcntl(1, F_GETFD) >= 0) {
		(void)printf("micro %ld accum %ld\n", arguments.micro,
			     arguments.accum);
		(void)fflush(stdout);
	}
	if (number) {
		(void)signal((int)number_of(number, 0), SIG_DFL);
		(void)raise((int)number_of(number, 0));
	}
	return (int)number_of(code, 0);
}
