/* The folder of results: summaries, the best settings, history, records. */
/* SPDX-License-Identifier: MIT */
#include "launcher/nightly/night_files.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/textfile.h"
#include "launcher/nightly/night_text.h"
#include "launcher/records/export_formats.h"
#include "launcher/report/json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NIGHT_SECONDS (INT64_C(18) * 3600)

/* "FOLDER/history/20261125T040000Z.json". The caller frees. */
static char *history_path(const char *folder, int64_t started)
{
	time_t time = (time_t)started;
	char date[32] = "unknown";
	struct tm day;

	if (gmtime_r(&time, &day))
		(void)strftime(date, sizeof(date), "%Y%m%dT%H%M%SZ", &day);
	return xasprintf("%s/history/%s.json", folder, date);
}

/* The paths of all earlier nights, the oldest first: dates sort as names. */
static void list_history(const char *folder, struct strlist *paths)
{
	char *path = xasprintf("%s/history", folder);
	DIR *stream = opendir(path);
	const struct dirent *entry;

	while (stream && (entry = readdir(stream))) {
		size_t length = strlen(entry->d_name);

		if (length >= 6 && entry->d_name[0] != '.' &&
		    strcmp(entry->d_name + length - 5, ".json") == 0)
			strlist_addf(paths, "%s/%s", path, entry->d_name);
	}
	if (stream)
		(void)closedir(stream);
	strlist_sort(paths);
	free(path);
}

/* NULL: there is none. */
static char *newest_history(const char *folder)
{
	struct strlist paths = STRLIST_INIT;
	char *newest;

	list_history(folder, &paths);
	newest = paths.count ? xstrdup(paths.items[paths.count - 1]) : NULL;
	strlist_release(&paths);
	return newest;
}

static int archive(const char *folder, const char *summary,
		   const struct night *night, struct error *err)
{
	char *history = xasprintf("%s/history", folder);
	char *path = history_path(folder, night->started);
	int result = folder_make(history, 0755, err);

	if (result == 0 && rename(summary, path) < 0)
		result = error_set_errno(err, -errno, "cannot move %s to %s",
					 summary, path);
	free(path);
	free(history);
	return result;
}

/* A damaged summary is told of and stays out of the comparison. */
static void read_last(const char *folder, struct night *last)
{
	char *path = newest_history(folder);
	struct error err = ERROR_INIT;

	memset(last, 0, sizeof(*last));
	if (path && night_read(last, path, &err) < 0)
		log_warning("the last night is not compared with: %s",
			    err.message);
	free(path);
}

int night_files_open(const char *folder, int64_t now, struct night *night,
		     struct night *last, struct error *err)
{
	char *summary = xasprintf("%s/summary.json", folder);
	int result = folder_make(folder, 0755, err);

	memset(night, 0, sizeof(*night));
	memset(last, 0, sizeof(*last));
	if (result == 0 && access(summary, F_OK) == 0)
		result = night_read(night, summary, err);
	if (result < 0)
		(void)error_prefix(err, "%s; move it away to begin anew",
				   folder);
	if (result == 0 && night->started &&
	    (night->finished || now - night->started > NIGHT_SECONDS)) {
		result = archive(folder, summary, night, err);
		night_release(night);
	}
	if (result == 0)
		read_last(folder, last);
	free(summary);
	return result;
}

struct night *night_files_read_all(const char *folder, size_t max,
				   size_t *count, struct error *err)
{
	char *summary = xasprintf("%s/summary.json", folder);
	struct strlist paths = STRLIST_INIT;
	struct night *nights = NULL;
	struct night last;
	size_t first;

	*count = 0;
	if (night_read(&last, summary, err) == 0) {
		list_history(folder, &paths);
		first = paths.count + 1 > max ? paths.count + 1 - max : 0;
		nights = xcalloc(paths.count + 1 - first, sizeof(*nights));
		for (size_t i = first; i < paths.count; i++)
			if (night_read(&nights[*count], paths.items[i], NULL) ==
			    0)
				(*count)++;
		nights[(*count)++] = last;
	}
	strlist_release(&paths);
	free(summary);
	return nights;
}

static int night_files_write_file(const char *folder, const char *name,
				  const struct strbuf *text, struct error *err)
{
	char *path = xasprintf("%s/%s", folder, name);
	int result = textfile_replace(path, 0644, strbuf_text(text),
				      text->length, err);

	free(path);
	return result;
}

int night_files_write(const char *folder, const struct night *night,
		      struct error *err)
{
	struct strbuf text = STRBUF_INIT;
	int result;

	night_markdown(night, &text);
	result = night_files_write_file(folder, "summary.md", &text, err);
	strbuf_reset(&text);
	night_csv(night, &text);
	if (result == 0)
		result = night_files_write_file(folder, "summary.csv", &text,
						err);
	strbuf_reset(&text);
	/* The last: it is what a night goes on by. */
	json_write(&text, night_json(night),
		   JSON_INDENT(1) | JSON_REAL_PRECISION(9));
	if (result == 0)
		result = night_files_write_file(folder, "summary.json", &text,
						err);
	strbuf_release(&text);
	return result;
}

/* The file of an export; one that the record cannot be told in is left out. */
static int write_export(const char *folder, const char *name,
			export_text *export, const struct result *result,
			struct error *err)
{
	struct strbuf text = STRBUF_INIT;
	int code = 0;

	if (export(result, &text, NULL) == 0)
		code = night_files_write_file(folder, name, &text, err);
	strbuf_release(&text);
	return code;
}

static int export_arguments(const struct result *result, struct strbuf *out,
			    struct error *err)
{
	return export_add_options(out, &result->record.settings, err);
}

static int export_whole(const struct result *result, struct strbuf *out,
			struct error *err)
{
	return record_format(&result->record, out, err);
}

static const struct best_file {
	const char *name;
	export_text *export;
} best_files[] = {
	{ "command.sh", export_cmd },   { "arguments.txt", export_arguments },
	{ "settings.env", export_env }, { "settings.dotenv", export_dotenv },
	{ "config", export_config },    { "record.ini", export_whole },
};

/* Config files are named as seen from the job's directory. */
static int write_exports(const char *folder, const struct job *job,
			 const struct result *result, struct error *err)
{
	int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int code = 0;

	if (here < 0 || chdir(job->directory) < 0)
		code = error_set_errno(err, -errno, "cannot enter %s",
				       job->directory);
	for (size_t i = 0;
	     i < sizeof(best_files) / sizeof(*best_files) && code == 0; i++)
		code = write_export(folder, best_files[i].name,
				    best_files[i].export, result, err);
	if (here >= 0 && fchdir(here) < 0 && code == 0)
		code = error_set_errno(err, -errno, "cannot go back from %s",
				       job->directory);
	if (here >= 0)
		(void)close(here);
	return code;
}

int night_files_write_best(const char *folder, const struct job *job,
			   const struct record *record, const char *result,
			   struct error *err)
{
	/* A copy of the struct, not of what it owns. */
	const struct result whole = { .record = *record };
	char *best = xasprintf("%s/best/%s", folder, job->name);
	struct strbuf evidence = STRBUF_INIT;
	int code = folder_make(best, 0755, err);

	strbuf_adds(&evidence, result);
	if (code == 0)
		code = night_files_write_file(best, "evidence.json", &evidence,
					      err);
	if (code == 0)
		code = write_exports(best, job, &whole, err);
	strbuf_release(&evidence);
	free(best);
	return code;
}
