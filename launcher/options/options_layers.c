/* Places that set options, from the strongest down: line, variables, files. */
/* SPDX-License-Identifier: MIT */
#include "launcher/options/options_layers.h"

#include "base/alloc.h"
#include "configs/files/ini.h"
#include "launcher/options/options_kinds.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECTION "autofit"
#define VARIABLE_PREFIX "AUTOFIT_"
#define SHORT_NAME 4
/* A file of another sort may hold thousands of keys. */
#define WARNINGS_MAX 20

static size_t layers_index(const struct option_row *row)
{
	size_t index = (size_t)(row - option_rows);

	assert(index < OPTION_ROWS_MAX);
	return index;
}

static bool layers_decided(const struct option_layers *layers,
			   const struct option_row *row)
{
	return layers->stronger[layers_index(row)];
}

/* Rows that set the same field, or one that this takes back, are set too. */
static void layers_mark(struct option_layers *layers,
			const struct option_row *given, bool others)
{
	layers->here[layers_index(given)] = true;
	for (size_t i = 0; others && option_rows[i].name; i++) {
		const struct option_row *row = &option_rows[i];

		if (!row->print &&
		    (row->field == given->field ||
		     (given->excludes && row->field == given->excludes)))
			layers->here[i] = true;
	}
}

static bool layers_is_switched_off(const struct option_row *row,
				   const char *value)
{
	bool truth = true;

	return row->kind->is_flag && option_truth(value, &truth, NULL) == 0 &&
	       !truth;
}

int layers_set(struct option_layers *layers, const struct option_row *row,
	       const char *value, struct error *err)
{
	struct options *options = layers->options;
	int result;

	if (layers_decided(layers, row))
		return 0;
	result = row->kind->set(row, options, value, err);
	if (result < 0)
		return result;
	if (row->given)
		*(bool *)((char *)options + row->given) = true;
	if (row->excludes && *(bool *)option_field(row, options))
		*(bool *)((char *)options + row->excludes) = false;
	/* "grow = no" leaves the effective batch to weaker places. */
	layers_mark(layers, row, !layers_is_switched_off(row, value));
	return 0;
}

void layers_next(struct option_layers *layers)
{
	for (size_t i = 0; i < OPTION_ROWS_MAX; i++) {
		layers->stronger[i] = layers->stronger[i] || layers->here[i];
		layers->here[i] = false;
	}
}

void layers_pass_over(struct option_layers *layers, enum option_group first)
{
	for (size_t i = 0; option_rows[i].name; i++)
		if (option_rows[i].group >= first)
			layers->stronger[i] = true;
}

static char *layers_variable_name(const struct option_row *row)
{
	char *name = xasprintf(VARIABLE_PREFIX "%s", row->name);

	for (char *c = name; *c; c++)
		*c = (char)(*c == '-' ? '_' : toupper((unsigned char)*c));
	return name;
}

static int layers_read_variable(struct option_layers *layers,
				const struct option_row *row,
				const struct strlist *environment,
				struct error *err)
{
	char *name = layers_variable_name(row);
	const char *value = strlist_env_get(environment, name);
	int result = 0;

	if (value && *value)
		result = layers_set(layers, row, value, err);
	if (result < 0)
		(void)error_prefix(err, "%s", name);
	free(name);
	return result;
}

/* Slips are named; what is near to no option may be anybody's. */
static void layers_warn_of_variable(const char *item, struct strlist *warnings)
{
	size_t length = strcspn(item, "=");
	char *name = xstrndup(item + strlen(VARIABLE_PREFIX),
			      length - strlen(VARIABLE_PREFIX));
	const struct option_row *row;
	const char *meant = NULL;

	for (char *c = name; *c; c++)
		*c = (char)(*c == '_' ? '-' : tolower((unsigned char)*c));
	/* One letter makes another word of a short one. */
	if (strlen(name) > SHORT_NAME && !option_of_name(name, strlen(name)))
		meant = option_nearest(name);
	row = meant ? option_of_name(meant, strlen(meant)) : NULL;
	if (row && !row->print) {
		char *variable = layers_variable_name(row);

		strlist_addf(warnings,
			     "%.*s is no variable of autofit's and changes "
			     "nothing (did you mean %s?)",
			     (int)length, item, variable);
		free(variable);
	}
	free(name);
}

