/* The tables and advice of a published guide, for people and programs. */
/* SPDX-License-Identifier: MIT */
#include "launcher/estimate/profile_tables.h"

#include "base/alloc.h"
#include "configs/profiles/profile.h"
#include "launcher/command/text/text.h"
#include "launcher/estimate/profile_grid.h"
#include "launcher/report/report_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 80

static int figure_of(const struct profile_scope *scope,
		     const struct profile_section *section, const char *key,
		     double *value, struct error *err)
{
	const char *text = profile_key(section, key);
	struct profile_figure figure;
	int result;

	if (!text)
		return -ENOENT;
	result = profile_value(scope,
			       (struct profile_text){ text, strlen(text) },
			       &figure, err);
	*value = result < 0 ? 0 : figure.value;
	return result;
}

int profile_difference(const struct profile_scope *scope,
		       const struct profile_section *section,
		       struct profile_difference *difference, struct error *err)
{
	const char *against = profile_key(section, "against");
	int result;

	*difference =
		(struct profile_difference){ .against = against ? against
								: "physics" };
	result =
		figure_of(scope, section, "claimed", &difference->claimed, err);
	if (result == 0)
		result = figure_of(scope, section, "physics",
				   &difference->physical, err);
	if (result < 0)
		return result;
	difference->percent =
		fabs(difference->physical) > 0
			? 100 * (difference->claimed / difference->physical - 1)
			: (double)NAN;
	return 0;
}

/* Whether a blank-separated list of names has this one. */
static bool has_name(const char *names, const char *name)
{
	while (*names) {
		size_t length = strcspn(names, " ");

		if (length == strlen(name) && strncmp(names, name, length) == 0)
			return true;
		names += length + strspn(names + length, " ");
	}
	return false;
}

static int check_tables(const struct profile *profile, struct error *err)
{
	int result = 0;

	for (size_t i = 0; i < profile->count && result == 0; i++) {
		struct profile_grid grid = { .columns = 0 };

		if (profile->sections[i].kind != PROFILE_TABLE)
			continue;
		result = profile_grid_fill(&grid, profile,
					   &profile->sections[i], err);
		profile_grid_release(&grid);
	}
	return result;
}

static int check_names(const struct profile *profile,
		       const struct profile_section *section, struct error *err)
{
	const char *rest = profile_key(section, "tables");

	while (*rest) {
		size_t length = strcspn(rest, " ");
		char *name = xstrndup(rest, length);
		const struct profile_section *table =
			profile_section(profile, PROFILE_TABLE, name);
		int result = table ? 0
				   : error_set(err, -EINVAL,
					       "%s:%u: there is no [table %s]",
					       section->lines->path,
					       section->lines->line, name);

		free(name);
		if (result < 0)
			return result;
		rest += length + strspn(rest + length, " ");
	}
	return 0;
}

static int check_differs(const struct profile *profile, struct error *err)
{
	struct profile_scope scope;
	int result = profile_scope_init(&scope, profile, NULL, err);

	for (size_t i = 0; i < profile->count && result == 0; i++) {
		const struct profile_section *section = &profile->sections[i];
		struct profile_difference difference;

		if (section->kind != PROFILE_DIFFERS)
			continue;
		result = check_names(profile, section, err);
		if (result < 0)
			return result;
		result = profile_difference(&scope, section, &difference, err);
		if (result == -ENOENT)
			result = 0;
		else if (result < 0)
			(void)error_prefix(err, "%s:%u", section->lines->path,
					   section->lines->line);
	}
	return result;
}

/* Each of them computes, but for inputs that only the caller has. */
static int check_estimates(const struct profile *profile, struct error *err)
{
	for (size_t i = 0; i < profile->count; i++) {
		const struct profile_section *section = &profile->sections[i];
		struct profile_inputs inputs = { .method = section->name };
		struct profile_result estimate;
		int result;

		if (section->kind != PROFILE_ESTIMATE)
			continue;
		result = profile_estimate(profile, &inputs, &estimate, err);
		if (result < 0 && result != -ENODATA)
			return error_prefix(err, "%s:%u", section->lines->path,
					    section->lines->line);
	}
	return 0;
}

int profile_check(const struct profile *profile, struct error *err)
{
	int result = check_estimates(profile, err);

	if (result == 0)
		result = check_tables(profile, err);
	return result == 0 ? check_differs(profile, err) : result;
}

int profile_open(struct profile *profile, const char *name, const char *folder,
		 struct error *err)
{
	int result = profile_read(profile, name, folder, err);

	return result == 0 ? profile_check(profile, err) : result;
}

/* "56 GB; physics: 107.8 GB (48% too low)." */
static void add_difference(struct strbuf *out,
			   const struct profile_difference *difference,
			   const char *unit)
{
	double off = fabs(difference->percent);

	strbuf_addf(out, " %.4g %s; %s: %.4g %s", difference->claimed, unit,
		    difference->against, difference->physical, unit);
	if (!isnan(off))
		strbuf_addf(out, " (%.*f%% too %s)", off < 10, off,
			    difference->percent < 0 ? "low" : "high");
	strbuf_addch(out, '.');
}

