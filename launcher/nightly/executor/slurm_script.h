/* The batch script of a job, and what it may cost. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_NIGHTLY_EXECUTOR_SLURM_SCRIPT_H
#define AUTOFIT_LAUNCHER_NIGHTLY_EXECUTOR_SLURM_SCRIPT_H

#include "base/strbuf.h"
#include "launcher/nightly/executor/executor.h"

/* The job's name in Slurm: no other job of this night has it. The caller
 * frees. */
char *slurm_job_name(const struct executor_task *task);

/* program: autofit's own path. Its output goes to NAME.log in the folder that
 * it is submitted from. */
void slurm_script(const struct executor_task *task, const char *program,
		  struct strbuf *out);

/* GPUs that the job asks for on all its nodes: of "gpu:h100:2" 2 on each. */
int64_t slurm_gpu_count(const struct job_slurm *slurm);

#endif
