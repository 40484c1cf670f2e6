/* What became of a job: its result into the row, its record to its places. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_NIGHTLY_NIGHT_CONCLUDE_H
#define AUTOFIT_LAUNCHER_NIGHTLY_NIGHT_CONCLUDE_H

#include "launcher/nightly/executor/executor.h"
#include "launcher/nightly/night.h"

/*
 * Of a task that has ended: fills the row, and where there is a setting keeps
 * it in best/ and publishes it.
 */
void night_conclude(const struct night_run *run,
		    const struct executor_task *task, struct night_row *row);

/* Stopped on the way; it goes on the next time. */
void night_row_stopped(struct night_row *row, bool is_late);

#endif
