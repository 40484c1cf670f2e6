/* A process that asks the driver, and may hang or die of it. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/gpu/gpu_child.h"

#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A killed process ends at once, unless it is stuck inside the kernel. */
#define REAP_MS 1000
/* Whoever waits longer wants to know for what; and then now and again. */
#define TELL_AFTER_MS 3000
#define TELL_EVERY_MS 15000
/* So often is looked whether a signal waits. */
#define LOOK_MS 100

/*
 * Handlers are the parent's and must not run here; a crash must look like
 * one, without a core file; whatever the driver prints is nobody's output.
 */
static void gpu_child_become_disposable(pid_t parent)
{
	static const struct rlimit none = { 0, 0 };
	int null;

	for (int number = 1; number < NSIG; number++) {
		struct sigaction action;

		if (sigaction(number, NULL, &action) == 0 &&
		    action.sa_handler != SIG_IGN) {
			action.sa_handler = SIG_DFL;
			action.sa_flags = 0;
			(void)sigaction(number, &action, NULL);
		}
	}
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	(void)setrlimit(RLIMIT_CORE, &none);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; null >= 0 && fd <= 2; fd++)
		(void)dup2(null, fd);
}

/* A socket whose ends are not 0 to 2, which the child gives away. */
static int gpu_child_make_socket(int ends[2])
{
	int low[2];
	int result = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, low) < 0)
		return -errno;
	for (int i = 0; i < 2; i++) {
		ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 3);
		if (ends[i] < 0 && !result)
			result = -errno;
		(void)close(low[i]);
	}
	for (int i = 0; i < 2 && result; i++)
		if (ends[i] >= 0)
			(void)close(ends[i]);
	return result;
}

int gpu_child_start(struct gpu_child *child,
		    void (*run)(const void *context, int fd),
		    const void *context, struct error *err)
{
	pid_t parent = getpid();
	int ends[2] = { -1, -1 };
	sigset_t all, before;
	int result = gpu_child_make_socket(ends);
	pid_t pid;

	if (result < 0)
		return error_set_errno(err, result, "cannot make a socket");
	(void)sigfillset(&all);
	/* Blocked: no handler of the parent may run in the child. */
	(void)sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0) {
		(void)close(ends[0]);
		gpu_child_become_disposable(parent);
		(void)sigprocmask(SIG_SETMASK, &before, NULL);
		run(context, ends[1]);
		/* No atexit handlers: they are the parent's. */
		_exit(0);
	}
	result = pid < 0 ? -errno : 0;
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	(void)close(ends[1]);
	if (result < 0) {
		(void)close(ends[0]);
		return error_set_errno(err, result,
				       "cannot start a process that asks the "
				       "NVIDIA driver");
	}
	*child = (struct gpu_child){ .pid = pid, .fd = ends[0] };
	return 0;
}

static int gpu_child_give_up(const struct gpu_wait *wait, int result,
			     struct error *err)
{
	switch (result) {
	case -EINTR:
		return error_set(err, result, "stopped while waiting for %s",
				 wait->what);
	case -ETIME:
		return error_set(err, result,
				 "the time limit was reached while waiting for "
				 "%s",
				 wait->what);
	default:
		return error_set(err, result, "%s: no answer within %g s",
				 wait->what, (double)wait->deadline_ms / 1e3);
	}
}

int gpu_child_await(const struct gpu_child *child, const struct gpu_wait *wait,
		    struct error *err)
{
	static const struct gpu_patience none = { 0 };
	const struct gpu_patience *patience =
		wait->patience ? wait->patience : &none;
	struct pollfd waited = { .fd = child->fd, .events = POLLIN };
	int64_t begun_ms = clock_ms();
	int64_t tell_ms = begun_ms + TELL_AFTER_MS;
	int64_t last_ms = begun_ms + wait->deadline_ms;
	int64_t limit_ms = patience->limit_ms
				   ? wait->started_ms + patience->limit_ms
				   : INT64_MAX;
	int64_t end_ms = last_ms < limit_ms ? last_ms : limit_ms;

	for (;;) {
		int64_t now_ms = clock_ms();
		int64_t left = end_ms > now_ms ? end_ms - now_ms : 0;

		if (poll(&waited, 1, left < LOOK_MS ? (int)left : LOOK_MS) > 0)
			return 0;
		if (patience->interrupted && patience->interrupted())
			return gpu_child_give_up(wait, -EINTR, err);
		if (!left)
			return gpu_child_give_up(
				wait, end_ms == limit_ms ? -ETIME : -ETIMEDOUT,
				err);
		if (now_ms < tell_ms)
			continue;
		log_warning("waiting for %s for %lld s now, at most %lld s; "
			    "Ctrl-C stops",
			    wait->what, (long long)(now_ms - begun_ms) / 1000,
			    (long long)wait->deadline_ms / 1000);
		tell_ms = now_ms + TELL_EVERY_MS;
	}
}

bool gpu_child_reap(struct gpu_child *child, int64_t deadline_ms, int *status)
{
	static const struct timespec pause = { 0, 2000000 };

	while (child->pid > 0) {
		pid_t done = waitpid(child->pid, status, WNOHANG);

		if (done == child->pid) {
			child->pid = 0;
			return true;
		}
		if (done < 0 && errno != EINTR)
			return false; /* SIGCHLD is ignored: nothing to reap */
		if (clock_ms() >= deadline_ms)
			return false;
		(void)nanosleep(&pause, NULL); /* a shorter one does no harm */
	}
	return false;
}

void gpu_child_end(struct gpu_child *child)
{
	int status;

	if (child->fd >= 0)
		(void)close(child->fd);
	child->fd = -1;
	if (child->pid > 0)
		(void)kill(child->pid, SIGKILL);
	(void)gpu_child_reap(child, clock_ms() + REAP_MS, &status);
	child->pid = 0;
}
