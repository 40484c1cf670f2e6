/* One probe of a tuning: its command, its scratch, its course. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_SESSION_PROBE_H
#define AUTOFIT_LAUNCHER_TUNING_SESSION_PROBE_H

#include "launcher/tuning/session_internal.h"
#include "launcher/tuning/setup/probe_setup.h"

#include <stdbool.h>
#include <stddef.h>

/* What came of it; the outcome's texts are the probe's. */
struct probe_report {
	struct probe *probe; /* NULL: it was not started */
	struct probe_outcome outcome;
	char *why; /* one line */
	char *log; /* path */
	/* A program that would have done work elsewhere, with a few words;
	 * NULL: there was none. */
	char *called;
	/* It failed by something that autofit had added, or maybe by fewer
	 * passes than were asked for: the next probe goes without that. */
	bool drops_addition;
	/* Another GPU than the command's own that it ran on (NULL: there), and
	 * which round of several it was of (0: it ran alone). */
	const char *gpu;
	int64_t round;
};

/* A probe from its question to its report. */
struct session_lane {
	struct plan_step step;
	/* The session's; NULL: the command's own. */
	const struct spare_gpu *gpu;
	struct probe_report report;
	/* Another lane has answered its question: it was cancelled, and says
	 * nothing. */
	bool is_withdrawn;
	size_t place; /* in the loop's lanes */
	struct probe_setup setup;
};

/*
 * Starts the probe of a lane, with step, gpu and place filled in, for the
 * loop's lane_count of them side by side. 0, or a negative errno of autofit's
 * own. Then the caller runs the loop until a look says that it is over (false),
 * and ends it, whatever the result.
 */
int session_probe_begin(struct session *session, struct session_lane *lane,
			struct error *err);
bool session_probe_look(struct session *session, struct session_lane *lane);
void session_probe_end(struct session *session, struct session_lane *lane);
void probe_report_release(struct probe_report *report);

#endif
