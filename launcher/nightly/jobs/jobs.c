/* The job list of `autofit nightly`: read, and checked as a whole. */
/* SPDX-License-Identifier: MIT */
/*
 * [nightly] says where results go, [defaults] what all jobs share, and each
 * [job NAME] one command. A key is one of a job's own or an option of
 * `autofit tune`, checked by the same table as the command line. Nothing is
 * started before the whole list is right, so a night never fails at its last
 * job for a slip; and so all mistakes are told at once.
 */
#include "launcher/nightly/jobs/jobs.h"

#include "base/alloc.h"
#include "launcher/nightly/jobs/jobs_values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void job_release(struct job *job)
{
	free(job->name);
	free(job->directory);
	strlist_release(&job->command);
	strlist_release(&job->environment);
	strlist_release(&job->options);
}

static void make_job(struct jobs_reader *reader,
		     const struct job_section *defaults,
		     struct job_section *section)
{
	struct jobs *jobs = reader->jobs;
	struct job job = { .name = xstrdup(section->name),
			   .line = section->line,
			   .directory = xstrdup(reader->folder) };
	const struct job_line_text *command = jobs_find_key(section, "command");
	size_t before = jobs->mistakes.count;

	if (defaults)
		job_apply_section(reader, &job, defaults);
	/* Those of the defaults were told when they were checked alone. */
	while (jobs->mistakes.count > before)
		strlist_remove(&jobs->mistakes, jobs->mistakes.count - 1);
	job_apply_section(reader, &job, section);
	if (!command)
		jobs_mistake(reader, section->line,
			     xasprintf("[job %s] has no command: add command = "
				       "...",
				       section->name));
	else if (job.command.count && jobs->mistakes.count == before)
		job_check_program(reader, &job, command->line);
	jobs->items = xgrow(jobs->items, jobs->count, &jobs->capacity,
			    sizeof(*jobs->items));
	jobs->items[jobs->count++] = job;
}

static void take_nightly(struct jobs_reader *reader,
			 const struct job_section *section)
{
	struct jobs *jobs = reader->jobs;

	for (size_t i = 0; i < section->count; i++) {
		const struct job_line_text *line = &section->items[i];
		char *value = jobs_joined_value(line);
		char **slot = strcmp(line->key, "results") == 0 ? &jobs->results
			      : strcmp(line->key, "publish") == 0
				      ? &jobs->publish
				      : NULL;

		if (!slot && strcmp(line->key, "executor") != 0)
			jobs_mistake(
				reader, line->line,
				xasprintf("unknown key '%s': [nightly] has "
					  "results, publish, executor",
					  line->key));
		else if (!slot && strcmp(value, "local") != 0)
			jobs_mistake(reader, line->line,
				     xasprintf("executor '%s' is not in this "
					       "version: write local",
					       value));
		else if (!*value)
			jobs_mistake(reader, line->line,
				     xasprintf("%s is empty: name a folder",
					       line->key));
		else if (slot)
			*slot = jobs_absolute_path(reader, value);
		free(value);
	}
}

/* Two places that are files, or may not be written, end a night late. */
static void jobs_check_folder(struct jobs_reader *reader, const char *key,
			      const char *path)
{
	const struct job_section *section =
		jobs_find_section(reader, SECTION_NIGHTLY, NULL);
	unsigned line = section ? section->line : 1;
	struct stat info;

	for (size_t i = 0; section && i < section->count; i++)
		if (strcmp(section->items[i].key, key) == 0)
			line = section->items[i].line;
	if (stat(path, &info) < 0) {
		if (errno != ENOENT)
			jobs_mistake(reader, line,
				     xasprintf("%s %s: %s; name another folder",
					       key, path, strerror(errno)));
		return;
	}
	if (!S_ISDIR(info.st_mode))
		jobs_mistake(reader, line,
			     xasprintf("%s %s is no folder: name another", key,
				       path));
	else if (access(path, W_OK | X_OK) < 0)
		jobs_mistake(
			reader, line,
			xasprintf("%s %s may not be written: name another, "
				  "or ask its owner",
				  key, path));
}

/* The folder of the list, absolute. */
static char *folder_of_list(const char *path)
{
	char *real = realpath(path, NULL);
	char *slash = real ? strrchr(real, '/') : NULL;

	if (!slash) {
		free(real);
		return xstrdup(".");
	}
	slash[slash == real] = '\0';
	return real;
}

/* Once, for its own mistakes; a job applies it again. */
static void check_defaults(struct jobs_reader *reader,
			   const struct job_section *defaults)
{
	struct job nobody = { .directory = xstrdup(reader->folder) };

	job_apply_section(reader, &nobody, defaults);
	job_release(&nobody);
}

/* [a] before [b] in the file; its number follows "path:". */
static int by_line(const void *a, const void *b, void *context)
{
	const struct jobs_reader *reader = context;
	size_t skip = strlen(reader->path) + 1;
	long first = strtol(*(char *const *)a + skip, NULL, 10);
	long second = strtol(*(char *const *)b + skip, NULL, 10);

	return (first > second) - (first < second);
}

void jobs_read(struct jobs *jobs, const char *path, const struct strbuf *text)
{
	struct jobs_reader reader = { .jobs = jobs,
				      .path = path,
				      .text = strbuf_text(text),
				      .folder = folder_of_list(path) };
	struct error err = ERROR_INIT;
	const struct job_section *defaults, *nightly;

	memset(jobs, 0, sizeof(*jobs));
	jobs_lines_read(&reader, text, &err);
	defaults = jobs_find_section(&reader, SECTION_DEFAULTS, NULL);
	nightly = jobs_find_section(&reader, SECTION_NIGHTLY, NULL);
	if (nightly)
		take_nightly(&reader, nightly);
	if (!jobs->results)
		jobs->results = xasprintf("%s/nightly", reader.folder);
	jobs_check_folder(&reader, "results", jobs->results);
	if (jobs->publish)
		jobs_check_folder(&reader, "publish", jobs->publish);
	if (defaults)
		check_defaults(&reader, defaults);
	for (size_t i = 0; i < reader.count && jobs->count < JOBS_MAX; i++)
		if (reader.sections[i].kind == SECTION_JOB)
			make_job(&reader, defaults, &reader.sections[i]);
	if (!jobs->count && !jobs->mistakes.count)
		jobs_mistake(&reader, 1,
			     xstrdup("there is no job: add [job NAME] with "
				     "command = ..."));
	if (jobs->mistakes.count && !err.code)
		qsort_r(jobs->mistakes.items, jobs->mistakes.count,
			sizeof(*jobs->mistakes.items), by_line, &reader);
	jobs_lines_release(&reader);
}

void jobs_release(struct jobs *jobs)
{
	for (size_t i = 0; i < jobs->count; i++)
		job_release(&jobs->items[i]);
	free(jobs->items);
	free(jobs->results);
	free(jobs->publish);
	strlist_release(&jobs->mistakes);
	memset(jobs, 0, sizeof(*jobs));
}
