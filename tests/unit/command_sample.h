/* Commands written as one line, for the tests of what reads them. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_COMMAND_SAMPLE_H
#define AUTOFIT_TESTS_COMMAND_SAMPLE_H

#include "base/alloc.h"
#include "base/strbuf.h"
#include "launcher/command/recognise.h"
#include "launcher/command/rewrite/rewrite.h"
#include "tests/launchers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Arguments with one blank between them; "" is no argument. */
static inline struct strlist words(const char *line)
{
	struct strlist list = STRLIST_INIT;
	char *copy = strdup(line), *rest = copy, *word;

	while ((word = strsep(&rest, " ")))
		if (*word)
			strlist_add(&list, word);
	free(copy);
	return list;
}

static inline char *joined(const struct strlist *list)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_adds(&text, "");
	for (size_t i = 0; i < list->count; i++)
		strbuf_addf(&text, "%s%s", i > 0 ? " " : "", list->items[i]);
	return strbuf_detach(&text);
}

/* What a command is read by, and what it finds on the disk of a test. */
struct sample {
	const struct presets *presets;
	const struct command_hints *hints;
	const char *source;      /* of its script; NULL: an empty one */
	const char *path, *text; /* one more file; NULL: none */
};

/* The files of one command, which points into them; the last one made. */
struct sample_disk {
	struct sample_disk *before;
	struct named_files files;
	struct sample sample;
	bool has_script;
};

/* Of type named_files_read. */
static inline int sample_read(void *context, const char *path,
			      struct strbuf *text)
{
	struct sample_disk *disk = context;
	const struct sample *sample = &disk->sample;
	enum settings_format format;
	bool is_data =
		settings_format_of(path, &format) && format != SETTINGS_PYTHON;

	if (sample->path && strcmp(path, sample->path) == 0) {
		strbuf_adds(text, sample->text);
		return 0;
	}
	if (is_data || disk->has_script || *path == '/')
		return ENOENT;
	strbuf_adds(text, sample->source ? sample->source : "");
	disk->has_script = true;
	return 0;
}

/* command_recognise with what is on the disk. The files stay until the end. */
static inline enum command_outcome sample_recognise(struct command *command,
						    const struct strlist *argv,
						    const struct sample *sample,
						    struct error *err)
{
	static struct sample_disk *last;
	struct sample_disk *disk = xcalloc(1, sizeof(*disk));
	const struct command_sources sources = { .presets = sample->presets,
						 .launchers =
							 builtin_launchers(),
						 .hints = sample->hints,
						 .texts = &disk->files };

	*disk = (struct sample_disk){ .before = last,
				      .files = { .read = sample_read,
						 .context = disk },
				      .sample = *sample };
	last = disk;
	return command_recognise(command, argv, &sources, err);
}

/* Appends argv and environment of the rewritten command. */
static inline void write_command(const struct command *command,
				 const struct command_values *values,
				 struct strlist *argv, struct strlist *changes)
{
	struct rewrite run;

	if (command_rewrite(command, values, &run, NULL) == 0) {
		strlist_add_all(argv, (const char *const *)run.argv.items,
				run.argv.count);
		strlist_add_all(changes,
				(const char *const *)run.environment.items,
				run.environment.count);
	}
	rewrite_release(&run);
}

#endif
