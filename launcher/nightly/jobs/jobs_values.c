/* The values of a job list: checked, and put into the job. */
/* SPDX-License-Identifier: MIT */
/*
 * A key is one of a job's own, from the table below, or an option of `autofit
 * tune`, which the table of the command line checks.
 */
#include "launcher/nightly/jobs/jobs_values.h"

#include "base/alloc.h"
#include "launcher/command/text/text.h"
#include "launcher/nightly/jobs/jobs_slurm.h"
#include "launcher/options/options_kinds.h"
#include "launcher/options/options_rows.h"
#include "launcher/request/exec_command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char *jobs_absolute_path(const struct jobs_reader *reader, const char *path)
{
	const char *home = getenv("HOME");

	if (path[0] == '~' && (path[1] == '/' || !path[1]) && home)
		return xasprintf("%s%s", home, path + 1);
	if (path[0] == '/')
		return xstrdup(path);
	return xasprintf("%s/%s", reader->folder, path);
}

typedef void take_value(struct jobs_reader *reader, struct job *job,
			const struct job_line_text *line, const char *value);

static void jobs_take_command(struct jobs_reader *reader, struct job *job,
			      const struct job_line_text *line,
			      const char *value)
{
	struct strbuf why = STRBUF_INIT;

	strlist_release(&job->command);
	if (job_words(value, &job->command, &why) < 0)
		jobs_mistake(reader, line->line,
			     xasprintf("command: %s", strbuf_text(&why)));
	else if (!job->command.count)
		jobs_mistake(reader, line->line,
			     xstrdup("command is empty: write the command as "
				     "you start it"));
	strbuf_release(&why);
}

static void take_directory(struct jobs_reader *reader, struct job *job,
			   const struct job_line_text *line, const char *value)
{
	struct stat info;

	free(job->directory);
	job->directory = jobs_absolute_path(reader, value);
	if (stat(job->directory, &info) < 0)
		jobs_mistake(reader, line->line,
			     xasprintf("directory %s: %s; make it or name "
				       "another",
				       job->directory, strerror(errno)));
	else if (!S_ISDIR(info.st_mode))
		jobs_mistake(
			reader, line->line,
			xasprintf("directory %s is no folder: name the one "
				  "that the command starts in",
				  job->directory));
}

static void take_environment(struct jobs_reader *reader, struct job *job,
			     const struct job_line_text *line,
			     const char *value)
{
	struct options scratch = { 0 };
	const struct option_row *row = option_of_name("probe-env", 9);

	(void)value;
	for (size_t i = 0; i < line->values.count; i++) {
		const char *item = line->values.items[i];
		struct error err = ERROR_INIT;

		if (row->kind->set(row, &scratch, item, &err) < 0)
			jobs_mistake(reader, line->line + (unsigned)i,
				     xasprintf("environment: %s; one variable "
					       "on each line",
					       err.message));
		else if (strncmp(item, "AUTOFIT_", 8) == 0)
			jobs_mistake(reader, line->line + (unsigned)i,
				     xasprintf("environment: %.*s is autofit's "
					       "own: write the option as a key "
					       "of the job",
					       (int)strcspn(item, "="), item));
		else
			strlist_env_change(
				&job->environment,
				&(struct strlist){
					.items =
						(char **)&line->values.items[i],
					.count = 1 });
	}
	row->kind->release(row, &scratch);
}

static void take_required(struct jobs_reader *reader, struct job *job,
			  const struct job_line_text *line, const char *value)
{
	struct error err = ERROR_INIT;
	bool is_required = true;

	if (option_truth(value, &is_required, &err) < 0)
		jobs_mistake(reader, line->line,
			     xasprintf("required: %s; write yes or no",
				       err.message));
	job->is_optional = !is_required;
}

/* Each has a section [type NAME]; jobs.c looks for it. */
static void take_types(struct jobs_reader *reader, struct job *job,
		       const struct job_line_text *line, const char *value)
{
	strlist_release(&job->types);
	strlist_add_words(&job->types, value);
	for (size_t i = 0; i < job->types.count; i++)
		if (strlist_find(&job->types, job->types.items[i]) < i)
			jobs_mistake(reader, line->line,
				     xasprintf("types: %s is there twice: "
					       "keep one",
					       job->types.items[i]));
}

static const struct job_key {
	const char *key;
	take_value *take;
} job_keys[] = {
	{ "command", jobs_take_command },
	{ "directory", take_directory },
	{ "environment", take_environment },
	{ "required", take_required },
	{ "types", take_types },
};

static const struct job_key *job_key_of(const char *key)
{
	for (size_t i = 0; i < sizeof(job_keys) / sizeof(*job_keys); i++)
		if (strcmp(job_keys[i].key, key) == 0)
			return &job_keys[i];
	return NULL;
}

