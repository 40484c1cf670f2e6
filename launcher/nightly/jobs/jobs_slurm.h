/* The keys of a job that Slurm is told: partition, gres, time, and so on. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_NIGHTLY_JOBS_JOBS_SLURM_H
#define AUTOFIT_LAUNCHER_NIGHTLY_JOBS_JOBS_SLURM_H

#include "launcher/nightly/jobs/jobs_lines.h"

/* All keys, for a message: "partition, account, ...". */
extern const char job_slurm_keys[];

/* The key that was meant by a mistyped one; NULL: none is near. */
const char *job_slurm_suggestion(const char *key);

/*
 * Takes the line into job->slurm, or notes the mistake. False when the key is
 * none of Slurm's. An empty value takes back what a section before it said.
 */
bool job_slurm_take(struct jobs_reader *reader, struct job *job,
		    const struct job_line_text *line, const char *value);

/* They ask Slurm for the same. */
bool job_slurm_equal(const struct job_slurm *a, const struct job_slurm *b);

void job_slurm_release(struct job_slurm *slurm);

#endif
