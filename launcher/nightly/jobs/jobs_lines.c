/* The lines of a job list: sections, and keys with their values as text. */
/* SPDX-License-Identifier: MIT */
/*
 * Reads what stands in the file and nothing of what it means: a line that
 * belongs to no section or stands twice is a mistake here, a value that cannot
 * be used is one of jobs_values.c.
 */
#include "launcher/nightly/jobs/jobs_lines.h"

#include "base/alloc.h"
#include "base/name.h"
#include "configs/files/ini.h"
#include "launcher/command/text/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define JOB_PREFIX "job "
#define JOB_NAME_MAX 64
#define MISTAKES_MAX 100

void jobs_mistake(struct jobs_reader *reader, unsigned line, char *what)
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

static bool is_job_name(const char *name)
{
	return name_is_plain(name) && strlen(name) <= JOB_NAME_MAX &&
	       name[0] != '.' && name[0] != '-';
}

const struct job_section *jobs_find_section(const struct jobs_reader *reader,
					    enum section kind, const char *name)
{
	for (size_t i = 0; i < reader->count; i++)
		if (reader->sections[i].kind == kind &&
		    (!name || strcmp(reader->sections[i].name, name) == 0))
			return &reader->sections[i];
	return NULL;
}

static const struct section_word {
	const char *word; /* or what stands before the name */
	enum section kind;
	bool has_name;
} section_words[] = {
	{ "nightly", SECTION_NIGHTLY, false },
	{ "defaults", SECTION_DEFAULTS, false },
	{ "type ", SECTION_TYPE, true },
	{ JOB_PREFIX, SECTION_JOB, true },
};

/* The kind by the head alone; name receives what follows it, or NULL. */
static enum section kind_of_head(const char *section, const char **name)
{
	for (size_t i = 0; i < sizeof(section_words) / sizeof(*section_words);
	     i++) {
		const struct section_word *row = &section_words[i];
		size_t length = strlen(row->word);

		*name = row->has_name ? section + length : NULL;
		if (row->has_name ? strncmp(section, row->word, length) == 0
				  : strcmp(section, row->word) == 0)
			return row->kind;
	}
	*name = NULL;
	return SECTION_NONE;
}

/* What the section is; what it cannot be is a mistake. */
static enum section section_kind(struct jobs_reader *reader,
				 const char *section, unsigned line)
{
	const char *name;
	enum section kind = kind_of_head(section, &name);
	const struct job_section *twin = jobs_find_section(reader, kind, name);

	if (!*section)
		jobs_mistake(reader, line,
			     xstrdup("a key before the first section: begin "
				     "with [nightly], [defaults] or [job "
				     "NAME]"));
	else if (kind == SECTION_NONE)
		jobs_mistake(reader, line,
			     xasprintf("no section is called [%s]: write "
				       "[nightly], [defaults], [type NAME] or "
				       "[job NAME]",
				       section));
	else if (name && !is_job_name(name))
		jobs_mistake(reader, line,
			     xasprintf("'%s' is no name of a job or type: "
				       "letters, digits, . _ and -, at most "
				       "%d",
				       name, JOB_NAME_MAX));
	else if (twin)
		jobs_mistake(reader, line,
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
	const char *name;

	free(reader->section_name);
	reader->section_name = xstrdup(entry->section);
	reader->passes_over = kind == SECTION_NONE;
	if (reader->passes_over)
		return;
	(void)kind_of_head(entry->section, &name);
	reader->sections = xgrow(reader->sections, reader->count,
				 &reader->capacity, sizeof(*reader->sections));
	reader->sections[reader->count++] = (struct job_section){
		.kind = kind,
		.name = name ? xstrdup(name) : NULL,
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

struct job_line_text *jobs_find_key(struct job_section *section,
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
		jobs_mistake(
			reader, entry->line,
			xasprintf("'%s' is there twice in [%s] (line %u): keep "
				  "one, give more values on indented lines, or "
				  "rename a section that is there twice",
				  entry->key, entry->section, there->line));
		return;
	}
	if (strcmp(entry->key, "command") == 0 &&
	    line_has_comment(reader, entry->line)) {
		jobs_mistake(reader, entry->line,
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

char *jobs_joined_value(const struct job_line_text *line)
{
	struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < line->values.count; i++)
		strbuf_addf(&text, "%s%s", i > 0 ? " " : "",
			    line->values.items[i]);
	return strbuf_detach(&text);
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
			jobs_mistake(reader, line,
				     xasprintf("%.*s] is empty: add command = "
					       "..., or remove it",
					       (int)length, head));
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
}

void jobs_lines_release(struct jobs_reader *reader)
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

void jobs_lines_read(struct jobs_reader *reader, const struct strbuf *text,
		     struct error *err)
{
	if (ini_read(reader->path, strbuf_text(text), text->length,
		     jobs_on_entry, reader, err) < 0)
		strlist_add(&reader->jobs->mistakes, err->message);
	check_empty_sections(reader);
}
