/* The autofit in front of a rank, on the node where Slurm has started it. */
/* SPDX-License-Identifier: MIT */
/*
 *	autofit tune -- srun -n 4 python train.py        on the first node
 *	  keeper -- srun -n 4 autofit -- python train.py
 *	...
 *	slurmd -- autofit -- keeper -- python train.py    on any node, each rank
 *
 * What a probe does to a command on its own node, this does for one rank: the
 * keeper ends every process of it whatever happens, and the observer of host
 * memory looks at its tree. Two things differ. The page that the Python hook
 * writes is a file of this node, and is copied into each report. And nobody
 * here judges: whether it fits says the autofit that reads the reports.
 */
#include "probes/nodes/node_rank.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/textfile.h"
#include "base/units.h"
#include "configs/files/paths.h"
#include "probes/keeper/keeper.h"
#include "probes/nodes/node_report.h"
#include "probes/observers/host/host_available.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_MS 20
#define REPORT_MS 100
#define ORDERS_MS 100
/* Longer than a file server may need to come back after a restart. */
#define ABANDONED_MS 60000
#define TERM_GRACE_MS 2000
/* As autofit itself ends: see launcher/options/exitcode.h. */
#define EXIT_NO_REPORT 125
#define EXIT_NOT_RUN 126
#define EXIT_NOT_THERE 127
#define OUTPUT_PIECE 65536
/* Bytes of a file with a number in it. */
#define NUMBER_MAX 24

struct node_rank {
	const char *folder; /* that all nodes see */
	char *own;          /* in it, of this rank alone: the page is there */
	struct strlist environment;
	struct channel channel;
	struct keeper keeper;
	struct host_observer *observer;
	struct node_page *page; /* the next report */
	uint64_t oom_kills_before;
	int signals;
	int64_t next_report_ms, next_orders_ms;
	int64_t alive;    /* autofit's number, as it was read last */
	int64_t alive_ms; /* when that had changed */
	int64_t grace_ms; /* of the last order to end; -1: none */
	bool is_frozen, is_gone;
	int exec_errno;
};

static int rank_number(void)
{
	const char *text = getenv("SLURM_PROCID");
	int64_t number;

	if (!text || integer_parse(text, &number, NULL) < 0 || number < 0 ||
	    number >= NODE_RANKS_MAX)
		return -1;
	return (int)number;
}

static void make_rank_environment(struct node_rank *rank)
{
	char *page = xasprintf("%s/channel", rank->own);

	for (char **item = environ; item && *item; item++)
		strlist_add(&rank->environment, *item);
	strlist_env_set(&rank->environment, "AUTOFIT_CHANNEL", page);
	strlist_env_set(&rank->environment, "AUTOFIT_HOOK_FILES", rank->own);
	strlist_env_unset(&rank->environment, NODE_VARIABLE);
	free(page);
}

/* Slurm may start a rank of a probe that is over already. */
static bool is_to_start(const struct node_rank *rank, struct error *err)
{
	char *stop = xasprintf("%s/stop", rank->folder);
	bool is_over = access(stop, F_OK) == 0;

	free(stop);
	if (is_over)
		return error_set(err, -ECANCELED, "the probe is over") == 0;
	if (access(rank->folder, F_OK) == 0)
		return true;
	return error_set_errno(err, -errno,
			       "%s cannot be reached from node %s: probes need "
			       "a folder that all nodes see; name one with "
			       "--scratch DIR",
			       rank->folder, rank->page->report.node) == 0;
}

static int start_rank(struct node_rank *rank, const struct process_state *state,
		      const struct strlist *argv, struct error *err)
{
	const char *id = getenv("AUTOFIT_PROBE");
	char *mark = xasprintf("AUTOFIT_PROBE=%s", id ? id : "");
	struct keeper_spec spec = {
		.argv = argv,
		.environment = &rank->environment,
		.state = state,
		.mark = mark,
		.channel_fd = &rank->channel.fd,
	};
	char *page = xasprintf("%s/channel", rank->own);
	int result = paths_make(rank->own, err);

	make_rank_environment(rank);
	if (result == 0)
		result = channel_open(&rank->channel, page, err);
	if (result == 0)
		result = keeper_start(&rank->keeper, &spec, err);
	if (result == 0)
		result = host_observer_open(&rank->observer, rank->keeper.pid,
					    err);
	free(page);
	free(mark);
	return result;
}