int layers_read_environment(struct option_layers *layers,
			    const struct strlist *environment,
			    struct strlist *warnings, struct error *err)
{
	struct strlist own = STRLIST_INIT;
	int result = 0;

	/* Few are there, and each is looked for once for each option. */
	for (size_t i = 0; i < environment->count; i++)
		if (strncmp(environment->items[i], VARIABLE_PREFIX,
			    strlen(VARIABLE_PREFIX)) == 0)
			strlist_add(&own, environment->items[i]);
	for (const struct option_row *row = option_rows;
	     result == 0 && own.count && row->name; row++)
		if (!row->print)
			result = layers_read_variable(layers, row, &own, err);
	for (size_t i = 0; warnings && i < own.count; i++)
		layers_warn_of_variable(own.items[i], warnings);
	strlist_release(&own);
	if (result < 0)
		return -EINVAL;
	layers_next(layers);
	return 0;
}

/* A file while its lines are read. */
struct layers_reading {
	struct option_layers *layers;
	const struct options_file *file;
	struct strlist *warnings;
	size_t warned;
	char *unknown_section; /* the last one that was warned of */
	bool named[OPTION_ROWS_MAX];
};

/* Takes text, which says what is wrong with the line. */
static void layers_warn(struct layers_reading *reading, unsigned line,
			char *text)
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

/* Each other section is warned of once, where it begins. */
static bool layers_is_our_section(struct layers_reading *reading,
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
	layers_warn(reading, entry->line,
		    xasprintf("unknown section [%s]; options stand in "
			      "[" SECTION "]",
			      section));
	return false;
}

/* Says why the line of a key that is no option, or not here, is passed over. */
static char *layers_why_not(const struct layers_reading *reading,
			    const struct option_row *row, const char *key,
			    const char *name)
{
	const char *meant;

	if (row && (row->print || row->one_call))
		return xasprintf("'%s' is passed over: it belongs to one call, "
				 "not into a file",
				 key);
	if (row && row->runs_or_writes && reading->file->foreign)
		return xasprintf("'%s' is passed over: this file belongs to "
				 "another user",
				 key);
	if (row)
		return NULL;
	meant = option_suggestion(name);
	return meant ? xasprintf("unknown option '%s' (did you mean %s?)", key,
				 meant)
		     : xasprintf("unknown option '%s'", key);
}

/* The row of an entry that may stand in this file; else a warning. */
static const struct option_row *layers_row_of(struct layers_reading *reading,
					      const struct ini_entry *entry)
{
	char *name = xstrdup(entry->key);
	const struct option_row *row;
	char *why_not;

	/* max_micro is max-micro, as on the command line. */
	for (char *c = name; *c; c++)
		if (*c == '_')
			*c = '-';
	row = option_of_name(name, strlen(name));
	why_not = layers_why_not(reading, row, entry->key, name);
	free(name);
	if (!why_not)
		return row;
	layers_warn(reading, entry->line, why_not);
	return NULL;
}

static int layers_on_entry(void *context, const struct ini_entry *entry,
			   struct error *err)
{
	struct layers_reading *reading = context;
	const struct option_row *row;
	bool *named;

	if (!layers_is_our_section(reading, entry))
		return 0;
	row = layers_row_of(reading, entry);
	if (!row || !*entry->value)
		return 0;
	named = &reading->named[layers_index(row)];
	if (*named && !row->kind->grows)
		layers_warn(reading, entry->line,
			    xasprintf("'%s' once more; the last line counts",
				      entry->key));
	*named = true;
	if (layers_set(reading->layers, row, entry->value, err) < 0)
		return error_prefix(err, "%s", row->name);
	return 0;
}

int layers_read_file(struct option_layers *layers,
		     const struct options_file *file, struct strlist *warnings,
		     struct error *err)
{
	struct layers_reading reading = { .layers = layers,
					  .file = file,
					  .warnings = warnings };
	int result = ini_read(file->path, file->text, file->length,
			      layers_on_entry, &reading, err);

	free(reading.unknown_section);
	layers_next(layers);
	return result;
}
