/* One night: every job of the list, and what came of it. */
/* SPDX-License-Identifier: MIT */
/*
 * A job is `autofit tune` in a process of its own, so that every promise of a
 * tuning holds: locks, isolation, journal, record. The row of a job is written
 * to the summary when the job is over; a night that was killed goes on with
 * the first job that has none, and the journal of that job's tuning with the
 * first probe that is missing.
 */
#include "launcher/nightly/night.h"

#include "base/alloc.h"
#include "base/textfile.h"
#include "launcher/nightly/night_files.h"
#include "launcher/nightly/night_loop.h"
#include "launcher/nightly/night_task.h"
#include "launcher/request/end_signals.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HOST_BYTES 65

/* Done in this night, as the list says it now. */
static bool is_done(const struct night_row *row, const struct job *job)
{
	char *definition = night_task_definition(job);
	bool is_same =
		row->definition && strcmp(row->definition, definition) == 0;

	free(definition);
	return is_same && row->state != NIGHT_NOT_RUN;
}

/* A row for each job, in the order of the list; what it holds stays. */
static void arrange_rows(struct night_run *run)
{
	struct night arranged = { .started = run->now.started,
				  .host = run->now.host };

	for (size_t i = 0; i < run->jobs->count; i++) {
		const struct job *job = &run->jobs->items[i];
		const struct night_row *there =
			night_find(&run->now, job->name);
		struct night_row *row = night_add(&arranged);

		if (there && is_done(there, job))
			night_row_copy(row, there);
		else
			night_row_begin(row, job);
	}
	run->now.host = NULL;
	night_release(&run->now);
	run->now = arranged;
}

static void set_host(struct night *night)
{
	char host[HOST_BYTES] = "";

	free(night->host);
	night->host = NULL;
	if (gethostname(host, sizeof(host) - 1) == 0)
		night->host = xstrdup(host);
}

int night_run(struct night_run *run, struct error *err)
{
	int64_t now = (int64_t)time(NULL);
	char *runs = xasprintf("%s/runs", run->jobs->results);
	int result = night_files_open(run->jobs->results, now, &run->now,
				      &run->last, err);

	if (result == 0)
		result = folder_make(runs, 0755, err);
	free(runs);
	if (result < 0)
		return result;
	if (!run->now.started)
		run->now.started =
			now > run->last.started ? now : run->last.started + 1;
	set_host(&run->now);
	arrange_rows(run);
	result = night_loop(run, err);
	if (result == 0)
		result = night_files_write(run->jobs->results, &run->now, err);
	if (!run->signal_number)
		run->signal_number = end_signals_waiting();
	return result;
}

void night_run_release(struct night_run *run)
{
	night_release(&run->now);
	night_release(&run->last);
}
