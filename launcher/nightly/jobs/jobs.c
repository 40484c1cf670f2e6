/* The job list of `autofit nightly`: read, and checked as a whole. */
/* SPDX-License-Identifier: MIT */
/*
 * [nightly] says where results go, [defaults] what all jobs share, [type NAME]
 * what those on one type of device share, and each [job NAME] is one command. A
 * key is one of a job's own or an option of `autofit tune`, checked by the same
 * table as the command line. Nothing is started before the whole list is right,
 * so a night never fails at its last job for a slip; and so all mistakes are
 * told at once.
 */
#include "launcher/nightly/jobs/jobs.h"

#include "base/alloc.h"
#include "base/units.h"
#include "launcher/nightly/jobs/jobs_slurm.h"
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
	strlist_release(&job->types);
	job_slurm_release(&job->slurm);
}

/* The mistakes of a section are told once, when it is checked alone. */
static void apply_silently(struct jobs_reader *reader, struct job *job,
			   const struct job_section *section)
{
	struct strlist *mistakes = &reader->jobs->mistakes;
	size_t before = mistakes->count;

	if (section)
		job_apply_section(reader, job, section);
	while (mistakes->count > before)
		strlist_remove(mistakes, mistakes->count - 1);
}

/* Once, for its own mistakes; a job applies it again. */
static void check_alone(struct jobs_reader *reader,
			const struct job_section *section)
{
	struct job nobody = { .directory = xstrdup(reader->folder) };

	job_apply_section(reader, &nobody, section);
	job_release(&nobody);
}

/* What stands later wins: defaults, type, job. type: NULL for none. */
static void add_job(struct jobs_reader *reader,
		    const struct job_section *section,
		    const struct job_section *type)
{
	struct jobs *jobs = reader->jobs;
	struct job job = { .line = section->line,
			   .directory = xstrdup(reader->folder) };

	job.name = type ? xasprintf("%s@%s", section->name, type->name)
			: xstrdup(section->name);
	apply_silently(reader, &job,
		       jobs_find_section(reader, SECTION_DEFAULTS, NULL));
	apply_silently(reader, &job, type);
	apply_silently(reader, &job, section);
	jobs->items = xgrow(jobs->items, jobs->count, &jobs->capacity,
			    sizeof(*jobs->items));
	jobs->items[jobs->count++] = job;
}

/* The line that names the types of a job. */
static unsigned line_of_types(const struct jobs_reader *reader,
			      struct job_section *section)
{
	const struct job_line_text *line = jobs_find_key(section, "types");

	for (size_t i = 0; i < reader->count && !line; i++)
		if (reader->sections[i].kind == SECTION_DEFAULTS)
			line = jobs_find_key(&reader->sections[i], "types");
	return line ? line->line : section->line;
}

static void add_types(struct jobs_reader *reader, struct job_section *section,
		      const struct job *job)
{
	for (size_t i = 0; i < job->types.count; i++) {
		const char *name = job->types.items[i];
		const struct job_section *type =
			jobs_find_section(reader, SECTION_TYPE, name);

		if (!reader->jobs->is_slurm)
			jobs_mistake(reader, line_of_types(reader, section),
				     xstrdup("types are for Slurm: write "
					     "executor = slurm, or remove "
					     "them"));
		else if (!type)
			jobs_mistake(reader, line_of_types(reader, section),
				     xasprintf("no type is called %s: add "
					       "[type %s] with its partition "
					       "or gres",
					       name, name));
		else
			add_job(reader, section, type);
	}
}

