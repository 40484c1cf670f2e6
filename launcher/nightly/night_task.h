/* A job of the list as a call of `autofit tune`. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_NIGHTLY_NIGHT_TASK_H
#define AUTOFIT_LAUNCHER_NIGHTLY_NIGHT_TASK_H

#include "launcher/nightly/executor/executor.h"
#include "launcher/nightly/night_row.h"

/*
 * A hash of the job as the list says it: another command, directory or option
 * is another job of the same name. The caller frees.
 */
char *night_task_definition(const struct job *job);

/*
 * The task of a job whose results are below folder. started and attempt make
 * its mark another one than in other nights and attempts.
 */
void night_task_begin(struct executor_task *task, const struct job *job,
		      const char *folder, int64_t started, unsigned attempt);

/* An empty row of the job, which has not run. */
void night_row_begin(struct night_row *row, const struct job *job);

#endif
