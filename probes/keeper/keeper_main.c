/* The keeper's own side: what runs after the fork, until no process is left. */
/* SPDX-License-Identifier: MIT */
#include "probes/keeper/keeper_main.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "configs/files/paths.h"
#include "probes/process/proctree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How long what the command left behind may still end by itself. */
#define LINGER_MS 1000
#define REMOVALS_MAX 20
#define REMOVAL_PAUSE_MS 100
/* Pause between two looks while processes are being killed. */
#define KILL_PAUSE_MS 5
/* After so many of them it is something that a signal does not end soon. */
#define KILL_LOOKS 400
#define KILL_LONG_PAUSE_MS 200

/* Between two looks while processes are being stopped, and at most so many:
 * autofit waits for the answer no longer than that. */
#define FREEZE_PAUSE_MS 1
#define FREEZE_LOOKS 2000
/* As /proc shows them: stopped, or ended. */
#define STILL_STATES "TtZX"
/* And after so many looks who stays in the kernel where no signal comes through
 * (a disk, a child by vfork() that is stopped before its exec): one that is
 * there for a moment may be forking. */
#define DEEP_STATE 'D'
#define DEEP_LOOKS 100

struct keeper_loop {
	const struct keeper_spec *spec;
	int control;
	int signals; /* signalfd */
	pid_t command;
	bool command_exited;
	bool killing;
	/* Its end of the socket is closed: some time before, as the kernel
	 * ends a process, the keeper gets another parent. */
	bool autofit_is_gone;
	int64_t kill_at_ms; /* when the grace ends; 0: no kill is planned */
	int looks;          /* at what is left, since the killing began */
	int32_t foreign_kills;
	int32_t max_rss_kib;
	struct pid_list tree; /* kept for its memory */
};

static void tell(const struct keeper_loop *loop, enum keeper_event event,
		 int32_t value)
{
	const struct keeper_message message = {
		.event = (int32_t)event,
		.pid = loop->command,
		.value = value,
		.max_rss_kib = loop->max_rss_kib,
	};

	/* Autofit may be gone: then nobody needs to know. */
	(void)send(loop->control, &message, sizeof(message), MSG_NOSIGNAL);
}

static void signal_tree(struct keeper_loop *loop, int number)
{
	loop->tree.count = 0;
	(void)proctree_descendants(getpid(), PROCTREE_WHOLE, &loop->tree);
	for (size_t i = 0; i < loop->tree.count; i++)
		(void)kill(loop->tree.items[i], number);
}

static bool tree_stands_still(const struct keeper_loop *loop, int look)
{
	for (size_t i = 0; i < loop->tree.count; i++) {
		struct proc_stat stat;

		if (proctree_stat(loop->tree.items[i], &stat) == 0 &&
		    !strchr(STILL_STATES, stat.state) &&
		    (stat.state != DEEP_STATE || look < DEEP_LOOKS))
			return false;
	}
	return true;
}

/*
 * Who is forking when the signal comes still gets the child, and the child no
 * signal: the tree stands still once two looks in a row met nobody running.
 */
static void freeze_tree(struct keeper_loop *loop)
{
	int still = 0;

	for (int look = 0; look < FREEZE_LOOKS && still < 2; look++) {
		if (look)
			(void)poll(NULL, 0, FREEZE_PAUSE_MS);
		signal_tree(loop, SIGSTOP);
		still = tree_stands_still(loop, look) ? still + 1 : 0;
	}
}

static void start_killing(struct keeper_loop *loop)
{
	loop->killing = true;
	loop->kill_at_ms = 0;
}

static void obey(struct keeper_loop *loop, const struct keeper_request *request)
{
	switch ((enum keeper_order)request->order) {
	case KEEPER_STOP:
		signal_tree(loop, SIGTERM);
		signal_tree(loop, SIGCONT);
		loop->kill_at_ms = clock_ms() + request->grace_ms;
		break;
	case KEEPER_FREEZE:
		freeze_tree(loop);
		tell(loop, KEEPER_FROZEN, 0);
		break;
	case KEEPER_THAW:
		signal_tree(loop, SIGCONT);
		break;
	case KEEPER_KILL:
		start_killing(loop);
		break;
	}
}

