/* What became of a job: its result into the row, its record to its places. */
/* SPDX-License-Identifier: MIT */
#include "launcher/nightly/night_conclude.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/textfile.h"
#include "configs/files/json_bounded.h"
#include "launcher/nightly/night_files.h"
#include "launcher/nightly/publish.h"

#include <stdlib.h>

#define RESULT_FILE_MAX ((size_t)16 << 20)

static void set_message(struct night_row *row, char *message)
{
	free(row->message);
	row->message = message;
}

static void night_row_fails(struct night_row *row, char *message)
{
	row->state = NIGHT_FAILING;
	set_message(row, message);
}

void night_row_stopped(struct night_row *row, bool is_late)
{
	row->state = NIGHT_NOT_RUN;
	set_message(row, xasprintf("stopped %s; it goes on the next time",
				   is_late ? "at --until" : "by a signal"));
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

void night_conclude(const struct night_run *run,
		    const struct executor_task *task, struct night_row *row)
{
	struct strbuf text = STRBUF_INIT;

	if (task->message)
		night_row_fails(row, xstrdup(task->message));
	else if (!read_result(row, task->json, &text))
		night_row_fails(row, xasprintf("its result cannot be read: see "
					       "%s",
					       task->log));
	else if (row->state == NIGHT_OK)
		keep_record(run, task->job, row, &text);
	strbuf_release(&text);
}
