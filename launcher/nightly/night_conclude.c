/* What became of a job: its result into the row, its record to its places. */
/* SPDX-License-Identifier: MIT */
#include "launcher/nightly/night_conclude.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/textfile.h"
#include "configs/files/json_bounded.h"
#include "configs/records/record.h"
#include "configs/records/record_files.h"
#include "launcher/nightly/night_files.h"
#include "launcher/records/records_share.h"

#include <stdlib.h>
#include <string.h>

#define RESULT_FILE_MAX ((size_t)16 << 20)

/* One that is as new is there already. A damaged file is none. */
static bool has_newer(const struct record *record, const char *folder)
{
	struct strlist files = STRLIST_INIT;
	bool found = false;

	(void)record_list_fitting(&files, folder, record->identity, NULL);
	for (size_t i = 0; i < files.count && !found; i++) {
		struct record there;

		if (record_read(&there, files.items[i], NULL) < 0)
			continue;
		found = strcmp(there.identity, record->identity) == 0 &&
			there.created >= record->created;
		record_release(&there);
	}
	strlist_release(&files);
	return found;
}

/*
 * Into site/records, readable by all, replaced as a whole and synced. A record
 * of the same identity that is there and not older stays: 0; 1: written.
 */
static int publish_record(const struct record *record, const char *site,
			  struct error *err)
{
	char *folder = xasprintf("%s/records", site);
	struct strbuf text = STRBUF_INIT;
	struct record copy;
	int result = record_format(record, &text, err);

	if (result == 0 && has_newer(record, folder)) {
		strbuf_release(&text);
		free(folder);
		return 0;
	}
	if (result == 0)
		result = record_parse(&copy, record->id, &text, err);
	if (result == 0) {
		record_share_strip(&copy);
		result = record_publish(&copy, folder, err);
		record_release(&copy);
	}
	strbuf_release(&text);
	free(folder);
	return result < 0 ? result : 1;
}

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
