/* The tables and advice of a published guide for programs. */
/* SPDX-License-Identifier: MIT */
#include "launcher/estimate/profile_grid.h"
#include "launcher/estimate/profile_tables.h"
#include "launcher/report/json.h"

#include <math.h>
#include <string.h>

static const char *const source_names[] = {
	[PROFILE_LITERAL] = "literal",
	[PROFILE_LOOKED_UP] = "lookup",
	[PROFILE_COMPUTED] = "rule",
};

static const char *const item_names[] = {
	[PROFILE_PART] = "part",
	[PROFILE_TOTAL] = "total",
	[PROFILE_COUNT] = "count",
};

static json_t *texts_of(const struct profile_section *section, const char *key)
{
	json_t *array = json_checked(json_array());

	for (size_t i = 0; i < section->count; i++)
		if (strcmp(section->lines[i].key, key) == 0)
			json_append(array, json_text(section->lines[i].text));
	return array;
}

/* {"cells":[..],"sources":[..]} */
static json_t *row_json(const struct profile_grid *grid, size_t row)
{
	json_t *object = json_checked(json_object());
	json_t *cells = json_checked(json_array());
	json_t *sources = json_checked(json_array());

	for (size_t i = row * grid->columns; i < (row + 1) * grid->columns;
	     i++) {
		json_append(cells, json_text(grid->cells.items[i]));
		json_append(sources, json_text(source_names[grid->sources[i]]));
	}
	json_put(object, "cells", cells);
	json_put(object, "sources", sources);
	return object;
}

static json_t *table_json(const struct profile *profile,
			  const struct profile_section *table)
{
	json_t *object = json_checked(json_object());
	json_t *columns = json_checked(json_array());
	json_t *rows = json_checked(json_array());
	json_t *notes = json_checked(json_array());
	struct profile_grid grid = { .columns = 0 };

	/* profile_open has found that it can be filled. */
	(void)profile_grid_fill(&grid, profile, table, NULL);
	for (size_t i = 0; i < grid.columns; i++)
		json_append(columns, json_text(grid.cells.items[i]));
	for (size_t i = 1; i < profile_grid_rows(&grid); i++)
		json_append(rows, row_json(&grid, i));
	for (size_t i = 0; i < grid.notes.count; i++)
		json_append(notes, json_text(grid.notes.items[i]));
	profile_grid_release(&grid);
	json_put(object, "name", json_text(table->name));
	json_put(object, "title", json_text(profile_key(table, "title")));
	json_put(object, "columns", columns);
	json_put(object, "rows", rows);
	json_put(object, "notes", notes);
	return object;
}

static json_t *advice_json(const struct profile *profile,
			   const struct profile_section *advice)
{
	json_t *object = json_checked(json_object());

	(void)profile;
	json_put(object, "name", json_text(advice->name));
	json_put(object, "title", json_text(profile_key(advice, "title")));
	json_put(object, "items", texts_of(advice, "item"));
	return object;
}

static json_t *names_json(const char *names)
{
	json_t *array = json_checked(json_array());

	while (*names) {
		size_t length = strcspn(names, " ");

		json_append(array, json_checked(json_stringn(names, length)));
		names += length + strspn(names + length, " ");
	}
	return array;
}

static json_t *differs_json(const struct profile *profile,
			    const struct profile_section *section)
{
	json_t *object = json_checked(json_object());
	struct profile_difference difference;
	struct profile_scope scope;
	int result = profile_scope_init(&scope, profile, NULL, NULL);

	if (result < 0 ||
	    profile_difference(&scope, section, &difference, NULL) < 0)
		difference =
			(struct profile_difference){ .claimed = (double)NAN,
						     .physical = (double)NAN,
						     .percent = (double)NAN };
	json_put(object, "name", json_text(section->name));
	json_put(object, "tables", names_json(profile_key(section, "tables")));
	json_put(object, "about", json_text(profile_key(section, "about")));
	json_put(object, "claimed", json_number(difference.claimed));
	json_put(object, "physics", json_number(difference.physical));
	json_put(object, "against", json_text(difference.against));
	json_put(object, "unit", json_text(profile_key(section, "unit")));
	json_put(object, "percent", json_number(difference.percent));
	json_put(object, "why", json_text(profile_key(section, "why")));
	return object;
}

/* Each section of a kind, as make has it. */
static json_t *sections_json(const struct profile *profile,
			     enum profile_kind kind,
			     json_t *(*make)(const struct profile *,
					     const struct profile_section *))
{
	json_t *array = json_checked(json_array());

	for (size_t i = 0; i < profile->count; i++)
		if (profile->sections[i].kind == kind)
			json_append(array,
				    make(profile, &profile->sections[i]));
	return array;
}

static json_t *about_json(const struct profile *profile)
{
	json_t *object = json_checked(json_object());

	json_put(object, "profile", json_text(profile->name));
	json_put(object, "description", json_text(profile->description));
	json_put(object, "unit", json_text(profile->unit));
	json_put(object, "unit_bytes", json_number(profile->unit_bytes));
	return object;
}

json_t *profile_tables_json(const struct profile *profile)
{
	json_t *object = about_json(profile);

	json_put(object, "tables",
		 sections_json(profile, PROFILE_TABLE, table_json));
	json_put(object, "advice",
		 sections_json(profile, PROFILE_ADVICE, advice_json));
	json_put(object, "differs",
		 sections_json(profile, PROFILE_DIFFERS, differs_json));
	return object;
}

static json_t *item_json(const struct profile_item *item)
{
	json_t *object = json_checked(json_object());

	json_put(object, "kind", json_text(item_names[item->kind]));
	json_put(object, "label", json_text(item->label));
	json_put(object, "low", json_number(item->low));
	json_put(object, "high", json_number(item->high));
	return object;
}

json_t *profile_result_json(const struct profile *profile,
			    const struct profile_result *result)
{
	json_t *object = about_json(profile);
	json_t *items = json_checked(json_array());
	json_t *total = json_checked(json_object());

	for (size_t i = 0; i < result->count; i++)
		json_append(items, item_json(&result->items[i]));
	json_put(total, "low", json_number(result->low));
	json_put(total, "high", json_number(result->high));
	json_put(object, "method", json_text(result->method));
	json_put(object, "items", items);
	json_put(object, "total", total);
	json_put(object, "verdict", json_text(result->verdict));
	json_put(object, "differs",
		 sections_json(profile, PROFILE_DIFFERS, differs_json));
	return object;
}
