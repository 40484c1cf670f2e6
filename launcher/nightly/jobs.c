/* The job list of `autofit nightly`: read, and checked as a whole. */
/* SPDX-License-Identifier: MIT */
/*
 * [nightly] says where results go, [defaults] what all jobs share, and each
 * [job NAME] one command. A key is one of a job's own or an option of
 * `autofit tune`, checked by the same table as the command line. Nothing is
 * started before the whole list is right, so a night never fails at its last
 * job for a slip; and so all mistakes are told at once.
 */
#include "launcher/nightly/jobs.h"

#include "base/alloc.h"
#include "base/units.h"
#include "configs/files/ini.h"
#include "launcher/command/text/text.h"
#include "launcher/options/options_kinds.h"
#include "launcher/options/options_rows.h"
#include "launcher/request/exec_command.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define JOB_PREFIX "job "
#define JOB_NAME_MAX 64
#define MISTAKES_MAX 100

enum section { SECTION_NONE, SECTION_NIGHTLY, SECTION_DEFAULTS, SECTION_JOB };

/* One key = value with its continuation lines, not yet understood. */
struct job_line_text {
	char *key;
	struct strlist values; /* one for each line */
	unsigned line;
};

/* The lines of one section. */
struct job_section {
	enum section kind;
	char *name; /* of a job */
	unsigned line;
	struct job_line_text *items;
	size_t count, capacity;
};

struct jobs_reader {
	struct jobs *jobs;
	const char *path;
	const char *text;
	char *folder; /* of the list */
	struct job_section *sections;
	size_t count, capacity;
	char *section_name; /* as it was last seen */
	bool passes_over;   /* the section is a mistake: so are its keys */
};

/* Takes what over. */
static void add_mistake(struct jobs_reader *reader, unsigned line, char *what)
{
	struct strbuf safe = STRBUF_INIT;

	assert(reader->jobs);
	text_add_safe(&safe, what, false);
	if (reader->jobs->mistakes.count < MISTAKES_MAX)
		strlist_addf(&reader->jobs->mistakes, "%s:%u: %s", reader->path,
			     line, strbuf_text(&safe));
	strbuf_release(&safe);
	free(what);
}

static bool name_is_plain(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-";
	size_t length = strlen(name);

	return length > 0 && length <= JOB_NAME_MAX && name[0] != '.' &&
	       name[0] != '-' && strspn(name, allowed) == length;
}

static const struct job_section *find_section(const struct jobs_reader *reader,
					      enum section kind,
					      const char *name)
{
	for (size_t i = 0; i < reader->count; i++)
		if (reader->sections[i].kind == kind &&
		    (!name || strcmp(reader->sections[i].name, name) == 0))
			return &reader->sections[i];
	return NULL;
}

/* What the section is; what it cannot be is a mistake. */
static enum section section_kind(struct jobs_reader *reader,
				 const char *section, unsigned line)
{
	const char *name = section + sizeof(JOB_PREFIX) - 1;
	enum section kind = SECTION_NONE;
	const struct job_section *twin;

	if (strcmp(section, "nightly") == 0)
		kind = SECTION_NIGHTLY;
	else if (strcmp(section, "defaults") == 0)
		kind = SECTION_DEFAULTS;
	else if (strncmp(section, JOB_PREFIX, sizeof(JOB_PREFIX) - 1) == 0)
		kind = SECTION_JOB;
	twin = find_section(reader, kind, kind == SECTION_JOB ? name : NULL);
	if (!*section)
		add_mistake(reader, line,
			    xstrdup("a key before the first section: begin "
				    "with [nightly], [defaults] or [job "
				    "NAME]"));
	else if (kind == SECTION_NONE)
		add_mistake(reader, line,
			    xasprintf("no section is called [%s]: write [job "
				      "%s], or [nightly] or [defaults]",
				      section, section));
	else if (kind == SECTION_JOB && !name_is_plain(name))
		add_mistake(reader, line,
			    xasprintf("'%s' is no name of a job: letters, "
				      "digits, . _ and -, at most %d",
				      name, JOB_NAME_MAX));
	else if (twin)
		add_mistake(reader, line,
			    xasprintf("[%s] is there twice (line %u): rename "
				      "or remove one",
				      section, twin->line));
	else
		return kind;
	return SECTION_NONE;
}

