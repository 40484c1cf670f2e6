/* The lines of a job list: sections, and keys with their values as text. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_NIGHTLY_JOBS_JOBS_LINES_H
#define AUTOFIT_LAUNCHER_NIGHTLY_JOBS_JOBS_LINES_H

#include "base/error.h"
#include "launcher/nightly/jobs/jobs.h"

enum section {
	SECTION_NONE,
	SECTION_NIGHTLY,
	SECTION_DEFAULTS,
	SECTION_TYPE,
	SECTION_JOB
};

/* One key = value with its continuation lines, not yet understood. */
struct job_line_text {
	char *key;
	struct strlist values; /* one for each line */
	unsigned line;
};

/* The lines of one section. */
struct job_section {
	enum section kind;
	char *name; /* of a job or a type */
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

/*
 * Sorts the text into sections and keys. An error of the file itself is a
 * mistake as well, and is left in err.
 */
void jobs_lines_read(struct jobs_reader *reader, const struct strbuf *text,
		     struct error *err);
void jobs_lines_release(struct jobs_reader *reader);

/* Notes "path:line: what"; takes what over. */
void jobs_mistake(struct jobs_reader *reader, unsigned line, char *what);

/* The first section of the kind, and of the name if one is given; or NULL. */
const struct job_section *jobs_find_section(const struct jobs_reader *reader,
					    enum section kind,
					    const char *name);
struct job_line_text *jobs_find_key(struct job_section *section,
				    const char *key);
/* All that the lines of a key say, joined by blanks. The caller frees. */
char *jobs_joined_value(const struct job_line_text *line);

#endif
