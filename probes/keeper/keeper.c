/* A small process between autofit and a probe's command, that cleans up. */
/* SPDX-License-Identifier: MIT */
#include "probes/keeper/keeper.h"

#include "probes/keeper/keeper_main.h"
#include "probes/keeper/zygote.h"
#include "probes/process/proctree.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SWEEP_ROUNDS 500
#define SWEEP_PAUSE_MS 10

static void close_end(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

void keeper_close(struct keeper *keeper)
{
	close_end(&keeper->control);
	close_end(&keeper->out);
	close_end(&keeper->err);
	if (keeper->pid)
		(void)waitpid(keeper->pid, NULL, 0);
	keeper->pid = 0;
}

static int open_pipes(int control[2], int out[2], int err_pipe[2])
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) < 0)
		return -errno;
	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(err_pipe, O_CLOEXEC) < 0)
		return -errno;
	return 0;
}

static pid_t fork_keeper(const struct keeper_spec *spec,
			 const struct keeper_birth *birth)
{
	sigset_t all;
	sigset_t before;
	pid_t pid;

	/* No handler of autofit's may run in the keeper: blocked across it. */
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0)
		keeper_main(spec, birth);
	if (pid < 0)
		pid = -errno;
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

int keeper_start(struct keeper *keeper, const struct keeper_spec *spec,
		 struct error *err)
{
	int control[2] = { -1, -1 };
	int out[2] = { -1, -1 };
	int err_pipe[2] = { -1, -1 };
	struct keeper_birth birth = { .copy = NULL };
	int result;

	*keeper = (struct keeper){ .control = -1, .out = -1, .err = -1 };
	assert(spec->argv->count >= 1);
	result = open_pipes(control, out, err_pipe);
	if (result < 0) {
		(void)error_set_errno(err, result, "cannot open a pipe");
		goto out;
	}
	birth.control = control[1];
	birth.out = out[1];
	birth.err = err_pipe[1];
	birth.autofit = getpid();
	keeper->pid = spec->zygote ? zygote_fork(spec->zygote, spec, &birth)
				   : fork_keeper(spec, &birth);
	result = keeper->pid < 0 ? keeper->pid : 0;
	if (result < 0) {
		keeper->pid = 0; /* there is nobody to wait for */
		(void)error_set_errno(err, result, "cannot start a process");
		goto out;
	}
	keeper->control = control[0];
	keeper->out = out[0];
	keeper->err = err_pipe[0];
	(void)fcntl(keeper->control, F_SETFL, O_NONBLOCK);
	control[0] = out[0] = err_pipe[0] = -1;
out:
	for (int i = 0; i < 2; i++) {
		close_end(&control[i]);
		close_end(&out[i]);
		close_end(&err_pipe[i]);
	}
	return result;
}

void keeper_order(const struct keeper *keeper, enum keeper_order order,
		  int64_t grace_ms)
{
	struct keeper_request request = { .order = (int32_t)order,
					  .grace_ms = grace_ms };

	assert(keeper->control >= 0 && grace_ms >= 0);
	/* A full or closed socket: the keeper is ending by itself. */
	(void)send(keeper->control, &request, sizeof(request), MSG_NOSIGNAL);
	keeper_wake(keeper);
}

void keeper_wake(const struct keeper *keeper)
{
	if (keeper->pid > 0)
		(void)kill(keeper->pid, SIGCONT);
}

int keeper_receive(const struct keeper *keeper, struct keeper_message *message)
{
	ssize_t got;

	/*
	 * A keeper that ended before it read an order: the kernel tells of
	 * that once, in front of the messages that still wait.
	 */
	assert(keeper->control >= 0);
	do
		got = recv(keeper->control, message, sizeof(*message), 0);
	while (got < 0 && (errno == EINTR || errno == ECONNRESET));
	if (got == (ssize_t)sizeof(*message))
		return 1;
	if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return 0;
	return -EPIPE;
}

/* What a sweep may touch. */
struct sweep {
	pid_t keeper_pid;
	const char *mark;
	const pid_t *pids;
	size_t count;
	/* A zombie shows no environment: it is known by having been killed. */
	struct pid_list killed;
};

static bool sweep_owns(const struct sweep *sweep, const struct proc_stat *stat)
{
	for (size_t i = 0; i < sweep->count; i++)
		if (sweep->pids[i] == stat->pid)
			return true;
	return stat->session == sweep->keeper_pid ||
	       pid_list_has(&sweep->killed, stat->pid) ||
	       proctree_is_marked(stat->pid, sweep->mark);
}

static void kill_one(struct sweep *sweep, pid_t pid)
{
	(void)kill(pid, SIGKILL);
	pid_list_insert(&sweep->killed, pid);
}

/* Stopped first: whose children they were is lost with a dead process. */
static void kill_with_descendants(struct sweep *sweep, pid_t root)
{
	struct pid_list tree = PID_LIST_INIT;

	(void)kill(root, SIGSTOP);
	(void)proctree_descendants(root, PROCTREE_WHOLE, &tree);
	for (size_t i = 0; i < tree.count; i++)
		kill_one(sweep, tree.items[i]);
	kill_one(sweep, root);
	pid_list_release(&tree);
}

/*
 * One round over autofit's children; how many of the probe it met. Those it
 * reaped count too: their children came to autofit only then.
 */
static size_t sweep_once(struct sweep *sweep)
{
	struct pid_list tree = PID_LIST_INIT;
	size_t met = 0;

	(void)proctree_descendants(getpid(), PROCTREE_WHOLE, &tree);
	for (size_t i = 0; i < tree.count; i++) {
		struct proc_stat stat;

		if (proctree_stat(tree.items[i], &stat) < 0)
			continue;
		if (!sweep_owns(sweep, &stat))
			continue;
		met++;
		kill_with_descendants(sweep, stat.pid);
		/* Only what was re-parented to autofit is autofit's to reap. */
		if (stat.ppid == getpid())
			(void)waitpid(stat.pid, NULL, WNOHANG);
	}
	pid_list_release(&tree);
	return met;
}

/* Its socket closes first; what it leaves comes to autofit only at its end. */
static void wait_for_end(pid_t keeper_pid)
{
	siginfo_t info;
	int result;

	do
		result = waitid(P_PID, (id_t)keeper_pid, &info,
				WEXITED | WNOWAIT);
	while (result < 0 && errno == EINTR);
}

void keeper_sweep(pid_t keeper_pid, const char *mark, const pid_t *pids,
		  size_t count)
{
	struct sweep sweep = {
		.keeper_pid = keeper_pid,
		.mark = mark,
		.pids = pids,
		.count = count,
	};

	wait_for_end(keeper_pid);
	for (int i = 0; i < SWEEP_ROUNDS && sweep_once(&sweep) > 0; i++)
		(void)poll(NULL, 0, SWEEP_PAUSE_MS);
	pid_list_release(&sweep.killed);
}

size_t keeper_rescue(const char *mark, uint64_t start_time)
{
	struct pid_list found = PID_LIST_INIT;
	size_t total = 0;

	for (int i = 0; i < SWEEP_ROUNDS; i++) {
		found.count = 0;
		if (proctree_find_marked(mark, start_time, &found) == 0)
			break;
		if (found.count > total)
			total = found.count;
		for (size_t k = 0; k < found.count; k++)
			(void)kill(found.items[k], SIGKILL);
		(void)poll(NULL, 0, SWEEP_PAUSE_MS);
	}
	pid_list_release(&found);
	return total;
}