static void make_job(struct jobs_reader *reader, struct job_section *section)
{
	struct job job = { .directory = xstrdup(reader->folder) };
	const struct job_line_text *command = jobs_find_key(section, "command");
	size_t before = reader->jobs->mistakes.count;

	apply_silently(reader, &job,
		       jobs_find_section(reader, SECTION_DEFAULTS, NULL));
	job_apply_section(reader, &job, section);
	if (!command)
		jobs_mistake(reader, section->line,
			     xasprintf("[job %s] has no command: add command = "
				       "...",
				       section->name));
	else if (job.command.count && reader->jobs->mistakes.count == before)
		job_check_program(reader, &job, command->line);
	if (job.types.count)
		add_types(reader, section, &job);
	else
		add_job(reader, section, NULL);
	job_release(&job);
}

static char *take_executor(struct jobs *jobs, const char *value)
{
	jobs->is_slurm = strcmp(value, "slurm") == 0;
	return jobs->is_slurm || strcmp(value, "local") == 0
		       ? NULL
		       : xasprintf("executor '%s' is not in this version: "
				   "write local or slurm",
				   value);
}

static char *take_at_once(struct jobs *jobs, const char *value)
{
	return integer_parse(value, &jobs->at_once, NULL) == 0 &&
			       jobs->at_once >= 1 && jobs->at_once <= JOBS_MAX
		       ? NULL
		       : xasprintf("at-once '%s' is no number from 1 to %d: "
				   "it is how many jobs Slurm has at most",
				   value, JOBS_MAX);
}

static const struct nightly_key {
	const char *key;
	size_t folder; /* of struct jobs; 0: it is none */
	char *(*take)(struct jobs *jobs, const char *value);
} nightly_keys[] = {
	{ "results", offsetof(struct jobs, results), NULL },
	{ "publish", offsetof(struct jobs, publish), NULL },
	{ "executor", 0, take_executor },
	{ "at-once", 0, take_at_once },
};

static const struct nightly_key *nightly_key_of(const char *key)
{
	for (size_t i = 0; i < sizeof(nightly_keys) / sizeof(*nightly_keys);
	     i++)
		if (strcmp(nightly_keys[i].key, key) == 0)
			return &nightly_keys[i];
	return NULL;
}

static void take_nightly(struct jobs_reader *reader,
			 const struct job_section *section)
{
	for (size_t i = 0; i < section->count; i++) {
		const struct job_line_text *line = &section->items[i];
		const struct nightly_key *key = nightly_key_of(line->key);
		char *value = jobs_joined_value(line);
		char *why = NULL;

		if (!key)
			why = xasprintf("unknown key '%s': [nightly] has "
					"results, publish, executor, at-once",
					line->key);
		else if (key->take)
			why = key->take(reader->jobs, value);
		else if (!*value)
			why = xasprintf("%s is empty: name a folder",
					line->key);
		else
			*(char **)((char *)reader->jobs + key->folder) =
				jobs_absolute_path(reader, value);
		if (why)
			jobs_mistake(reader, line->line, why);
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
	const struct job_section *nightly;

	*jobs = (struct jobs){ .at_once = JOBS_AT_ONCE };
	jobs_lines_read(&reader, text, &err);
	nightly = jobs_find_section(&reader, SECTION_NIGHTLY, NULL);
	if (nightly)
		take_nightly(&reader, nightly);
	if (!jobs->results)
		jobs->results = xasprintf("%s/nightly", reader.folder);
	jobs_check_folder(&reader, "results", jobs->results);
	if (jobs->publish)
		jobs_check_folder(&reader, "publish", jobs->publish);
	for (size_t i = 0; i < reader.count; i++)
		if (reader.sections[i].kind == SECTION_DEFAULTS ||
		    reader.sections[i].kind == SECTION_TYPE)
			check_alone(&reader, &reader.sections[i]);
	for (size_t i = 0; i < reader.count && jobs->count < JOBS_MAX; i++)
		if (reader.sections[i].kind == SECTION_JOB)
			make_job(&reader, &reader.sections[i]);
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

bool job_is_named(const struct job *job, const char *name)
{
	size_t length = strlen(name);

	return strncmp(job->name, name, length) == 0 &&
	       (!job->name[length] || job->name[length] == '@');
}
