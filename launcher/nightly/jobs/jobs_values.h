/* The values of a job list: checked, and put into the job. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_NIGHTLY_JOBS_JOBS_VALUES_H
#define AUTOFIT_LAUNCHER_NIGHTLY_JOBS_JOBS_VALUES_H

#include "launcher/nightly/jobs/jobs_lines.h"

/* Takes the lines of [defaults], or of the job itself, into the job. */
void job_apply_section(struct jobs_reader *reader, struct job *job,
		       const struct job_section *section);

/*
 * The program of the job's command can be started; one with a slash is looked
 * for where the job starts. line is that of its command.
 */
void job_check_program(struct jobs_reader *reader, const struct job *job,
		       unsigned line);

/* The path as seen from the folder of the list, ~ being the home; the caller
 * frees. */
char *jobs_absolute_path(const struct jobs_reader *reader, const char *path);

#endif