/* An option that a job may set: of a tuning, and not of one call. */
static const struct option_row *job_option_of(const char *key)
{
	const struct option_row *row = option_of_name(key, strlen(key));

	return row && row->group <= GROUP_RECORDS && !row->one_call &&
			       !row->print
		       ? row
		       : NULL;
}

/* A later value of an option that is no list replaces an earlier one. */
static void set_option(struct job *job, const struct option_row *row,
		       const char *value, bool replaces)
{
	char *begin = xasprintf("--%s", row->name);
	size_t length = strlen(begin);

	for (size_t i = job->options.count; replaces && i-- > 0;)
		if (strncmp(job->options.items[i], begin, length) == 0 &&
		    (job->options.items[i][length] == '=' ||
		     !job->options.items[i][length]))
			strlist_remove(&job->options, i);
	free(begin);
	if (!row->kind->is_flag)
		strlist_addf(&job->options, "--%s=%s", row->name, value);
	else if (value)
		strlist_addf(&job->options, "--%s", row->name);
}

static void take_option(struct jobs_reader *reader, struct job *job,
			const struct option_row *row,
			const struct job_line_text *line)
{
	struct options scratch = { 0 };
	char *whole = jobs_joined_value(line);

	for (size_t i = 0; i < (row->kind->grows ? line->values.count : 1);
	     i++) {
		const char *value =
			row->kind->grows ? line->values.items[i] : whole;
		struct error err = ERROR_INIT;
		bool truth = true;

		if (row->kind->set(row, &scratch, value, &err) < 0) {
			jobs_mistake(reader, line->line + (unsigned)i,
				     xasprintf("%s: %s (see autofit --help)",
					       row->name, err.message));
			continue;
		}
		if (row->kind->is_flag)
			(void)option_truth(value, &truth, NULL);
		set_option(job, row, truth ? value : NULL, i == 0);
	}
	if (strcmp(row->name, "time-limit") == 0)
		job->time_limit_ms = scratch.times.time_limit_ms;
	if (row->kind->release)
		row->kind->release(row, &scratch);
	free(whole);
}

static char *no_such_key(const char *key)
{
	const struct option_row *row = option_of_name(key, strlen(key));
	const char *meant;

	if (row)
		return xasprintf("'%s' belongs to one call, not to a list: "
				 "give --%s on the command line",
				 key, key);
	for (size_t i = 0; i < sizeof(job_keys) / sizeof(*job_keys); i++)
		if (text_distance(job_keys[i].key, key) <= 2)
			return xasprintf("unknown key '%s': did you mean %s?",
					 key, job_keys[i].key);
	meant = job_slurm_suggestion(key);
	if (!meant)
		meant = option_suggestion(key);
	if (meant)
		return xasprintf("unknown key '%s': did you mean %s?", key,
				 meant + strspn(meant, "-"));
	return xasprintf("unknown key '%s': a job has command, directory, "
			 "environment, required, types, Slurm's %s, and the "
			 "options of autofit tune without --",
			 key, job_slurm_keys);
}

void job_apply_section(struct jobs_reader *reader, struct job *job,
		       const struct job_section *section)
{
	for (size_t i = 0; i < section->count; i++) {
		const struct job_line_text *line = &section->items[i];
		const struct job_key *key = job_key_of(line->key);
		const struct option_row *row = job_option_of(line->key);
		char *value = jobs_joined_value(line);

		if (section->kind != SECTION_JOB &&
		    strcmp(line->key, "command") == 0)
			jobs_mistake(reader, line->line,
				     xasprintf("[%s] has no command: each job "
					       "has its own",
					       section->kind == SECTION_TYPE
						       ? "type"
						       : "defaults"));
		else if (section->kind == SECTION_TYPE &&
			 strcmp(line->key, "types") == 0)
			jobs_mistake(reader, line->line,
				     xstrdup("[type] has no types: name them "
					     "in [defaults] or a job"));
		else if (key)
			key->take(reader, job, line, value);
		else if (row)
			take_option(reader, job, row, line);
		else if (!job_slurm_take(reader, job, line, value))
			jobs_mistake(reader, line->line,
				     no_such_key(line->key));
		free(value);
	}
}

void job_check_program(struct jobs_reader *reader, const struct job *job,
		       unsigned line)
{
	const char *program = job->command.items[0];
	char *path = NULL;
	int missing;

	if (strchr(program, '/') && program[0] != '/')
		path = xasprintf("%s/%s", job->directory, program);
	missing = exec_command_find(path ? path : program);
	if (missing)
		jobs_mistake(
			reader, line,
			xasprintf(
				"command: %s: %s; %s", path ? path : program,
				strerror(missing),
				missing == EACCES ? "make it executable"
				: strchr(program, '=')
					? "write it as environment = NAME=value"
					: "install it, or name its path"));
	free(path);
}
