/* One options file, read as one place that sets options. */
/* SPDX-License-Identifier: MIT */
#include "launcher/options/options_layers.h"

#include "base/alloc.h"
#include "configs/files/ini.h"

#include <stdlib.h>
#include <string.h>

#define SECTION "autofit"
/* A file of another sort may hold thousands of keys. */
#define WARNINGS_MAX 20

struct reading {
	struct option_layers *layers;
	const struct options_file *file;
	struct strlist *warnings;
	size_t warned;
	char *unknown_section; /* the last one that was warned of */
	bool named[OPTION_ROWS_MAX];
};

/* Takes text, which says what is wrong with the line. */
static void warn(struct reading *reading, unsigned line, char *text)
{
	const char *path = reading->file->path;

	reading->warned++;
	if (reading->warnings && reading->warned <= WARNINGS_MAX)
		strlist_addf(reading->warnings, "%s:%u: %s", path, line, text);
	if (reading->warnings && reading->warned == WARNINGS_MAX + 1)
		strlist_addf(reading->warnings,
			     "%s:%u: and more lines that are no options", path,
			     line);
	free(text);
}

static bool is_our_section(struct reading *reading,
			   const struct ini_entry *entry)
{
	const char *section = entry->section;

	if (!*section || strcmp(section, SECTION) == 0)
		return true;
	if (reading->unknown_section &&
	    strcmp(reading->unknown_section, section) == 0)
		return false;
	free(reading->unknown_section);
	reading->unknown_section = xstrdup(section);
	warn(reading, entry->line,
	     xasprintf("unknown section [%s]; options stand in [" SECTION "]",
		       section));
	return false;
}

/* As on the command line: max_micro is max-micro. The caller frees it. */
static char *option_name(const char *key)
{
	char *name = xstrdup(key);

	for (char *c = name; *c; c++)
		if (*c == '_')
			*c = '-';
	return name;
}

static void warn_unknown(struct reading *reading, const struct ini_entry *entry,
			 const char *name)
{
	const char *meant = option_suggestion(name);

	if (meant)
		warn(reading, entry->line,
		     xasprintf("unknown option '%s' (did you mean %s?)",
			       entry->key, meant));
	else
		warn(reading, entry->line,
		     xasprintf("unknown option '%s'", entry->key));
}

/* The row of an entry that may stand in this file; else a warning. */
static const struct option_row *row_of(struct reading *reading,
				       const struct ini_entry *entry)
{
	char *name = option_name(entry->key);
	const struct option_row *row = option_of_name(name, strlen(name));

	if (!row) {
		warn_unknown(reading, entry, name);
	} else if (row->print || row->one_call) {
		warn(reading, entry->line,
		     xasprintf("'%s' is passed over: it belongs to one call, "
			       "not into a file",
			       entry->key));
		row = NULL;
	} else if (row->runs_or_writes && reading->file->foreign) {
		warn(reading, entry->line,
		     xasprintf("'%s' is passed over: this file belongs to "
			       "another user",
			       entry->key));
		row = NULL;
	}
	free(name);
	return row;
}

static int on_entry(void *context, const struct ini_entry *entry,
		    struct error *err)
{
	struct reading *reading = context;
	const struct option_row *row;
	int result;

	if (!is_our_section(reading, entry))
		return 0;
	row = row_of(reading, entry);
	if (!row || !*entry->value)
		return 0;
	if (reading->named[row - option_rows] && !row->kind->grows)
		warn(reading, entry->line,
		     xasprintf("'%s' once more; the last line counts",
			       entry->key));
	reading->named[row - option_rows] = true;
	result = layers_set(reading->layers, row, entry->value, err);
	if (result < 0)
		(void)error_prefix(err, "%s", row->name);
	return result;
}

int layers_read_file(struct option_layers *layers,
		     const struct options_file *file, struct strlist *warnings,
		     struct error *err)
{
	struct reading reading = { .layers = layers,
				   .file = file,
				   .warnings = warnings };
	int result = ini_read(file->path, file->text, file->length, on_entry,
			      &reading, err);

	free(reading.unknown_section);
	layers_next(layers);
	return result;
}
