/* Where a job of a night runs: the one place that starts processes. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_NIGHTLY_EXECUTOR_H
#define AUTOFIT_LAUNCHER_NIGHTLY_EXECUTOR_H

#include "base/error.h"
#include "base/strlist.h"
#include "probes/process/process_state.h"

#include <stdbool.h>
#include <stdint.h>

struct executor_start {
	const struct strlist *arguments;   /* of autofit, its name first */
	const struct strlist *environment; /* NAME=value to set beside ours */
	const char *directory;
	const char *log; /* file that receives stdout and stderr */
	const struct process_state *state;
	int64_t deadline_ms; /* by clock_ms(); 0: none */
};

struct executor_end {
	int status;        /* its exit code, or 128 and its signal */
	int signal_number; /* that ended the night meanwhile; 0: none */
	bool is_late;      /* it was stopped at the deadline */
};

/*
 * Runs autofit itself (this very program) to its end. A signal that ends the
 * night is passed on, once, and the end is waited for: the job leaves nothing
 * behind and keeps its journal. The caller holds the signals back
 * (end_signals_hold). When the night is killed the job ends too.
 */
int executor_run(const struct executor_start *start, struct executor_end *end,
		 struct error *err);

#endif
