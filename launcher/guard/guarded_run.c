/* One start of the real run as a child that behaves as if it were autofit. */
/* SPDX-License-Identifier: MIT */
#include "launcher/guard/guarded_run.h"

#include "launcher/request/end_signals.h"
#include "launcher/request/exec_command.h"
#include "probes/observers/host/host.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Faults of autofit's own stay what they are. */
static const int faults[] = {
	SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS
};

static void all_that_wait(sigset_t *set)
{
	(void)sigfillset(set);
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		(void)sigdelset(set, faults[i]);
}

void guarded_run_hold(void)
{
	sigset_t held;

	end_signals_hold();
	all_that_wait(&held);
	(void)sigprocmask(SIG_SETMASK, &held, NULL);
	/* Where it was ignored nobody could wait for a child. */
	(void)signal(SIGCHLD, SIG_DFL);
}

static void __attribute__((noreturn))
become_run(pid_t parent, const struct guarded_start *start)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent)
		_exit(128 + SIGKILL);
	_exit(exec_command(start->state, start->argv, start->changes));
}

/* What ends a run; a user's own signals may mean anything. */
static bool is_an_end(int number)
{
	for (int i = 0; i < PLAIN_ENDINGS; i++)
		if (end_signals[i] == number)
			return true;
	return false;
}

/* As the run has stopped; returns when this process is continued. */
static void stop_likewise(int number)
{
	sigset_t one;
	sigset_t waiting;

	/* It has been continued since then, with all of the group. */
	if (sigpending(&waiting) == 0 && sigismember(&waiting, SIGCONT) == 1)
		return;
	(void)sigemptyset(&one);
	(void)sigaddset(&one, number);
	(void)raise(number);
	(void)sigprocmask(SIG_UNBLOCK, &one, NULL);
	(void)sigprocmask(SIG_BLOCK, &one, NULL);
}

/* True: it is over. */
static bool look_after(pid_t pid, struct guarded_end *end)
{
	struct rusage usage;
	int status;

	while (wait4(pid, &status, WUNTRACED | WNOHANG, &usage) == pid) {
		if (WIFSTOPPED(status)) {
			stop_likewise(WSTOPSIG(status));
			continue;
		}
		end->status = status;
		end->max_bytes = (uint64_t)usage.ru_maxrss * 1024;
		return true;
	}
	return false;
}

/* An old kill is of another process: the count of a minute ago is compared. */
struct oom_count {
	struct host_cgroup cgroup;
	uint64_t before, lately;
};

static void oom_count_begin(struct oom_count *count)
{
	(void)host_cgroup_own(&count->cgroup);
	count->before = count->lately = host_cgroup_oom_kills(&count->cgroup);
}

static void oom_count_go_on(struct oom_count *count)
{
	count->before = count->lately;
	count->lately = host_cgroup_oom_kills(&count->cgroup);
}

static void hand_on(pid_t pid, const siginfo_t *info, struct witness *witness,
		    struct guarded_end *end)
{
	if (is_an_end(info->si_signo))
		end->was_told_to_end = true;
	if (!witness_saw(witness, info))
		(void)kill(pid, info->si_signo);
}

/* Until the run is over. */
static void stay_with(pid_t pid, struct witness *witness,
		      struct guarded_end *end)
{
	const struct timespec minute = { .tv_sec = 60 };
	struct oom_count count;
	sigset_t held;
	siginfo_t info;

	all_that_wait(&held);
	oom_count_begin(&count);
	while (!look_after(pid, end)) {
		int number = sigtimedwait(&held, &info, &minute);

		if (number < 0 && errno == EAGAIN)
			oom_count_go_on(&count);
		else if (number > 0 && number != SIGCHLD)
			hand_on(pid, &info, witness, end);
	}
	end->oom_kills = host_cgroup_oom_kills(&count.cgroup) - count.before;
	if (end_signals_waiting())
		end->was_told_to_end = true;
}

int guarded_run(struct guarded_end *end, const struct guarded_start *start,
		struct error *err)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	*end = (struct guarded_end){ .status = 0 };
	if (pid < 0)
		return error_set_errno(err, -errno, "cannot start the run");
	if (pid == 0)
		become_run(parent, start);
	stay_with(pid, start->witness, end);
	return 0;
}
