/* A small process between autofit and a probe's command, that cleans up. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_KEEPER_KEEPER_H
#define AUTOFIT_PROBES_KEEPER_KEEPER_H

#include "base/error.h"
#include "base/strlist.h"
#include "probes/isolation/isolation.h"
#include "probes/observers/host/host.h"
#include "probes/process/process_state.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct zygote;

/*
 * A probe must leave no process behind, whoever dies first. So a small process
 * stands between autofit and the command:
 *
 *	autofit --fork--> keeper --fork, exec--> command --> workers...
 *
 * Starts: autofit forks the keeper (the same program, without exec) in a
 * session of its own, the keeper starts the command, the command whatever it
 * likes, in other sessions too (torchrun's workers).
 * Watches: the keeper sends messages over a socket, autofit sends orders back.
 * Reaps: the keeper is the subreaper. A process whose parent ends becomes its
 * child, so no descendant can leave the tree. Autofit reaps the keeper alone.
 * Survives: the keeper ends only when it has no child left. Until then it holds
 * the locks of the devices, so that a new tuning waits for the old tree.
 *
 * When one of them dies:
 *  - The command: KEEPER_EXITED. What it left running may end by itself for a
 *    second; then KEEPER_ABANDONED, and it is killed.
 *  - A process of the tree by a SIGKILL that is not ours: counted, and told in
 *    KEEPER_GONE. It is how the kernel's out-of-memory killer shows.
 *  - Autofit: the socket closes and PDEATHSIG comes. The keeper kills the tree
 *    and removes scratch folder, copies and cgroup, which autofit does itself
 *    when it lives.
 *  - The keeper: PDEATHSIG kills the command, the rest falls to autofit, which
 *    is a subreaper as well. The socket ends without KEEPER_GONE, so autofit
 *    calls keeper_sweep, and the probe is repeated.
 *  - Both: the next autofit that takes the lock finds the probe's mark in it
 *    and calls keeper_rescue.
 */
struct keeper_spec {
	/* The process that is to fork keeper and command, see zygote.h; NULL:
	 * autofit forks the keeper, and the keeper starts argv by exec. */
	struct zygote *zygote;
	const struct strlist *argv;
	const struct strlist *environment;
	const struct process_state *state; /* given back to the command */
	const char *mark; /* of its limits too, see limit_mark.h; NULL: none */
	const struct host_cgroup *cgroup;       /* NULL: none */
	const struct isolation_spec *isolation; /* NULL: none */
	/* Removed at the end when autofit is gone; NULL: nothing to remove. */
	const char *scratch;
	const struct strlist
		*extra_files; /* with folders that are empty; NULL: none */
	const int *lock_fds;  /* kept open by the keeper alone */
	size_t lock_count;
	const int *channel_fd; /* the command has it as CHANNEL_COMMAND_FD */
};

/* What the keeper tells, one message each, over a SOCK_SEQPACKET socket. */
enum keeper_event {
	KEEPER_STARTED = 1,      /* pid of the command */
	KEEPER_EXEC_FAILED,      /* value: errno */
	KEEPER_ISOLATION_FAILED, /* value: errno; the command never ran */
	KEEPER_EXITED,           /* value: wait status of the command */
	KEEPER_ABANDONED,        /* it exited, and what it left does not end */
	/* After KEEPER_FREEZE: every process is stopped, or was told to for
	 * two seconds and more. */
	KEEPER_FROZEN,
	KEEPER_GONE, /* value: processes that died by a SIGKILL not its own */
};

struct keeper_message {
	int32_t event; /* enum keeper_event */
	int32_t pid;
	int32_t value;
	/* KEEPER_EXITED: of the command, file pages too; 0: no more than the
	 * keeper, whose memory it had before it became the command. */
	int32_t max_rss_kib;
};

enum keeper_order {
	KEEPER_STOP = 1, /* TERM, grace, then KILL, over the whole tree */
	KEEPER_KILL,     /* KILL at once */
	KEEPER_FREEZE,   /* stop every process; answered by KEEPER_FROZEN */
	KEEPER_THAW,
};

struct keeper {
	pid_t pid;
	int control;  /* non-blocking; messages in, orders out */
	int out, err; /* read ends of the command's stdout and stderr */
};

/*
 * Forks the keeper, which starts the command with stdin from /dev/null and no
 * other descriptor of autofit's. Descriptors of *keeper are close-on-exec. The
 * caller reaps keeper->pid, and closes the keeper in the end; after a failure
 * there is nothing to close.
 */
int keeper_start(struct keeper *keeper, const struct keeper_spec *spec,
		 struct error *err);

/* Closes the descriptors; a keeper that was not reaped ends then, and is. */
void keeper_close(struct keeper *keeper);

/* Send an order; a keeper that is gone is no error. */
void keeper_order(const struct keeper *keeper, enum keeper_order order,
		  int64_t grace_ms);

/* One that somebody has stopped goes on: it would obey no order, and tell of
 * no end. */
void keeper_wake(const struct keeper *keeper);

/* 1: a message was read; 0: none waits; -EPIPE: the keeper is gone. */
int keeper_receive(const struct keeper *keeper, struct keeper_message *message);

/*
 * After a keeper died without KEEPER_GONE: kill and reap what it left. Only
 * processes that carry the mark (NAME=value of their environment), were in
 * the keeper's session or stand in pids are touched, with their descendants.
 */
void keeper_sweep(pid_t keeper_pid, const char *mark, const pid_t *pids,
		  size_t count);

/*
 * After autofit and keeper were both killed: kill the same user's processes
 * that carry the mark and started at or after start_time. Returns how many.
 */
size_t keeper_rescue(const char *mark, uint64_t start_time);

#endif
