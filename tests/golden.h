/* The cases of tests/data/golden, for the tests and benchmarks that use them.
 */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_GOLDEN_H
#define AUTOFIT_TESTS_GOLDEN_H

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "launcher/command/files/named_files.h"
#include "launcher/command/recognise.h"
#include "tests/launchers.h"

#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The cases stand in tests/data/golden/NAME.txt. A line of a case is one of
 *
 *   == name               begins a case
 *   # words               for the reader
 *   option --preset NAME  as on autofit's command line, also --micro-flag,
 *                         --accum-flag, --global-flag, --micro-scope,
 *                         --accum-scope, --env, --template
 *   env NAME=value        of the user's environment
 *   visible N             GPUs
 *   file PATH             on the disk; its lines follow as "| line"
 *   $ command             in shell quotes
 *   refuses OUTCOME words the whole message (not_recognised, refused, usage,
 *                         unreadable); nothing follows
 *   reads PRESET A x B x C = E
 *   open words            why the ranks are not known
 *   rules words           constraints;   caveat words   each of them
 *   model field value     each of them
 *   split A x B           what is written
 *   probe> command        of a probe with that micro-batch, its accumulation
 *                         at most 2 (or all, where the preset asks for it)
 *   probe+ NAME=value     its environment;  probe| PATH:LINE: text  a line that
 *                         a copy of PATH differs in;  probe= words  what else
 *                         a shell makes of the new values
 *   probe~ command        where it differs: of a probe that may be the answer
 *   final> final+ final|  the same of the run
 *
 * Every line from "reads" on must be there as it comes, and no other.
 */
#define GOLDEN_FILES_MAX 8

struct disk_file {
	char *path;
	struct strbuf text;
};

struct golden {
	char *place; /* "hf.txt:12 name" */
	struct strlist command, environment, env_templates, templates;
	struct command_hints hints;
	struct strlist owned; /* texts of the hints */
	struct disk_file files[GOLDEN_FILES_MAX];
	size_t file_count;
	struct named_files texts; /* of them, what was asked for */
	int64_t micro, accum;     /* split */
	struct strbuf expected;   /* lines from "reads" or "refuses" on */
};

/* What is wrong in a case is its writer's. */
static inline void golden_die(const struct golden *golden, const char *what)
{
	(void)fprintf(stderr, "%s: %s\n",
		      golden->place ? golden->place : "golden", what);
	exit(1);
}

static inline void golden_release(struct golden *golden)
{
	free(golden->place);
	strlist_release(&golden->command);
	strlist_release(&golden->environment);
	strlist_release(&golden->env_templates);
	strlist_release(&golden->templates);
	strlist_release(&golden->owned);
	for (size_t i = 0; i < golden->file_count; i++) {
		free(golden->files[i].path);
		strbuf_release(&golden->files[i].text);
	}
	named_files_release(&golden->texts);
	strbuf_release(&golden->expected);
	*golden = (struct golden){ .place = NULL };
}

/* One word in the quotes that shell_quote writes, or in double ones. */
static inline const char *golden_read_word(struct strbuf *word,
					   const char *line)
{
	char quote = '\0';

	strbuf_adds(word, "");
	for (; *line && (quote || *line != ' '); line++) {
		if (*line == quote)
			quote = '\0';
		else if (!quote && strchr("'\"", *line))
			quote = *line;
		else if (*line == '\\' && quote != '\'' && line[1])
			strbuf_addch(word, *++line);
		else
			strbuf_addch(word, *line);
	}
	return line;
}

static inline void golden_split_words(struct strlist *out, const char *line)
{
	for (line += strspn(line, " "); *line; line += strspn(line, " ")) {
		struct strbuf word = STRBUF_INIT;

		line = golden_read_word(&word, line);
		strlist_take(out, strbuf_detach(&word));
	}
}

static inline void golden_set_option(struct golden *golden, const char *line)
{
	static const struct {
		const char *name;
		size_t offset;
	} fields[] = {
		{ "--preset", offsetof(struct command_hints, preset) },
		{ "--micro-flag", offsetof(struct command_hints, micro_flag) },
		{ "--accum-flag", offsetof(struct command_hints, accum_flag) },
		{ "--global-flag",
		  offsetof(struct command_hints, global_flag) },
		{ "--micro-scope",
		  offsetof(struct command_hints, micro_scope) },
		{ "--accum-scope",
		  offsetof(struct command_hints, accum_scope) },
		{ "--global-scope",
		  offsetof(struct command_hints, global_scope) },
	};
	size_t length = strcspn(line, " ");
	const char *value = line[length] ? line + length + 1 : "";

	if (strncmp(line, "--env ", 6) == 0) {
		strlist_add(&golden->env_templates, value);
		return;
	}
	if (strncmp(line, "--template ", 11) == 0) {
		strlist_add(&golden->templates, value);
		return;
	}
	strlist_add(&golden->owned, value);
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		if (strlen(fields[i].name) != length ||
		    strncmp(line, fields[i].name, length) != 0)
			continue;
		*(const char **)((char *)&golden->hints + fields[i].offset) =
			golden->owned.items[golden->owned.count - 1];
		return;
	}
	golden_die(golden, "an option that is none");
}

