/* `autofit nightly`: a list of commands tuned, compared and published. */
/* SPDX-License-Identifier: MIT */
#include "launcher/nightly/nightly.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/textfile.h"
#include "launcher/nightly/jobs/jobs.h"
#include "launcher/nightly/night.h"
#include "launcher/nightly/night_compare.h"
#include "launcher/nightly/night_text.h"
#include "launcher/nightly/nightly_init.h"
#include "launcher/nightly/nightly_plan.h"
#include "launcher/options/exitcode.h"
#include "launcher/request/end_signals.h"
#include "probes/locks/lock.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of jobs that a message names. */
#define NAMES_MAX 10

/* Which jobs there are, where none has the name of --only. */
static void say_jobs(const struct jobs *jobs, const char *path,
		     const char *only)
{
	struct strbuf names = STRBUF_INIT;

	for (size_t i = 0; i < jobs->count && i < NAMES_MAX; i++)
		strbuf_addf(&names, "%s %s", i ? "," : "", jobs->items[i].name);
	if (jobs->count > NAMES_MAX)
		strbuf_addf(&names, " and %zu more", jobs->count - NAMES_MAX);
	log_error("%s has no job '%s'; its jobs are%s", path, only,
		  strbuf_text(&names));
	strbuf_release(&names);
}

/* Reads the list; 0 where it is right and has the job of --only. */
static int read_jobs(struct jobs *jobs, const struct options *options)
{
	const char *path = options->import_file;
	const char *only = options->nightly.only;
	struct strbuf text = STRBUF_INIT;
	struct error err = ERROR_INIT;
	bool has_only = only == NULL;
	int result = textfile_read(path, JOBS_FILE_MAX, &text, &err);

	memset(jobs, 0, sizeof(*jobs));
	if (result > 0)
		result = error_set(&err, -EFBIG, "%s: larger than %zu MiB",
				   path, JOBS_FILE_MAX >> 20);
	if (result == 0)
		jobs_read(jobs, path, &text);
	else
		log_error("%s", err.message);
	strbuf_release(&text);
	for (size_t i = 0; i < jobs->mistakes.count; i++)
		(void)fprintf(stderr, "%s\n", jobs->mistakes.items[i]);
	if (jobs->mistakes.count)
		log_error("%s has %zu mistake%s; nothing was started", path,
			  jobs->mistakes.count,
			  jobs->mistakes.count == 1 ? "" : "s");
	if (result < 0 || jobs->mistakes.count)
		return -EINVAL;
	for (size_t i = 0; i < jobs->count; i++)
		has_only = has_only || job_is_named(&jobs->items[i], only);
	if (has_only)
		return 0;
	say_jobs(jobs, path, only);
	return -EINVAL;
}

static void add_last_line(const struct night_run *run, struct strbuf *out,
			  size_t *look)
{
	size_t counts[CHANGE_GONE + 1] = { 0 };
	size_t not_run = 0;

	for (size_t i = 0; i < run->now.count; i++) {
		const struct night_row *row = &run->now.rows[i];

		counts[row->change]++;
		not_run += row->state == NIGHT_NOT_RUN;
		*look += night_needs_look(row);
	}
	strbuf_addf(out, "autofit: %zu job%s:", run->now.count,
		    run->now.count == 1 ? "" : "s");
	for (int change = CHANGE_SAME; change <= CHANGE_FAILING; change++)
		if (counts[change])
			strbuf_addf(
				out, " %zu %s,", counts[change],
				night_change_name((enum night_change)change));
	if (not_run)
		strbuf_addf(out, " %zu not run,", not_run);
	strbuf_addf(out, " %zu to look at; %s/summary.md\n", *look,
		    run->jobs->results);
}

static int write_metrics(const struct night_run *run)
{
	const char *path = run->options->nightly.metrics;
	struct strbuf text = STRBUF_INIT;
	struct error err = ERROR_INIT;
	int result;

	if (!path)
		return 0;
	night_metrics(&run->now, &text);
	result = textfile_give(path, strbuf_text(&text), text.length, &err);
	if (result < 0)
		log_error("--metrics: %s", err.message);
	strbuf_release(&text);
	return result;
}

static int run_night(const struct jobs *jobs, const struct options *options,
		     const struct process_state *state, int *signal_number)
{
	struct night_run run = { .jobs = jobs,
				 .options = options,
				 .state = state };
	struct strbuf line = STRBUF_INIT;
	struct error err = ERROR_INIT;
	size_t look = 0;
	int code = EXIT_AUTOFIT_FAILED;

	if (night_run(&run, &err) < 0) {
		log_error("%s", err.message);
	} else {
		add_last_line(&run, &line, &look);
		code = look ? EXIT_NEEDS_A_LOOK : EXIT_DONE;
		if (!options->output.quiet)
			(void)fputs(strbuf_text(&line), stderr);
		if (write_metrics(&run) < 0)
			code = EXIT_AUTOFIT_FAILED;
	}
	*signal_number = run.signal_number;
	strbuf_release(&line);
	night_run_release(&run);
	return code;
}

/* One night at a time works on a folder of results. */
static int with_lock(const struct jobs *jobs, const struct options *options,
		     const struct process_state *state)
{
	struct lock_note left, note = { .pid = getpid() };
	struct error err = ERROR_INIT;
	int signal_number = 0;
	struct lock lock;
	int code;

	if (lock_take(&lock, jobs->results, "nightly", &left, &err) < 0) {
		if (err.code == -EWOULDBLOCK)
			log_error("another night is working on %s (process "
				  "%ld): wait for it, or name another folder "
				  "for results",
				  jobs->results, (long)left.pid);
		else
			log_error("%s", err.message);
		return EXIT_AUTOFIT_FAILED;
	}
	(void)snprintf(note.command, sizeof(note.command), "autofit nightly");
	if (lock_write(&lock, &note, &err) < 0)
		log_warning("%s", err.message);
	end_signals_hold();
	code = run_night(jobs, options, state, &signal_number);
	lock_release(&lock);
	if (signal_number) {
		(void)fflush(NULL);
		process_state_restore(state);
		(void)signal(signal_number, SIG_DFL);
		(void)raise(signal_number);
	}
	end_signals_let(state);
	return code;
}

int nightly_command(const struct options *options,
		    const struct process_state *state)
{
	struct jobs jobs;
	int code;

	if (options->nightly.init)
		return nightly_init(options, state);
	code = read_jobs(&jobs, options) < 0 ? EXIT_AUTOFIT_FAILED
	       : options->nightly.is_dry_run ? nightly_plan(&jobs, options)
					     : with_lock(&jobs, options, state);
	jobs_release(&jobs);
	return code;
}
