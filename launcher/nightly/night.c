/* One night: every job of the list, one after another, and what came of it. */
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
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/textfile.h"
#include "configs/files/json_bounded.h"
#include "launcher/command/text/shellquote.h"
#include "launcher/command/text/text.h"
#include "launcher/nightly/executor.h"
#include "launcher/nightly/night_compare.h"
#include "launcher/nightly/night_files.h"
#include "launcher/nightly/night_text.h"
#include "launcher/nightly/publish.h"
#include "launcher/options/exitcode.h"
#include "launcher/request/end_signals.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RESULT_FILE_MAX ((size_t)16 << 20)
/* A disturbed job is repeated once. */
#define ATTEMPTS 2
#define HOST_BYTES 65
#define DAY_SECONDS (INT64_C(24) * 3600)

static void night_hash_text(uint64_t *hash, const char *text)
{
	for (; *text; text++)
		*hash = hash_byte(*hash, *text);
	*hash = hash_byte(*hash, '\0');
}

static void hash_list(uint64_t *hash, const struct strlist *list)
{
	for (size_t i = 0; i < list->count; i++)
		night_hash_text(hash, list->items[i]);
	*hash = hash_byte(*hash, '\1');
}

/* Another command, directory or option is another job of the same name. */
static char *definition_of(const struct job *job)
{
	uint64_t hash = HASH_START;

	hash_list(&hash, &job->command);
	night_hash_text(&hash, job->directory);
	hash_list(&hash, &job->environment);
	hash_list(&hash, &job->options);
	return xasprintf("%016" PRIx64, hash);
}

/* Milliseconds of clock_ms at the next time of day that is HH:MM; 0: none. */
static int64_t deadline_of(const char *until)
{
	time_t now = time(NULL);
	struct tm day;
	int64_t left;

	if (!until || !localtime_r(&now, &day))
		return 0;
	day.tm_hour = (int)strtol(until, NULL, 10);
	day.tm_min = (int)strtol(strchr(until, ':') + 1, NULL, 10);
	day.tm_sec = 0;
	day.tm_isdst = -1;
	left = (int64_t)mktime(&day) - (int64_t)now;
	return clock_ms() + (left > 0 ? left : left + DAY_SECONDS) * 1000;
}

static void arguments_of(const struct job *job, const char *json,
			 struct strlist *out)
{
	strlist_add(out, "autofit");
	strlist_add(out, "tune");
	strlist_add_all(out, (const char *const *)job->options.items,
			job->options.count);
	strlist_addf(out, "--json=%s", json);
	strlist_add(out, "--");
	strlist_add_all(out, (const char *const *)job->command.items,
			job->command.count);
}

static void set_message(struct night_row *row, char *message)
{
	free(row->message);
	row->message = message;
}

/* What the tuning wrote, into the row; text receives it. False: nothing. */
static bool read_result(struct night_row *row, const char *path,
			struct strbuf *text)
{
	json_t *root = NULL;

	if (textfile_read(path, RESULT_FILE_MAX, text, NULL) == 0)
		root = json_bounded(path, strbuf_text(text), text->length,
				    false, NULL);
	if (root)
		night_row_take_result(row, root);
	json_decref(root);
	return root != NULL;
}

/* The path of the record that a result names. The caller frees. */
static char *record_path(const struct strbuf *result)
{
	json_t *root = json_loadb(result->data, result->length, 0, NULL);
	const char *path = json_string_value(
		json_object_get(json_object_get(root, "record"), "path"));
	char *copy = path ? xstrdup(path) : NULL;

	json_decref(root);
	return copy;
}

/* The record goes to the row, to best/, and to the site. */
static void keep_record(const struct night_run *run, const struct job *job,
			struct night_row *row, const struct strbuf *result)
{
	char *path = record_path(result);
	struct error err = ERROR_INIT;
	struct record record;

	if (!path || record_read(&record, path, &err) < 0) {
		log_warning("%s: its record is not kept: %s", job->name,
			    path ? err.message : "the tuning names none");
		free(path);
		return;
	}
	night_row_take_record(row, &record);
	if (night_files_write_best(run->jobs->results, job, &record,
				   strbuf_text(result), &err) < 0)
		log_warning("%s: %s", job->name, err.message);
	if (run->jobs->publish &&
	    publish_record(&record, run->jobs->publish, &err) < 0)
		log_warning("%s is not published: %s", job->name, err.message);
	record_release(&record);
	free(path);
}

