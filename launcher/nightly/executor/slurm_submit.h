/* Scripts handed to sbatch: of one job, or of an array of jobs. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_NIGHTLY_EXECUTOR_SLURM_SUBMIT_H
#define AUTOFIT_LAUNCHER_NIGHTLY_EXECUTOR_SLURM_SUBMIT_H

#include "base/error.h"
#include "base/strbuf.h"
#include "launcher/nightly/executor/executor.h"
#include "launcher/nightly/executor/slurm_script.h"

/* NAME.sbatch in the folder of results. The caller frees. */
char *slurm_script_path(const struct executor *executor, const char *name);

/* What a program of Slurm said, as the end of a message: its last line. */
void slurm_add_said(struct strbuf *out, const struct strbuf *answer);

/*
 * Submits the task, whose earlier result is removed. It has its number then,
 * or has ended, with what Slurm says against it. program: autofit's own path.
 * -errno: its files cannot be written.
 */
int slurm_submit_alone(struct executor *executor, struct executor_task *task,
		       const char *program, struct error *err);

/*
 * Submits them as one array, and gives it a name. *id receives its number; 0:
 * Slurm does not take arrays as it is set up, or not this one. -errno: as
 * above. The caller frees the name.
 */
int slurm_submit_array(struct executor *executor, struct slurm_array *array,
		       int64_t *id, struct error *err);

#endif
