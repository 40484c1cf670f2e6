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

/* Tasks that ask Slurm for the same, as elements 0 to count - 1. */
struct slurm_array {
	struct executor_task **tasks;
	size_t count, at_once;
	char *name;          /* in Slurm */
	const char *program; /* autofit's own path */
};

/* The name, without its end, of an array's files: those of its first job and of
 * so many others. The caller frees. */
char *slurm_array_file(const struct slurm_array *array);

/*
 * One script for all of them; each has the log that it would have alone. What
 * Slurm itself says of them goes to the array's own log.
 */
void slurm_script_array(const struct slurm_array *array, struct strbuf *out);

/*
 * The last line of the script of a task that was submitted as an element of
 * the array of that name; and what such a line says. False: text is none. The
 * caller frees name.
 */
void slurm_add_element(struct strbuf *script, int64_t element,
		       const char *name);
bool slurm_read_element(const char *text, int64_t *element, char **name);

/* GPUs that the job asks for on all its nodes: of "gpu:h100:2" 2 on each. */
int64_t slurm_gpu_count(const struct job_slurm *slurm);

#endif