/* One start of the tuning. */
static int attempt(struct night_run *run, const struct job *job,
		   int64_t deadline, struct night_row *row, struct error *err)
{
	const char *folder = run->jobs->results;
	char *json = xasprintf("%s/runs/%s.json", folder, job->name);
	char *log = xasprintf("%s/runs/%s.log", folder, job->name);
	struct strlist arguments = STRLIST_INIT;
	struct strbuf text = STRBUF_INIT;
	const struct executor_start start = { &arguments,     &job->environment,
					      job->directory, log,
					      run->state,     deadline };
	struct executor_end end;
	int result;

	arguments_of(job, json, &arguments);
	(void)unlink(json);
	result = executor_run(&start, &end, err);
	if (result == 0 && !read_result(row, json, &text)) {
		row->state = NIGHT_FAILING;
		set_message(row, xasprintf("autofit tune ended with %d and "
					   "says nothing: see %s",
					   end.status, log));
	}
	if (result == 0 && (end.signal_number || end.is_late)) {
		run->signal_number = end.signal_number;
		row->state = NIGHT_NOT_RUN;
		set_message(row, xasprintf("stopped %s; it goes on the next "
					   "time",
					   end.is_late ? "at --until"
						       : "by a signal"));
	} else if (result == 0 && row->state == NIGHT_OK) {
		keep_record(run, job, row, &text);
	}
	strbuf_release(&text);
	strlist_release(&arguments);
	free(json);
	free(log);
	return result;
}

static void row_begin(struct night_row *row, const struct job *job)
{
	char *name = xstrdup(job->name);

	night_row_release(row);
	row->name = name;
	row->definition = definition_of(job);
	row->is_required = !job->is_optional;
	row->command = shell_quote_all(&job->command);
}

static void say(const struct night_run *run, size_t at,
		const struct night_row *row, bool is_known)
{
	struct strbuf line = STRBUF_INIT;

	if (run->options->output.quiet)
		return;
	strbuf_addf(&line, "[%zu/%zu] %s: ", at + 1, run->jobs->count,
		    row->name);
	night_line(row, &line);
	(void)fprintf(stderr, "%s%s\n", strbuf_text(&line),
		      is_known ? " (done before)" : "");
	strbuf_release(&line);
}

static int run_job(struct night_run *run, const struct job *job,
		   int64_t deadline, struct night_row *row, struct error *err)
{
	int result = 0;

	for (int i = 0; i < ATTEMPTS && result == 0 && !run->signal_number;
	     i++) {
		row_begin(row, job);
		result = attempt(run, job, deadline, row, err);
		if (!row->outcome || strcmp(row->outcome, "disturbed") != 0)
			break;
	}
	night_compare(row, night_find(&run->last, job->name));
	return result;
}

/* Done in this night, as the list says it now. */
static bool is_done(const struct night_row *row, const struct job *job)
{
	char *definition = definition_of(job);
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
			row_begin(row, job);
	}
	run->now.host = NULL;
	night_release(&run->now);
	run->now = arranged;
}

/* Another job than --only: as the last night had it. */
static void carry_over(struct night_run *run, struct night_row *row)
{
	const struct night_row *old = night_find(&run->last, row->name);

	if (row->state == NIGHT_NOT_RUN && old) {
		night_row_copy(row, old);
		row->change = CHANGE_NONE;
	}
}

static int night_run_all(struct night_run *run, struct error *err)
{
	int64_t deadline = deadline_of(run->options->nightly.until);
	const char *only = run->options->nightly.only;
	bool is_stopped = false;
	int result = 0;

	assert(run->now.count == run->jobs->count);
	/* A list without jobs is a mistake, and never comes here. */
	if (!run->now.rows)
		return 0;
	for (size_t i = 0; i < run->jobs->count && result == 0; i++) {
		const struct job *job = &run->jobs->items[i];
		struct night_row *row = &run->now.rows[i];

		if (only && strcmp(only, job->name) != 0) {
			carry_over(run, row);
			continue;
		}
		is_stopped = is_stopped || run->signal_number ||
			     end_signals_waiting() ||
			     (deadline && clock_ms() >= deadline);
		if (is_stopped && row->state == NIGHT_NOT_RUN)
			continue;
		if (row->state != NIGHT_NOT_RUN) {
			say(run, i, row, true);
			continue;
		}
		result = run_job(run, job, deadline, row, err);
		say(run, i, row, false);
		is_stopped = is_stopped || row->state == NIGHT_NOT_RUN;
		if (result == 0)
			result = night_files_write(run->jobs->results,
						   &run->now, err);
	}
	if (!is_stopped && result == 0)
		run->now.finished = (int64_t)time(NULL);
	return result;
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
	result = night_run_all(run, err);
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