static void add_differs(struct strbuf *out, const struct profile_scope *scope,
			const struct profile_section *section, bool has_why)
{
	struct strbuf text = STRBUF_INIT;
	struct profile_difference difference;

	strbuf_addf(&text, "  - %s:", profile_key(section, "about"));
	if (profile_difference(scope, section, &difference, NULL) == 0)
		add_difference(&text, &difference,
			       profile_key(section, "unit"));
	if (has_why)
		strbuf_addf(&text, " %s", profile_key(section, "why"));
	text_add_wrapped(out, strbuf_text(&text), 4, WIDTH);
	strbuf_addch(out, '\n');
	strbuf_release(&text);
}

/* Adds how a table of that name differs; NULL: all that have figures. */
static void add_all_differs(struct strbuf *out, const struct profile *profile,
			    const char *table)
{
	struct profile_scope scope;
	bool has_any = false;

	if (profile_scope_init(&scope, profile, NULL, NULL) < 0)
		return;
	for (size_t i = 0; i < profile->count; i++) {
		const struct profile_section *section = &profile->sections[i];

		if (section->kind != PROFILE_DIFFERS ||
		    (table ? !has_name(profile_key(section, "tables"), table)
			   : !profile_key(section, "claimed")))
			continue;
		if (!has_any)
			strbuf_adds(out, "  Differs:\n");
		has_any = true;
		add_differs(out, &scope, section, table != NULL);
	}
}

static void add_table(struct strbuf *out, const struct profile *profile,
		      const struct profile_section *table)
{
	struct profile_grid grid = { .columns = 0 };

	strbuf_addf(out, "\n%s [%s]\n", profile_key(table, "title"),
		    table->name);
	/* profile_open has found that it can be filled. */
	(void)profile_grid_fill(&grid, profile, table, NULL);
	profile_grid_text(out, &grid);
	for (size_t i = 0; i < grid.notes.count; i++) {
		strbuf_adds(out, "  ");
		text_add_wrapped(out, grid.notes.items[i], 2, WIDTH);
		strbuf_addch(out, '\n');
	}
	profile_grid_release(&grid);
	add_all_differs(out, profile, table->name);
}

static void add_advice(struct strbuf *out, const struct profile_section *advice)
{
	int number = 0;

	strbuf_addf(out, "\n%s [%s]\n", profile_key(advice, "title"),
		    advice->name);
	for (size_t i = 0; i < advice->count; i++) {
		char *text;

		if (strcmp(advice->lines[i].key, "item") != 0)
			continue;
		text = xasprintf("  %d. %s", ++number, advice->lines[i].text);
		text_add_wrapped(out, text, 5, WIDTH);
		strbuf_addch(out, '\n');
		free(text);
	}
}

static void add_title(struct strbuf *out, const struct profile *profile)
{
	strbuf_addf(out, "%s [%s]\n%s of %.0f bytes\n", profile->description,
		    profile->name, profile->unit, profile->unit_bytes);
}

char *profile_tables_text(const struct profile *profile)
{
	struct strbuf out = STRBUF_INIT;

	add_title(&out, profile);
	for (size_t i = 0; i < profile->count; i++) {
		const struct profile_section *section = &profile->sections[i];

		if (section->kind == PROFILE_TABLE)
			add_table(&out, profile, section);
		else if (section->kind == PROFILE_ADVICE)
			add_advice(&out, section);
	}
	return strbuf_detach(&out);
}

static void add_range(struct strbuf *out, const struct profile_item *item,
		      const char *unit)
{
	strbuf_addf(out, "%.5g", item->low);
	if (item->high > item->low)
		strbuf_addf(out, "-%.5g", item->high);
	if (item->kind != PROFILE_COUNT)
		strbuf_addf(out, " %s", unit);
}

void profile_result_text(struct strbuf *out, const struct profile *profile,
			 const struct profile_result *result)
{
	struct strlist cells = STRLIST_INIT;

	add_title(out, profile);
	strbuf_addf(out, "estimate: %s\n", result->method);
	for (size_t i = 0; i < result->count; i++) {
		struct strbuf range = STRBUF_INIT;

		add_range(&range, &result->items[i], profile->unit);
		strlist_add(&cells, result->items[i].label);
		strlist_add(&cells, strbuf_text(&range));
		strbuf_release(&range);
	}
	report_columns_print(out, &(struct report_columns){ .cells = &cells,
							    .count = 2,
							    .indent = 2 });
	strlist_release(&cells);
	if (result->verdict)
		strbuf_addf(out, "verdict: %s\n", result->verdict);
	add_all_differs(out, profile, NULL);
}
