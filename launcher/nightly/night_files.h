/* The folder of results: summaries, the best settings, history, records. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_NIGHTLY_NIGHT_FILES_H
#define AUTOFIT_LAUNCHER_NIGHTLY_NIGHT_FILES_H

#include "base/error.h"
#include "launcher/nightly/jobs/jobs.h"
#include "launcher/nightly/night_row.h"

/*
 * FOLDER/summary.json .md .csv      the night, also while it goes on
 *        runs/JOB.json JOB.log      what the tuning of a job said
 *        best/JOB/                  its setting: command, variables, record
 *        history/DATE.json          earlier nights
 */

/*
 * The night that goes on (it has no end and is of the last 18 hours), else an
 * empty one; last receives the newest night before it. Moves a summary that is
 * over into the history.
 */
int night_files_open(const char *folder, int64_t now, struct night *night,
		     struct night *last, struct error *err);

/*
 * The newest nights of a folder, at most max of them, the last one being its
 * summary.json. The caller releases each and frees the array; NULL: there is
 * no night, and err says why. A damaged one of the history is left out.
 */
struct night *night_files_read_all(const char *folder, size_t max,
				   size_t *count, struct error *err);

/* All three summaries, each replaced as a whole. */
int night_files_write(const char *folder, const struct night *night,
		      struct error *err);

/* best/JOB/ out of the record and the result's text. */
int night_files_write_best(const char *folder, const struct job *job,
			   const struct record *record, const char *result,
			   struct error *err);

#endif
