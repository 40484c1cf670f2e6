/* Runs a job of a night on this machine. */
/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"
#include "launcher/nightly/executor/executor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SELF "/proc/self/exe"
#define LOCAL_LOOK_NS (200L * 1000 * 1000)

/* In the child: nothing but what leads to exec. Never returns. */
static void become_job(const struct executor *executor,
		       const struct executor_task *task, pid_t parent,
		       char *const environment[])
{
	int log = open(task->log,
		       O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		       0600);
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	/* A group of its own: a signal of the terminal comes once, from us. */
	if (log < 0 || nothing < 0 || setpgid(0, 0) < 0 ||
	    dup2(nothing, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0 ||
	    chdir(task->job->directory) < 0)
		_exit(126);
	process_state_restore(executor->state);
	if (prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) < 0 ||
	    getppid() != parent)
		_exit(126);
	(void)execve(SELF, task->arguments.items, environment);
	_exit(126);
}

static void executor_local_environment_of(const struct job *job,
					  struct strlist *environment)
{
	for (char **item = environ; item && *item; item++)
		strlist_add(environment, *item);
	strlist_env_change(environment, &job->environment);
}

static int local_open(struct executor *executor, struct error *err)
{
	(void)err;
	executor->together_max = 1;
	return 0;
}

static int local_start(struct executor *executor, struct executor_task **tasks,
		       size_t count, size_t at_once, struct error *err)
{
	struct executor_task *task = tasks[0];
	struct strlist environment = STRLIST_INIT;
	pid_t parent = getpid();
	int result = 0;

	/* One that starts each by itself is given no more. */
	(void)count;
	(void)at_once;
	executor_task_tell(task, "runs", "");
	executor_local_environment_of(task->job, &environment);
	(void)unlink(task->json);
	task->pid = fork();
	if (task->pid == 0)
		become_job(executor, task, parent, environment.items);
	if (task->pid < 0)
		result = error_set_errno(err, -errno, "cannot start a job");
	strlist_release(&environment);
	return result;
}

static void local_look(struct executor *executor, struct executor_task **tasks,
		       size_t count)
{
	(void)executor;
	for (size_t i = 0; i < count; i++) {
		struct executor_task *task = tasks[i];
		int status;

		if (waitpid(task->pid, &status, WNOHANG) <= 0)
			continue;
		task->has_ended = true;
		/* Killed from outside; its journal is not. */
		task->is_lost = WIFSIGNALED(status);
		if (access(task->json, F_OK) < 0)
			executor_task_end(
				task,
				xasprintf("autofit tune ended with %d and says "
					  "nothing: see %s",
					  WIFEXITED(status)
						  ? WEXITSTATUS(status)
						  : 128 + WTERMSIG(status),
					  task->log));
	}
}

static void local_stop(struct executor *executor, struct executor_task **tasks,
		       size_t count, int number)
{
	(void)executor;
	for (size_t i = 0; i < count; i++)
		(void)kill(tasks[i]->pid, number);
}

const struct executor_ops executor_local = {
	.look_ns = LOCAL_LOOK_NS,
	.awaits_stopped = true,
	.open = local_open,
	.start = local_start,
	.look = local_look,
	.stop = local_stop,
};