/* All that wait: behind the last one may come the end of autofit. */
static void read_orders(struct keeper_loop *loop)
{
	struct keeper_request request;
	ssize_t got;

	while ((got = recv(loop->control, &request, sizeof(request),
			   MSG_DONTWAIT)) > 0)
		if (got == (ssize_t)sizeof(request))
			obey(loop, &request);
	if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
		loop->autofit_is_gone = true;
		start_killing(loop);
	}
}

static void read_signals(struct keeper_loop *loop)
{
	struct signalfd_siginfo info;

	while (read(loop->signals, &info, sizeof(info)) ==
	       (ssize_t)sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			start_killing(loop); /* PDEATHSIG, or told to end */
}

static void count_foreign_kill(struct keeper_loop *loop, int status)
{
	if (!loop->killing && WIFSIGNALED(status) &&
	    WTERMSIG(status) == SIGKILL)
		loop->foreign_kills++;
}

static int32_t max_rss_of(const struct rusage *command)
{
	struct rusage own;

	if (getrusage(RUSAGE_SELF, &own) == 0 &&
	    command->ru_maxrss <= own.ru_maxrss)
		return 0;
	return command->ru_maxrss > INT32_MAX ? INT32_MAX
					      : (int32_t)command->ru_maxrss;
}

/* Reap all that ended; false when no child is left. */
static bool keeper_main_reap(struct keeper_loop *loop)
{
	for (;;) {
		struct rusage usage;
		int status;
		pid_t pid = wait4(-1, &status, WNOHANG, &usage);

		if (pid == 0)
			return true;
		if (pid < 0)
			return false;
		count_foreign_kill(loop, status);
		if (pid != loop->command || loop->command_exited)
			continue;
		loop->command_exited = true;
		loop->max_rss_kib = max_rss_of(&usage);
		tell(loop, KEEPER_EXITED, status);
		if (!loop->kill_at_ms)
			loop->kill_at_ms = clock_ms() + LINGER_MS;
	}
}

static int poll_timeout(struct keeper_loop *loop)
{
	int64_t left;

	if (loop->killing)
		return ++loop->looks < KILL_LOOKS ? KILL_PAUSE_MS
						  : KILL_LONG_PAUSE_MS;
	if (!loop->kill_at_ms)
		return -1;
	left = loop->kill_at_ms - clock_ms();
	return left < 0 ? 0 : (int)left;
}

static void keeper_main_run(struct keeper_loop *loop)
{
	struct pollfd polls[2] = {
		{ .fd = loop->control, .events = POLLIN },
		{ .fd = loop->signals, .events = POLLIN },
	};

	while (keeper_main_reap(loop)) {
		if (loop->kill_at_ms && clock_ms() >= loop->kill_at_ms) {
			if (loop->command_exited)
				tell(loop, KEEPER_ABANDONED, 0);
			start_killing(loop);
		}
		if (loop->killing)
			signal_tree(loop, SIGKILL);
		if (poll(polls, 2, poll_timeout(loop)) <= 0)
			continue;
		if (polls[1].revents)
			read_signals(loop);
		if (polls[0].revents)
			read_orders(loop);
		/* A closed socket stays readable: no busy loop over it. */
		if (polls[0].revents & POLLHUP)
			polls[0].fd = -1;
	}
}

/* All but what the keeper needs: nothing of autofit's may stay open in it. */
static void close_inherited(const struct keeper_spec *spec,
			    const struct keeper_birth *birth,
			    const int report[2])
{
	int *keep = xcalloc(spec->lock_count + 6, sizeof(*keep));
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd <= 2; fd++)
		(void)dup2(null, fd);
	keep[0] = birth->control;
	keep[1] = birth->out;
	keep[2] = birth->err;
	keep[3] = report[0];
	keep[4] = report[1];
	keep[5] = spec->channel_fd ? *spec->channel_fd : -1;
	if (spec->lock_count)
		memcpy(keep + 6, spec->lock_fds,
		       spec->lock_count * sizeof(*keep));
	spawn_close_except(keep, spec->lock_count + 6);
	free(keep);
}

