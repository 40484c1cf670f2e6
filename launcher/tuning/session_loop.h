/* The loop of a tuning: signals, Ctrl-Z, the live line, the time limit. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_SESSION_LOOP_H
#define AUTOFIT_LAUNCHER_TUNING_SESSION_LOOP_H

#include "base/strbuf.h"
#include "launcher/request/end_signals.h"
#include "launcher/tuning/plan/plan.h"
#include "launcher/tuning/session.h"
#include "probes/probe.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

/* A probe under way, for the live line and for those who wait. */
struct session_under_way {
	struct probe *probe; /* NULL: none */
	struct plan_step step;
	bool is_forked;    /* by the zygote: it confirms nothing */
	const char *doing; /* "probing", "confirming" */
};

/* So many at a time, the first on the command's own GPU, each other one on one
 * of its own (--parallel). */
#define SESSION_LANES_MAX 8

enum { SESSION_PROGRESS, SESSION_DEADLINE, SESSION_BEAT, SESSION_TIMERS };

/* The signals that are watched: those that end it come first. */
enum { SESSION_SUSPEND = ENDINGS, SESSION_RESIZE, SESSION_SIGNALS };

struct session_loop {
	const struct session_setup *setup;
	uv_loop_t uv;
	bool is_open;
	size_t open_handles;
	uv_signal_t signals[SESSION_SIGNALS];
	uv_timer_t timers[SESSION_TIMERS];
	struct timespec began; /* the tuning, by the wall clock */
	int64_t frame;         /* of the live line */
	struct session_under_way lanes[SESSION_LANES_MAX];
	size_t lane_count; /* of the probe or the round under way */
	int64_t started;   /* probes of this tuning so far */
	int64_t withdrawn; /* of those, cancelled as nothing hung on them */
	/* Why it must end; 0 and false: it need not. */
	int signal_number;
	bool out_of_time;
};

/* Close it, whatever the result. */
int session_loop_open(struct session_loop *loop,
		      const struct session_setup *setup, struct error *err);
void session_loop_close(struct session_loop *loop);

/* Probes of this tuning so far, but for those that were withdrawn. */
int64_t session_loop_probes(const struct session_loop *loop);

/* A probe may not start any more, or must end. */
bool session_loop_must_end(const struct session_loop *loop);
/* The same, after a look at what signals and timers brought meanwhile; for
 * device_locks.must_end. */
bool session_loop_look_up(void *loop);

/* Write text to stderr at once, and empty it. */
void session_print(struct strbuf *text);

#endif