/* The line of the section's head, which inih does not tell. */
static unsigned line_of_head(const struct jobs_reader *reader, unsigned line)
{
	const char *at = reader->text;
	unsigned head = line, number = 1;

	for (; *at && number < line; number++) {
		if (at[strspn(at, " \t")] == '[')
			head = number;
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	return head;
}

static void jobs_section_begin(struct jobs_reader *reader,
			       const struct ini_entry *entry)
{
	unsigned line = line_of_head(reader, entry->line);
	enum section kind = section_kind(reader, entry->section, line);

	free(reader->section_name);
	reader->section_name = xstrdup(entry->section);
	reader->passes_over = kind == SECTION_NONE;
	if (reader->passes_over)
		return;
	reader->sections = xgrow(reader->sections, reader->count,
				 &reader->capacity, sizeof(*reader->sections));
	reader->sections[reader->count++] = (struct job_section){
		.kind = kind,
		.name = kind == SECTION_JOB ? xstrdup(entry->section +
						      sizeof(JOB_PREFIX) - 1)
					    : NULL,
		.line = line,
	};
}

/* The raw line has a ";" that makes the rest of it a comment. */
static bool line_has_comment(const struct jobs_reader *reader, unsigned line)
{
	const char *at = reader->text, *mark;
	size_t length;

	for (unsigned number = 1; number < line; number++)
		at = strchr(at, '\n') + 1;
	length = strcspn(at, "\n");
	mark = memmem(at, length, " ;", 2);
	return mark != NULL;
}

static struct job_line_text *jobs_find_key(struct job_section *section,
					   const char *key)
{
	for (size_t i = 0; i < section->count; i++)
		if (strcmp(section->items[i].key, key) == 0)
			return &section->items[i];
	return NULL;
}

static void jobs_take_key(struct jobs_reader *reader,
			  const struct ini_entry *entry)
{
	struct job_section *section = &reader->sections[reader->count - 1];
	struct job_line_text *there = jobs_find_key(section, entry->key);

	if (entry->continues && there) {
		strlist_add(&there->values, entry->value);
		return;
	}
	if (there) {
		add_mistake(
			reader, entry->line,
			xasprintf("'%s' is there twice (line %u): keep one, "
				  "or give more values on indented lines",
				  entry->key, there->line));
		return;
	}
	if (strcmp(entry->key, "command") == 0 &&
	    line_has_comment(reader, entry->line)) {
		add_mistake(reader, entry->line,
			    xstrdup("\" ;\" would cut the command off as a "
				    "comment: put it into a script, or the "
				    "comment on a line of its own"));
		return;
	}
	section->items = xgrow(section->items, section->count,
			       &section->capacity, sizeof(*section->items));
	section->items[section->count++] =
		(struct job_line_text){ .key = xstrdup(entry->key),
					.line = entry->line };
	strlist_add(&section->items[section->count - 1].values, entry->value);
}

static int jobs_on_entry(void *context, const struct ini_entry *entry,
			 struct error *err)
{
	struct jobs_reader *reader = context;

	(void)err;
	if (!reader->section_name ||
	    strcmp(reader->section_name, entry->section) != 0)
		jobs_section_begin(reader, entry);
	if (!reader->passes_over)
		jobs_take_key(reader, entry);
	return 0;
}

/* What the lines of a key say together. The caller frees. */
static char *joined_value(const struct job_line_text *line)
{
	struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < line->values.count; i++)
		strbuf_addf(&text, "%s%s", i > 0 ? " " : "",
			    line->values.items[i]);
	return strbuf_detach(&text);
}

/* The path as seen from the folder of the list, ~ being the home. */
static char *absolute_path(const struct jobs_reader *reader, const char *path)
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
		add_mistake(reader, line->line,
			    xasprintf("command: %s", strbuf_text(&why)));
	else if (!job->command.count)
		add_mistake(reader, line->line,
			    xstrdup("command is empty: write the command as "
				    "you start it"));
	strbuf_release(&why);
}