static void take_keeper_message(struct node_rank *rank,
				const struct keeper_message *message)
{
	struct node_report *report = &rank->page->report;

	switch ((enum keeper_event)message->event) {
	case KEEPER_EXEC_FAILED:
	case KEEPER_ISOLATION_FAILED:
		rank->exec_errno = message->value;
		break;
	case KEEPER_EXITED:
		report->wait_status = message->value;
		report->state = NODE_RANK_EXITED;
		rank->next_report_ms = 0;
		break;
	case KEEPER_GONE:
		report->foreign_kills = message->value;
		break;
	case KEEPER_STARTED:
	case KEEPER_ABANDONED:
	case KEEPER_FROZEN:
		break;
	}
}

static void end_command(struct node_rank *rank, int64_t grace_ms)
{
	if (rank->grace_ms >= 0 && rank->grace_ms <= grace_ms)
		return;
	rank->grace_ms = grace_ms;
	rank->page->report.was_stopped =
		rank->page->report.state == NODE_RANK_RUNS;
	keeper_order(&rank->keeper, grace_ms ? KEEPER_STOP : KEEPER_KILL,
		     grace_ms);
}

/* A file of the folder as a number; -1: it is not there, or says none. */
static int64_t number_of_file(const struct node_rank *rank, const char *name)
{
	char *path = xasprintf("%s/%s", rank->folder, name);
	struct strbuf read = STRBUF_INIT;
	int64_t number = -1;

	if (textfile_read(path, NUMBER_MAX, &read, NULL) == 0)
		(void)integer_parse(strbuf_text(&read), &number, NULL);
	strbuf_release(&read);
	free(path);
	return number;
}

/* It is being removed: the file is there from before the first rank. */
static bool is_abandoned(const struct node_rank *rank)
{
	char *path = xasprintf("%s/alive", rank->folder);
	bool is_gone = access(path, F_OK) < 0 && errno == ENOENT;

	free(path);
	return is_gone;
}

static void freeze_or_thaw(struct node_rank *rank, bool is_to_be)
{
	if (is_to_be != rank->is_frozen)
		keeper_order(&rank->keeper,
			     is_to_be ? KEEPER_FREEZE : KEEPER_THAW, 0);
	rank->is_frozen = is_to_be;
}

static void look_for_orders(struct node_rank *rank, int64_t now_ms)
{
	int64_t grace_ms = number_of_file(rank, "stop");
	int64_t alive = number_of_file(rank, "alive");

	freeze_or_thaw(rank, number_of_file(rank, "frozen") >= 0);
	if (rank->is_frozen || alive != rank->alive)
		rank->alive_ms = now_ms;
	rank->alive = alive;
	if (grace_ms >= 0)
		end_command(rank, grace_ms);
	else if (is_abandoned(rank) || now_ms - rank->alive_ms > ABANDONED_MS)
		end_command(rank, 0);
}

static void node_rank_report(struct node_rank *rank)
{
	struct node_report *report = &rank->page->report;
	struct host_available memory = { 0 };
	struct error err = ERROR_INIT;

	if (host_available_read(&memory, "/proc", NULL) == 0)
		report->available_bytes = memory.available_bytes;
	report->oom_kills =
		host_cgroup_oom_kills(NULL) - rank->oom_kills_before;
	if (is_abandoned(rank))
		return;
	report->beats++;
	report->now_ns = (uint64_t)clock_ms() * UINT64_C(1000000);
	channel_read_slots(&rank->channel, rank->page->slots);
	if (node_report_write(rank->folder, rank->page, &err) < 0 &&
	    access(rank->folder, F_OK) == 0)
		log_verbose("%s", err.message);
}

/* Into what srun passes on; output that nobody takes is let go. */
static void pass_on(struct pollfd *from, int to)
{
	char piece[OUTPUT_PIECE];
	ssize_t got;

	if (!from->revents)
		return;
	got = read(from->fd, piece, sizeof(piece));
	if (got > 0)
		(void)file_write_all(to, piece, (size_t)got);
	else if (got == 0 || errno != EINTR)
		from->fd = -1;
}

static void look_and_report(struct node_rank *rank)
{
	int64_t now_ms = clock_ms();

	if (!rank->is_frozen)
		host_observer_sample(rank->observer, now_ms, 0,
				     &rank->page->report.host);
	if (now_ms >= rank->next_orders_ms) {
		rank->next_orders_ms = now_ms + ORDERS_MS;
		look_for_orders(rank, now_ms);
	}
	if (now_ms < rank->next_report_ms)
		return;
	rank->next_report_ms = now_ms + REPORT_MS;
	node_rank_report(rank);
}

