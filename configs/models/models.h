/* Models that are known by name, without a file of theirs. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_MODELS_MODELS_H
#define AUTOFIT_CONFIGS_MODELS_MODELS_H

#include "base/error.h"
#include "base/model_facts.h"
#include "base/strlist.h"

#include <stddef.h>

#define MODEL_ALSO_MAX 192

struct known_model {
	struct model_facts facts;  /* complete, parameters 0; with its name */
	char also[MODEL_ALSO_MAX]; /* other names, blanks between them */
};

/* All zero: empty. */
struct model_table {
	struct known_model *items;
	size_t count, capacity;
};

/*
 * The built-in models (configs/models.csv), then those of the user's file of
 * the same format, which add to them or replace one of the same name; path
 * NULL, or no such file: none. A line that cannot be used is passed over with
 * "path:line: ..." in warnings. The caller releases the table.
 */
void model_table_load(struct model_table *table, const char *path,
		      struct strlist *warnings);
void model_table_release(struct model_table *table);

/*
 * In any case, with or without its organisation, dashes, and the words hf,
 * instruct, chat and it, which change no size: "llama-2-7b", "GPT2",
 * "Qwen/Qwen2.5-7B-Instruct". NULL: -ENOENT, the message names the nearest.
 */
const struct model_facts *model_table_find(const struct model_table *table,
					   const char *name, struct error *err);

#endif