static void take_directory(struct jobs_reader *reader, struct job *job,
			   const struct job_line_text *line, const char *value)
{
	struct stat info;

	free(job->directory);
	job->directory = absolute_path(reader, value);
	if (stat(job->directory, &info) < 0)
		add_mistake(reader, line->line,
			    xasprintf("directory %s: %s; make it or name "
				      "another",
				      job->directory, strerror(errno)));
	else if (!S_ISDIR(info.st_mode))
		add_mistake(reader, line->line,
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
			add_mistake(reader, line->line + (unsigned)i,
				    xasprintf("environment: %s; one variable "
					      "on each line",
					      err.message));
		else if (strncmp(item, "AUTOFIT_", 8) == 0)
			add_mistake(reader, line->line + (unsigned)i,
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
		add_mistake(reader, line->line,
			    xasprintf("required: %s; write yes or no",
				      err.message));
	job->is_optional = !is_required;
}

static const struct job_key {
	const char *key;
	take_value *take;
	bool is_list; /* several lines are several values */
} job_keys[] = {
	{ "command", jobs_take_command, false },
	{ "directory", take_directory, false },
	{ "environment", take_environment, true },
	{ "required", take_required, false },
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
	char *whole = joined_value(line);

	for (size_t i = 0; i < (row->kind->grows ? line->values.count : 1);
	     i++) {
		const char *value =
			row->kind->grows ? line->values.items[i] : whole;
		struct error err = ERROR_INIT;
		bool truth = true;

		if (row->kind->set(row, &scratch, value, &err) < 0) {
			add_mistake(reader, line->line + (unsigned)i,
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
	meant = option_suggestion(key);
	if (meant)
		return xasprintf("unknown key '%s': did you mean %s?", key,
				 meant + strspn(meant, "-"));
	return xasprintf("unknown key '%s': a job has command, directory, "
			 "environment, required, and the options of autofit "
			 "tune without --",
			 key);
}

/* The lines of [defaults] or of the job itself. */
static void apply_section(struct jobs_reader *reader, struct job *job,
			  const struct job_section *section)
{
	for (size_t i = 0; i < section->count; i++) {
		const struct job_line_text *line = &section->items[i];
		const struct job_key *key = job_key_of(line->key);
		const struct option_row *row = job_option_of(line->key);
		char *value = joined_value(line);

		if (section->kind == SECTION_DEFAULTS &&
		    strcmp(line->key, "command") == 0)
			add_mistake(reader, line->line,
				    xstrdup("[defaults] has no command: each "
					    "job has its own"));
		else if (key)
			key->take(reader, job, line, value);
		else if (row)
			take_option(reader, job, row, line);
		else
			add_mistake(reader, line->line, no_such_key(line->key));
		free(value);
	}
}

/* A program with a slash is looked for where the job starts. */
static void check_program(struct jobs_reader *reader, const struct job *job,
			  unsigned line)
{
	const char *program = job->command.items[0];
	char *path = NULL;
	int missing;

	if (strchr(program, '/') && program[0] != '/')
		path = xasprintf("%s/%s", job->directory, program);
	missing = exec_command_find(path ? path : program);
	if (missing)
		add_mistake(
			reader, line,
			xasprintf("command: %s: %s; %s", path ? path : program,
				  strerror(missing),
				  missing == EACCES
					  ? "make it executable"
					  : "install it, or name its path"));
	free(path);
}

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
		apply_section(reader, &job, defaults);
	/* Those of the defaults were told when they were checked alone. */
	while (jobs->mistakes.count > before)
		strlist_remove(&jobs->mistakes, jobs->mistakes.count - 1);
	apply_section(reader, &job, section);
	if (!command)
		add_mistake(reader, section->line,
			    xasprintf("[job %s] has no command: add command = "
				      "...",
				      section->name));
	else if (job.command.count && jobs->mistakes.count == before)
		check_program(reader, &job, command->line);
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
		char *value = joined_value(line);
		char **slot = strcmp(line->key, "results") == 0 ? &jobs->results
			      : strcmp(line->key, "publish") == 0
				      ? &jobs->publish
				      : NULL;

		if (!slot && strcmp(line->key, "executor") != 0)
			add_mistake(reader, line->line,
				    xasprintf("unknown key '%s': [nightly] has "
					      "results, publish, executor",
					      line->key));
		else if (!slot && strcmp(value, "local") != 0)
			add_mistake(reader, line->line,
				    xasprintf("executor '%s' is not in this "
					      "version: write local",
					      value));
		else if (!*value)
			add_mistake(reader, line->line,
				    xasprintf("%s is empty: name a folder",
					      line->key));
		else if (slot)
			*slot = absolute_path(reader, value);
		free(value);
	}
}

/* Two places that are files, or may not be written, end a night late. */
static void jobs_check_folder(struct jobs_reader *reader, const char *key,
			      const char *path)
{
	const struct job_section *section =
		find_section(reader, SECTION_NIGHTLY, NULL);
	unsigned line = section ? section->line : 1;
	struct stat info;

	for (size_t i = 0; section && i < section->count; i++)
		if (strcmp(section->items[i].key, key) == 0)
			line = section->items[i].line;
	if (stat(path, &info) < 0) {
		if (errno != ENOENT)
			add_mistake(reader, line,
				    xasprintf("%s %s: %s; name another folder",
					      key, path, strerror(errno)));
		return;
	}
	if (!S_ISDIR(info.st_mode))
		add_mistake(reader, line,
			    xasprintf("%s %s is no folder: name another", key,
				      path));
	else if (access(path, W_OK | X_OK) < 0)
		add_mistake(reader, line,
			    xasprintf("%s %s may not be written: name another, "
				      "or ask its owner",
				      key, path));
}

static void sections_release(struct jobs_reader *reader)
{
	for (size_t i = 0; i < reader->count; i++) {
		struct job_section *section = &reader->sections[i];

		for (size_t j = 0; j < section->count; j++) {
			free(section->items[j].key);
			strlist_release(&section->items[j].values);
		}
		free(section->items);
		free(section->name);
	}
	free(reader->sections);
	free(reader->section_name);
	free(reader->folder);
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

	apply_section(reader, &nobody, defaults);
	job_release(&nobody);
}

/* Nothing but blank lines and comments up to the next section. */
static bool is_empty_section(const char *rest)
{
	rest += strcspn(rest, "\n");
	while (*rest) {
		rest += strspn(rest, " \t\r\n");
		if (*rest != ';' && *rest != '#')
			break;
		rest += strcspn(rest, "\n");
	}
	return !*rest || *rest == '[';
}

/* A section without keys is none for inih: a job that would be left out. */
static void check_empty_sections(struct jobs_reader *reader)
{
	const char *at = reader->text;

	for (unsigned line = 1; *at; line++) {
		const char *head = at + strspn(at, " \t");
		size_t length = strcspn(head, "]\n");
		bool has_keys = *head != '[' || head[length] != ']';

		for (size_t i = 0; i < reader->count && !has_keys; i++)
			has_keys = reader->sections[i].line == line;
		if (!has_keys &&
		    strncmp(head + 1, JOB_PREFIX, sizeof(JOB_PREFIX) - 1) ==
			    0 &&
		    is_empty_section(head + length + 1))
			add_mistake(reader, line,
				    xasprintf("%.*s] is empty: add command = "
					      "..., or remove it",
					      (int)length, head));
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
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
	if (ini_read(path, strbuf_text(text), text->length, jobs_on_entry,
		     &reader, &err) < 0)
		strlist_add(&jobs->mistakes, err.message);
	check_empty_sections(&reader);
	defaults = find_section(&reader, SECTION_DEFAULTS, NULL);
	nightly = find_section(&reader, SECTION_NIGHTLY, NULL);
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
		add_mistake(&reader, 1,
			    xstrdup("there is no job: add [job NAME] with "
				    "command = ..."));
	if (jobs->mistakes.count && !err.code)
		qsort_r(jobs->mistakes.items, jobs->mistakes.count,
			sizeof(*jobs->mistakes.items), by_line, &reader);
	sections_release(&reader);
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
