/* Runs a job of a night on this machine. */
/* SPDX-License-Identifier: MIT */
#include "launcher/nightly/executor.h"

#include "base/clock.h"
#include "launcher/request/end_signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SELF "/proc/self/exe"
/* Between two looks at the deadline. */
#define LOOK_NS (200L * 1000 * 1000)

/* In the child: nothing but what leads to exec. Never returns. */
static void become_job(const struct executor_start *start, pid_t parent,
		       char *const environment[])
{
	int log = open(start->log,
		       O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		       0600);
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	/* A group of its own: a signal of the terminal comes once, from us. */
	if (log < 0 || nothing < 0 || setpgid(0, 0) < 0 ||
	    dup2(nothing, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0 ||
	    chdir(start->directory) < 0)
		_exit(126);
	process_state_restore(start->state);
	if (prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) < 0 ||
	    getppid() != parent)
		_exit(126);
	(void)execve(SELF, start->arguments->items, environment);
	_exit(126);
}

/* A child that ended, or a signal, or a while: then one looks again. */
static int next_event(const sigset_t *awaited)
{
	const struct timespec look = { 0, LOOK_NS };

	return sigtimedwait(awaited, NULL, &look);
}

static void watch(pid_t pid, const struct executor_start *start,
		  const sigset_t *awaited, struct executor_end *end)
{
	int status = 0;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		int number = next_event(awaited);

		if (number > 0 && number != SIGCHLD) {
			(void)kill(pid, end->signal_number ? SIGKILL : number);
			end->signal_number = number;
		}
		if (start->deadline_ms && !end->is_late &&
		    clock_ms() >= start->deadline_ms) {
			end->is_late = true;
			(void)kill(pid, SIGTERM);
		}
	}
	end->status = WIFEXITED(status) ? WEXITSTATUS(status)
					: 128 + WTERMSIG(status);
}

static void executor_local_environment_of(const struct executor_start *start,
					  struct strlist *environment)
{
	for (char **item = environ; item && *item; item++)
		strlist_add(environment, *item);
	strlist_env_change(environment, start->environment);
}

int executor_run(const struct executor_start *start, struct executor_end *end,
		 struct error *err)
{
	struct strlist environment = STRLIST_INIT;
	pid_t parent = getpid(), pid;
	sigset_t awaited, before;
	int result = 0;

	*end = (struct executor_end){ 0 };
	executor_local_environment_of(start, &environment);
	(void)sigemptyset(&awaited);
	(void)sigaddset(&awaited, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &awaited, &before);
	for (int i = 0; i < ENDINGS; i++)
		if (!process_state_ignores(start->state, end_signals[i]))
			(void)sigaddset(&awaited, end_signals[i]);
	pid = fork();
	if (pid == 0)
		become_job(start, parent, environment.items);
	if (pid < 0)
		result = error_set_errno(err, -errno, "cannot start a job");
	else
		watch(pid, start, &awaited, end);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	strlist_release(&environment);
	return result;
}
