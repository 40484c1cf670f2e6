/* `autofit show`: the records of this user, read from their folder. */
/* SPDX-License-Identifier: MIT */
#include "launcher/records.h"

#include "base/alloc.h"
#include "base/log.h"
#include "configs/paths.h"
#include "configs/record.h"
#include "launcher/exitcode.h"
#include "launcher/launch.h"
#include "launcher/show.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void show_all(const struct strlist *paths,
		     const struct report_style *style, struct strbuf *out)
{
	struct record *records = xcalloc(paths->count, sizeof(*records));
	size_t count = 0;

	for (size_t i = 0; i < paths->count; i++) {
		struct error err = ERROR_INIT;

		if (record_read(&records[count], paths->items[i], &err) == 0)
			count++;
		else
			log_warning("%s", err.message);
	}
	show_list(out, style, records, count);
	for (size_t i = 0; i < count; i++)
		record_release(&records[i]);
	free(records);
}

static int show_path(const char *path, const struct report_style *style,
		     struct strbuf *out)
{
	struct record record = RECORD_INIT;
	struct error err = ERROR_INIT;
	int result = record_read(&record, path, &err);

	if (result < 0)
		log_error("%s", err.message);
	else
		show_record(out, style, &record, path);
	record_release(&record);
	return result < 0 ? EXIT_AUTOFIT_FAILED : EXIT_DONE;
}

static int show_name(const struct strlist *paths, const char *name,
		     const struct report_style *style, struct strbuf *out)
{
	for (size_t i = 0; i < paths->count; i++) {
		const char *file = strrchr(paths->items[i], '/');
		size_t length = strlen(name);

		file = file ? file + 1 : paths->items[i];
		if (strncmp(file, name, length) == 0 &&
		    strcmp(file + length, ".ini") == 0)
			return show_path(paths->items[i], style, out);
	}
	log_error("no record is called '%s'; autofit show lists them", name);
	return EXIT_AUTOFIT_FAILED;
}

static int show_command(const struct options *options,
			const struct process_state *state,
			const struct report_style *style, struct strbuf *out)
{
	struct result result = RESULT_INIT;
	struct error err = ERROR_INIT;
	struct job job;
	enum command_outcome outcome = job_prepare(&job, options, state, &err);
	int code = EXIT_DONE;

	if (outcome != COMMAND_OK) {
		launch_refuse(&result, outcome, err.message);
		log_error("%s", err.message);
		code = result.exit_code;
	} else if (launch_find_record(&job, &result)) {
		show_record(out, style, &result.record, result.record_path);
	} else {
		log_error("there is no record of this command here");
		code = EXIT_AUTOFIT_FAILED;
	}
	result_release(&result);
	job_release(&job);
	return code;
}

int records_show_command(const struct options *options,
			 const struct process_state *state)
{
	struct report_style style = launch_style(options);
	struct strlist environment = STRLIST_INIT;
	struct strlist files = STRLIST_INIT;
	struct strbuf out = STRBUF_INIT;
	struct error err = ERROR_INIT;
	struct paths paths;
	int code = EXIT_AUTOFIT_FAILED;

	for (char **item = environ; item && *item; item++)
		strlist_add(&environment, *item);
	style.live = false;
	style.color = style.color && isatty(STDOUT_FILENO);
	if (options->command.count) {
		code = show_command(options, state, &style, &out);
		goto out;
	}
	if (paths_find(&paths, &environment, &err) < 0) {
		log_error("%s", err.message);
		goto out;
	}
	if (access(paths.records, F_OK) == 0 &&
	    record_list(&files, paths.records, &err) < 0)
		log_warning("%s", err.message);
	code = EXIT_DONE;
	if (options->record_name)
		code = show_name(&files, options->record_name, &style, &out);
	else
		show_all(&files, &style, &out);
	paths_release(&paths);
out:
	(void)fwrite(strbuf_text(&out), 1, out.length, stdout);
	if (fflush(stdout) != 0)
		code = EXIT_AUTOFIT_FAILED;
	strbuf_release(&out);
	strlist_release(&files);
	strlist_release(&environment);
	return code;
}