static void run_rank(struct node_rank *rank)
{
	struct pollfd polls[] = {
		{ .fd = rank->keeper.control, .events = POLLIN },
		{ .fd = rank->keeper.out, .events = POLLIN },
		{ .fd = rank->keeper.err, .events = POLLIN },
		{ .fd = rank->signals, .events = POLLIN },
	};
	struct keeper_message message;
	struct signalfd_siginfo info;
	int got;

	while (!rank->is_gone || polls[1].fd >= 0 || polls[2].fd >= 0) {
		(void)poll(polls, sizeof(polls) / sizeof(*polls), LOOK_MS);
		pass_on(&polls[1], STDOUT_FILENO);
		pass_on(&polls[2], STDERR_FILENO);
		while (!rank->is_gone &&
		       (got = keeper_receive(&rank->keeper, &message)) != 0) {
			if (got > 0)
				take_keeper_message(rank, &message);
			else
				rank->is_gone = true;
		}
		if (rank->is_gone)
			polls[0].fd = -1;
		if (read(rank->signals, &info, sizeof(info)) > 0)
			end_command(rank, TERM_GRACE_MS);
		if (!rank->is_gone)
			look_and_report(rank);
	}
}

static int open_end_signals(void)
{
	static const int ends[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		(void)sigaddset(&set, ends[i]);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* srun tells of it as it would of the command. */
static int end_by_status(int status)
{
	sigset_t set;

	if (!WIFSIGNALED(status))
		return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_NO_REPORT;
	(void)signal(WTERMSIG(status), SIG_DFL);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, WTERMSIG(status));
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void)raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

/*
 * The folder is being removed, and a report may have come in between: then
 * what is this rank's goes now, and with it the folders, once they are empty.
 */
static void remove_rank_folder(const struct node_rank *rank)
{
	char *folder = xstrdup(rank->folder);
	char *slash = strrchr(folder, '/');

	paths_remove_tree(rank->own);
	node_report_remove(rank->folder, rank->page->report.rank);
	(void)rmdir(folder);
	if (slash)
		*slash = '\0';
	(void)rmdir(folder);
	free(folder);
}

static int rank_to_its_end(struct node_rank *rank, const struct strlist *argv)
{
	struct node_report *report = &rank->page->report;

	run_rank(rank);
	report->state = NODE_RANK_OVER;
	node_rank_report(rank);
	if (is_abandoned(rank))
		remove_rank_folder(rank);
	(void)host_observer_remove_shm(rank->observer);
	if (!rank->exec_errno)
		return report->wait_status;
	log_error("cannot execute %s: %s", argv->items[0],
		  strerror(rank->exec_errno));
	return (rank->exec_errno == ENOENT ? EXIT_NOT_THERE : EXIT_NOT_RUN)
	       << 8;
}

static void node_rank_release(struct node_rank *rank)
{
	host_observer_close(rank->observer);
	keeper_close(&rank->keeper);
	channel_close(&rank->channel);
	if (rank->signals >= 0)
		(void)close(rank->signals);
	free(rank->own);
	free(rank->page);
	strlist_release(&rank->environment);
}

int node_rank_run(const struct process_state *state, const char *folder,
		  const struct strlist *argv)
{
	struct node_rank rank = {
		.folder = folder,
		.keeper = { .control = -1, .out = -1, .err = -1 },
		.alive_ms = clock_ms(),
		.grace_ms = -1,
		.oom_kills_before = host_cgroup_oom_kills(NULL),
	};
	struct error err = ERROR_INIT;
	int status = EXIT_NO_REPORT << 8;

	rank.page = xcalloc(1, sizeof(*rank.page));
	rank.page->report.rank = rank_number();
	node_report_where(rank.page->report.node);
	rank.own = node_report_folder(folder, rank.page->report.rank);
	rank.signals = open_end_signals();
	if (rank.page->report.rank < 0)
		log_error("SLURM_PROCID is no number of a rank");
	else if (is_to_start(&rank, &err) &&
		 start_rank(&rank, state, argv, &err) == 0)
		status = rank_to_its_end(&rank, argv);
	else
		log_error("%s", err.message);
	node_rank_release(&rank);
	return end_by_status(status);
}
