/* One probe of a tuning: its command, its scratch, its course. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_SESSION_PROBE_H
#define AUTOFIT_LAUNCHER_TUNING_SESSION_PROBE_H

#include "launcher/tuning/session_internal.h"

#include <stdbool.h>

/* What came of it; the outcome's texts are the probe's. */
struct probe_report {
	struct probe *probe;
	struct probe_outcome outcome;
	char *why; /* one line */
	char *log; /* path */
	/* A program that would have done work elsewhere, with a few words;
	 * NULL: there was none. */
	char *called;
	/* It failed by something that autofit had added: the next probe goes
	 * without it. */
	bool drops_addition;
};

/* Run one probe to its end. 0, or a negative errno of autofit's own. */
int session_probe_run(struct session *session, const struct plan_step *step,
		      struct probe_report *report, struct error *err);
void probe_report_release(struct probe_report *report);

#endif
