/* One night: every job of the list, and what came of it. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_NIGHTLY_NIGHT_H
#define AUTOFIT_LAUNCHER_NIGHTLY_NIGHT_H

#include "base/error.h"
#include "launcher/nightly/jobs/jobs.h"
#include "launcher/nightly/night_row.h"
#include "launcher/options/options.h"
#include "probes/process/process_state.h"

struct night_run {
	const struct jobs *jobs;
	const struct options *options;
	const struct process_state *state;
	struct night now, last;
	int signal_number; /* that ended it; 0: none */
};

/*
 * Takes up the night that goes on or begins one, runs what is left of it, and
 * keeps the summaries up to date after each job. 0, or -errno when the folder
 * of results cannot be used; what becomes of a job is in its row.
 */
int night_run(struct night_run *run, struct error *err);
void night_run_release(struct night_run *run);

#endif
