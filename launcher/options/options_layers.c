/* Places that set options, from the strongest down: line, variables, files. */
/* SPDX-License-Identifier: MIT */
#include "launcher/options/options_layers.h"

#include "base/alloc.h"
#include "launcher/options/options_kinds.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

static size_t index_of(const struct option_row *row)
{
	return (size_t)(row - option_rows);
}

static bool layers_decided(const struct option_layers *layers,
			   const struct option_row *row)
{
	return layers->stronger[index_of(row)];
}

/* Rows that set the same field, or one that this takes back, are set too. */
static void mark(struct option_layers *layers, const struct option_row *given,
		 bool others)
{
	layers->here[index_of(given)] = true;
	for (size_t i = 0; others && option_rows[i].name; i++) {
		const struct option_row *row = &option_rows[i];

		if (!row->print &&
		    (row->field == given->field ||
		     (given->excludes && row->field == given->excludes)))
			layers->here[i] = true;
	}
}

static bool is_switched_off(const struct option_row *row, const char *value)
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
	mark(layers, row, !is_switched_off(row, value));
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

static char *variable_name(const struct option_row *row)
{
	char *name = xasprintf("AUTOFIT_%s", row->name);

	for (char *c = name; *c; c++)
		*c = (char)(*c == '-' ? '_' : toupper((unsigned char)*c));
	return name;
}

static int read_variable(struct option_layers *layers,
			 const struct option_row *row,
			 const struct strlist *environment, struct error *err)
{
	char *name = variable_name(row);
	const char *value = strlist_env_get(environment, name);
	int result = 0;

	if (value && *value)
		result = layers_set(layers, row, value, err);
	if (result < 0)
		(void)error_prefix(err, "%s", name);
	free(name);
	return result;
}

int layers_read_environment(struct option_layers *layers,
			    const struct strlist *environment,
			    struct error *err)
{
	for (const struct option_row *row = option_rows; row->name; row++)
		if (!row->print &&
		    read_variable(layers, row, environment, err) < 0)
			return -EINVAL;
	layers_next(layers);
	return 0;
}