static void become_keeper(const struct keeper_birth *birth)
{
	(void)setsid();
	(void)prctl(PR_SET_NAME, "autofit-keeper", 0, 0, 0);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	/* Autofit may have died before PDEATHSIG was set. */
	if (getppid() != birth->autofit)
		_exit(0);
}

static int open_signals(void)
{
	sigset_t watched;

	(void)sigemptyset(&watched);
	(void)sigaddset(&watched, SIGCHLD);
	(void)sigaddset(&watched, SIGTERM);
	(void)sigaddset(&watched, SIGINT);
	(void)sigaddset(&watched, SIGHUP);
	return signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Ranks on other nodes write into it until they see that it is gone. */
static void remove_scratch(const char *scratch)
{
	paths_remove_tree(scratch);
	for (int i = 0; i < REMOVALS_MAX && access(scratch, F_OK) == 0; i++) {
		(void)poll(NULL, 0, REMOVAL_PAUSE_MS);
		paths_remove_tree(scratch);
	}
}

/*
 * Autofit still reads the counters and what the command left in its scratch,
 * and removes both: this is for when it is gone.
 */
static void keeper_main_clean_up(const struct keeper_spec *spec)
{
	struct host_cgroup cgroup;

	for (size_t i = 0; spec->extra_files && i < spec->extra_files->count;
	     i++)
		if (unlink(spec->extra_files->items[i]) < 0)
			(void)rmdir(spec->extra_files->items[i]);
	if (spec->scratch)
		remove_scratch(spec->scratch);
	if (!spec->cgroup)
		return;
	cgroup = *spec->cgroup;
	host_cgroup_remove(&cgroup);
}

void keeper_main(const struct keeper_spec *spec,
		 const struct keeper_birth *birth)
{
	struct keeper_loop loop = {
		.spec = spec,
		.control = birth->control,
		.tree = PID_LIST_INIT,
	};
	struct spawn_pipes pipes = {
		.out = birth->out,
		.err = birth->err,
		.report = { -1, -1 },
		.copy = birth->copy,
	};
	static const int no_report[2] = { -1, -1 };
	enum spawn_step failed = SPAWN_OWN;
	int result;

	become_keeper(birth);
	/*
	 * Opened before anything is closed: libuv closes its descriptors by
	 * their numbers in every forked child, and the pipe may not get one.
	 */
	result = pipe2(pipes.report, O_CLOEXEC) < 0 ? -errno : 0;
	/* A copy keeps what the process had open that it is a copy of. */
	if (!birth->copy)
		close_inherited(spec, birth, pipes.report);
	(void)signal(SIGPIPE, SIG_IGN);
	/* A handler of autofit's would swallow SIGCHLD: back to default. */
	(void)signal(SIGCHLD, SIG_DFL);
	if (result == 0)
		result = spawn_command(&loop.command, spec, &pipes, &failed);
	if (birth->copy)
		close_inherited(spec, birth, no_report);
	/* Signals that came before are pending: they are blocked. */
	loop.signals = open_signals();
	(void)close(birth->out);
	(void)close(birth->err);
	if (result < 0) {
		tell(&loop,
		     failed == SPAWN_EXEC ? KEEPER_EXEC_FAILED
					  : KEEPER_ISOLATION_FAILED,
		     -result);
	} else {
		tell(&loop, KEEPER_STARTED, 0);
		keeper_main_run(&loop);
	}
	if (loop.autofit_is_gone || getppid() != birth->autofit)
		keeper_main_clean_up(spec);
	tell(&loop, KEEPER_GONE, loop.foreign_kills);
	_exit(0);
}
