/* Places that set options, from the strongest down: line, variables, files. */
/* SPDX-License-Identifier: MIT */
#include "launcher/options_layers.h"

#include "launcher/options_kinds.h"

static size_t index_of(const struct option_row *row)
{
	return (size_t)(row - option_rows);
}

bool layers_decided(const struct option_layers *layers,
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
