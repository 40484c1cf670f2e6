/* A process that has done a command's imports, and forks probes of it. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_KEEPER_ZYGOTE_H
#define AUTOFIT_PROBES_KEEPER_ZYGOTE_H

#include "base/error.h"
#include "probes/keeper/keeper.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Most of a short probe of a Python program are its imports. The zygote is the
 * command's interpreter, started by exec as that of an earlier probe was, with
 * the step hook in it. Before Python comes to the program, the hook
 * (probes/python/autofit_zygote.py) imports what that probe was seen to import,
 * and waits in the library libautofit_zygote.so (zygote_serve.c) for orders:
 *
 *	autofit --exec--> zygote
 *	                    +--fork--> a helper, which ends at once
 *	                                 +--fork--> keeper, autofit's by that
 *	                                              +--fork--> the command
 *
 * The helper's end makes the keeper a child of autofit, as it is otherwise. The
 * command is a copy of the zygote: it enters its isolation and goes on in the
 * hook, with other arguments and another environment, and Python runs the
 * program as it would have.
 *
 * The zygote refuses where a copy could differ from a fresh start: threads are
 * left, a GPU was touched, or an import wrote a file, started a process or
 * opened a connection (which is kept from happening). It ends with its socket,
 * and dies with autofit.
 */
struct zygote;

struct zygote_spec {
	const struct strlist *argv, *environment; /* the socket's number too */
	const struct process_state *state;        /* given back to it */
};

/* Longest reason for a refusal, with its NUL. */
#define ZYGOTE_TEXT_MAX 120

/* On a SOCK_SEQPACKET socket, from the zygote. */
enum zygote_event {
	ZYGOTE_READY = 1,
	ZYGOTE_REFUSES, /* text */
	ZYGOTE_FORKED,  /* value: pid of the keeper */
	ZYGOTE_FAILED,  /* value: errno; no keeper was forked */
};

struct zygote_message {
	int32_t event; /* enum zygote_event */
	int32_t value;
	char text[ZYGOTE_TEXT_MAX];
};

/*
 * An order to fork, from autofit. Descriptors with it: a file that holds the
 * spec (keeper_parcel.h), the keeper's socket, its pipes for the command's
 * output, the channel if there is one, and the locks.
 */
struct zygote_order {
	int32_t autofit; /* its pid: the keeper's parent */
	int32_t has_channel;
	int32_t lock_count;
};

/* More locks than that are not handed on: no GPU machine has so many. */
#define ZYGOTE_LOCKS_MAX 64
#define ZYGOTE_DESCRIPTORS_MAX (5 + ZYGOTE_LOCKS_MAX)

enum zygote_state {
	ZYGOTE_IMPORTS, /* under way */
	ZYGOTE_SERVES,
	ZYGOTE_OVER, /* it refused, or is gone */
};

/* The caller closes it. */
int zygote_start(struct zygote **zygote, const struct zygote_spec *spec,
		 struct error *err);

/* The process that its probes are copies of. */
pid_t zygote_pid(const struct zygote *zygote);

/* After a wait of at most wait_ms for a change. */
enum zygote_state zygote_look(struct zygote *zygote, int wait_ms);

/* ZYGOTE_OVER: why, in printable words; else "". */
const char *zygote_refusal(const struct zygote *zygote);

/*
 * For keeper.c: the keeper of spec, forked by the zygote that serves. birth as
 * keeper_main() takes it. The pid, or a negative errno, after which the zygote
 * is over.
 */
struct keeper_birth;
pid_t zygote_fork(struct zygote *zygote, const struct keeper_spec *spec,
		  const struct keeper_birth *birth);

/* Ends it. NULL: ok. */
void zygote_close(struct zygote *zygote);

#endif