static inline void golden_add_file_line(struct golden *golden, const char *text)
{
	struct disk_file *file;

	if (golden->file_count == 0)
		golden_die(golden, "a line of no file");
	file = &golden->files[golden->file_count - 1];
	strbuf_addf(&file->text, "%s\n", *text == ' ' ? text + 1 : text);
}

/* False: the line is one of those that are compared. */
static inline bool golden_read_setup(struct golden *golden, const char *line)
{
	if (*line == '#' || *line == '\0')
		return true;
	if (strncmp(line, "option ", 7) == 0)
		golden_set_option(golden, line + 7);
	else if (strncmp(line, "env ", 4) == 0)
		strlist_add(&golden->environment, line + 4);
	else if (strncmp(line, "visible ", 8) == 0)
		golden->hints.visible_devices = strtoll(line + 8, NULL, 10);
	else if (strncmp(line, "file ", 5) == 0 &&
		 golden->file_count < GOLDEN_FILES_MAX)
		golden->files[golden->file_count++] =
			(struct disk_file){ .path = xstrdup(line + 5),
					    .text = STRBUF_INIT };
	else if (*line == '|')
		golden_add_file_line(golden, line + 1);
	else if (strncmp(line, "$ ", 2) == 0)
		golden_split_words(&golden->command, line + 2);
	else
		return false;
	return true;
}

static inline void golden_read_line(struct golden *golden, const char *line)
{
	if (golden_read_setup(golden, line))
		return;
	if (strncmp(line, "split ", 6) == 0) {
		char *rest;

		golden->micro = strtoll(line + 6, &rest, 10);
		golden->accum =
			strlen(rest) > 3 ? strtoll(rest + 3, NULL, 10) : 0;
	}
	strbuf_addf(&golden->expected, "%s\n", line);
}

static inline bool golden_is_python(const char *path)
{
	return strlen(path) > 3 && strcmp(path + strlen(path) - 3, ".py") == 0;
}

/* The first file of Python that is asked for is the program: it is there. */
static inline bool golden_is_program(const struct named_files *texts,
				     const char *path)
{
	bool is_first = true;

	for (size_t i = 0; i < texts->count; i++)
		is_first = is_first && !golden_is_python(texts->items[i]->path);
	return is_first && golden_is_python(path);
}

/* Of type named_files_read. */
static inline int golden_read_disk(void *context, const char *path,
				   struct strbuf *text)
{
	const struct golden *golden = context;
	bool found = golden_is_program(&golden->texts, path);

	for (size_t i = 0; i < golden->file_count; i++) {
		if (strcmp(golden->files[i].path, path) != 0)
			continue;
		strbuf_add(text, strbuf_text(&golden->files[i].text),
			   golden->files[i].text.length);
		found = true;
	}
	return found ? 0 : ENOENT;
}

/* Valid as long as the case. */
static inline struct command_sources
golden_sources(struct golden *golden, const struct presets *presets)
{
	golden->texts.read = golden_read_disk;
	golden->texts.context = golden;
	golden->hints.environment = &golden->environment;
	golden->hints.env_templates = &golden->env_templates;
	golden->hints.templates = &golden->templates;
	return (struct command_sources){ .presets = presets,
					 .launchers = builtin_launchers(),
					 .hints = &golden->hints,
					 .texts = &golden->texts };
}

static inline enum command_outcome
golden_recognise(struct golden *golden, const struct presets *presets,
		 struct command *command, struct error *err)
{
	const struct command_sources sources = golden_sources(golden, presets);

	named_files_release(&golden->texts);
	return command_recognise(command, &golden->command, &sources, err);
}

/* Releases the case when it has seen it. */
typedef void golden_visit(struct golden *golden, void *context);

static inline void golden_visit_one(struct golden *golden, golden_visit *visit,
				    void *context)
{
	visit(golden, context);
	golden_release(golden);
}

static inline void golden_read_file(const char *folder, const char *name,
				    golden_visit *visit, void *context)
{
	char *path = xasprintf("%s/%s", folder, name);
	struct strbuf text = STRBUF_INIT;
	struct golden golden = { .place = NULL };
	struct error err = ERROR_INIT;
	char *copy, *rest, *line;
	unsigned number = 0;

	if (textfile_read(path, (size_t)1 << 20, &text, &err) != 0)
		golden_die(&golden, err.message);
	rest = copy = xstrdup(strbuf_text(&text));
	while ((line = strsep(&rest, "\n"))) {
		number++;
		if (strncmp(line, "== ", 3) != 0) {
			if (golden.place)
				golden_read_line(&golden, line);
			continue;
		}
		if (golden.place)
			golden_visit_one(&golden, visit, context);
		golden.place = xasprintf("%s:%u %s", name, number, line + 3);
	}
	if (golden.place)
		golden_visit_one(&golden, visit, context);
	free(copy);
	free(path);
	strbuf_release(&text);
}

static inline int golden_is_case_file(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && strcmp(dot, ".txt") == 0;
}

/* All cases of the folder, by file and line. */
static inline void golden_read_all(const char *folder, golden_visit *visit,
				   void *context)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, golden_is_case_file, alphasort);

	for (int i = 0; i < count; i++) {
		golden_read_file(folder, entries[i]->d_name, visit, context);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

#endif
