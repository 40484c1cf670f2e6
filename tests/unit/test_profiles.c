/* Every row that guides have published, and the page of them. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/estimate/profile_tables.h"

#include "base/alloc.h"
#include "base/textfile.h"
#include "configs/profiles/profile.h"
#include "launcher/estimate/profile_grid.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PUBLISHED TEST_SOURCE_DIR "/tests/data/published.txt"
#define PAGE TEST_SOURCE_DIR "/docs/published-tables.md"
#define TEXT_MAX ((size_t)1 << 20)

/* What is under way: a table or list of published.txt, and what it becomes. */
struct published {
	struct profile profile;
	struct profile_grid grid;
	const struct profile_section *section;
	size_t row; /* rows or items seen */
	struct strbuf page;
	size_t cells[PROFILE_COMPUTED + 1]; /* by source */
	size_t rows[PROFILE_COMPUTED + 1];  /* by the best of a row */
	size_t tables, advice;
	struct strlist done; /* "PROFILE/TABLE" */
};

static const char *const source_words[] = {
	[PROFILE_LITERAL] = "as printed",
	[PROFILE_LOOKED_UP] = "anchors",
	[PROFILE_COMPUTED] = "rule",
};

static void open_profile(struct profile *profile, const char *name)
{
	struct error err = ERROR_INIT;

	if (profile_open(profile, name, NULL, &err) < 0)
		fail_msg("%s: %s", name, err.message);
}

/* The page says what the table is and where it leaves physics. */
static void add_head(struct published *published)
{
	strbuf_addf(&published->page,
		    "\n### %s: %s\n\n%s\n\n"
		    "| row | printed | computed | from |\n|---|---|---|---|\n",
		    published->profile.name, published->section->name,
		    profile_key(published->section, "title"));
}

static void add_why(struct published *published,
		    const struct profile_section *section)
{
	struct profile_difference difference;
	struct profile_scope scope;
	struct error err = ERROR_INIT;

	assert_int_equal(
		profile_scope_init(&scope, &published->profile, NULL, &err), 0);
	strbuf_addf(&published->page,
		    "- *%s*: ", profile_key(section, "about"));
	if (profile_difference(&scope, section, &difference, &err) == 0) {
		strbuf_addf(&published->page, "%.4g; %s: %.4g %s",
			    difference.claimed, difference.against,
			    difference.physical, profile_key(section, "unit"));
		if (!isnan(difference.percent))
			strbuf_addf(&published->page, " (%+.*f%%)",
				    fabs(difference.percent) < 10,
				    difference.percent);
		strbuf_adds(&published->page, ". ");
	}
	strbuf_addf(&published->page, "%s\n", profile_key(section, "why"));
}

static bool names_table(const struct profile_section *section, const char *name)
{
	char *all = xasprintf(" %s ", profile_key(section, "tables"));
	char *one = xasprintf(" %s ", name);
	bool has = strstr(all, one) != NULL;

	free(all);
	free(one);
	return has;
}

static void end_table(struct published *published)
{
	bool is_first = true;

	if (!published->section)
		return;
	if (published->section->kind == PROFILE_TABLE) {
		assert_int_equal(published->row + 1,
				 profile_grid_rows(&published->grid));
		for (size_t i = 0; i < published->profile.count; i++) {
			const struct profile_section *section =
				&published->profile.sections[i];

			if (section->kind != PROFILE_DIFFERS ||
			    !names_table(section, published->section->name))
				continue;
			if (is_first)
				strbuf_adds(&published->page, "\nDiffers:\n\n");
			is_first = false;
			add_why(published, section);
		}
	}
	published->section = NULL;
	profile_grid_release(&published->grid);
	profile_release(&published->profile);
}

/* "PROFILE TABLE" or "PROFILE advice NAME" */
static void begin_table(struct published *published, char *words)
{
	char *rest = NULL;
	const char *profile = strtok_r(words, " ", &rest);
	const char *name = strtok_r(NULL, " ", &rest);
	bool is_advice = name && strcmp(name, "advice") == 0;
	struct error err = ERROR_INIT;

	if (is_advice)
		name = strtok_r(NULL, " ", &rest);
	assert_non_null(profile);
	assert_non_null(name);
	open_profile(&published->profile, profile);
	published->section = profile_section(
		&published->profile, is_advice ? PROFILE_ADVICE : PROFILE_TABLE,
		name);
	if (!published->section) {
		fail_msg("%s has no %s", profile, name);
		return;
	}
	published->row = 0;
	strlist_addf(&published->done, "%s", published->section->lines->path);
	strlist_addf(&published->done, "%s", name);
	if (is_advice) {
		published->advice++;
		return;
	}
	published->tables++;
	if (profile_grid_fill(&published->grid, &published->profile,
			      published->section, &err) < 0)
		fail_msg("%s %s: %s", profile, name, err.message);
	add_head(published);
}

static void check_item(struct published *published, const char *text)
{
	const struct profile_section *section = published->section;

	/* In order: what was found before is not looked at again. */
	for (; published->row < section->count; published->row++) {
		const struct profile_line *line =
			&section->lines[published->row];

		if (strcmp(line->key, "item") != 0 || !strstr(line->text, text))
			continue;
		published->row++;
		return;
	}
	fail_msg("%s %s has no item with \"%s\"", published->profile.name,
		 section->name, text);
}

static void check_row(struct published *published, const char *line)
{
	const struct profile_grid *grid = &published->grid;
	struct profile_text fields[PROFILE_COLUMNS_MAX];
	size_t count = profile_fields(line, fields);
	size_t first = ++published->row * grid->columns;
	enum profile_source best = PROFILE_LITERAL;
	struct strbuf printed = STRBUF_INIT, computed = STRBUF_INIT;

	assert_int_equal(count, grid->columns);
	assert_true(first + count <= grid->cells.count);
	for (size_t i = 0; i < count; i++) {
		const char *shown = grid->cells.items[first + i];
		enum profile_source source = grid->sources[first + i];

		if (strlen(shown) != fields[i].length ||
		    strncmp(shown, fields[i].text, fields[i].length) != 0)
			fail_msg("%s %s: \"%s\" where \"%s\" is printed",
				 published->profile.name,
				 published->section->name, shown, line);
		published->cells[source]++;
		if (source > best)
			best = source;
		if (i > 0) {
			strbuf_addf(&printed, "%s%.*s", i > 1 ? " / " : "",
				    (int)fields[i].length, fields[i].text);
			strbuf_addf(&computed, "%s%s", i > 1 ? " / " : "",
				    shown);
		}
	}
	published->rows[best]++;
	strbuf_addf(&published->page, "| %.*s | %s | %s | %s |\n",
		    (int)fields[0].length, fields[0].text,
		    strbuf_text(&printed),
		    best == PROFILE_LITERAL ? "" : strbuf_text(&computed),
		    source_words[best]);
	strbuf_release(&printed);
	strbuf_release(&computed);
}

static void read_line(struct published *published, char *line)
{
	if (!*line || *line == '#')
		return;
	if (strncmp(line, "== ", 3) == 0) {
		end_table(published);
		begin_table(published, line + 3);
		return;
	}
	if (!published->section) {
		fail_msg("a row without a table: %s", line);
		return;
	}
	if (published->section->kind == PROFILE_ADVICE)
		check_item(published, line);
	else
		check_row(published, line);
}

static void read_published(struct published *published)
{
	struct strbuf text = STRBUF_INIT;
	struct error err = ERROR_INIT;
	char *rest = NULL;

	if (textfile_read(PUBLISHED, TEXT_MAX, &text, &err) != 0)
		fail_msg("%s", err.message);
	for (char *line = strtok_r(text.data, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		read_line(published, line);
	end_table(published);
	strbuf_release(&text);
}

/* No table and no list of any profile was left out above. */
static void check_all_done(const struct published *published)
{
	struct strlist names = STRLIST_INIT;

	profile_names(&names);
	assert_int_equal(names.count, 7);
	for (size_t i = 0; i < names.count; i++) {
		struct profile profile;

		open_profile(&profile, names.items[i]);
		for (size_t j = 0; j < profile.count; j++) {
			const struct profile_section *section =
				&profile.sections[j];
			bool is_done = false;

			for (size_t k = 0; k < published->done.count; k += 2)
				is_done |= strcmp(published->done.items[k],
						  section->lines->path) == 0 &&
					   strcmp(published->done.items[k + 1],
						  section->name) == 0;
			if (!is_done && (section->kind == PROFILE_TABLE ||
					 section->kind == PROFILE_ADVICE))
				fail_msg("%s is not in published.txt: %s",
					 section->name, profile.name);
		}
		profile_release(&profile);
	}
	strlist_release(&names);
}

static void check_page(const struct published *published)
{
	struct strbuf page = STRBUF_INIT, old = STRBUF_INIT;
	struct error err = ERROR_INIT;
	const size_t *rows = published->rows, *cells = published->cells;

	strbuf_adds(&page,
		    "# Published tables\n\n"
		    "What seven profiles of published guides print, and what "
		    "`autofit estimate --profile\nPROFILE --tables` computes. "
		    "Generated: `AUTOFIT_WRITE_PAGES=1 test_profiles`. Rows\n"
		    "of the kind *rule* follow from a formula of the guide, "
		    "*anchors* from a list of\nits figures with lines between "
		    "them; *as printed* stand as they are.\n\n");
	strbuf_addf(&page,
		    "%zu tables, %zu rows: %zu by rule, %zu by anchors, %zu as "
		    "printed; %zu figures by\nrule, %zu by anchors. %zu lists "
		    "of advice. Nothing here is physics: see below each\n"
		    "table, and [profiles.md](profiles.md).\n",
		    published->tables, rows[0] + rows[1] + rows[2],
		    rows[PROFILE_COMPUTED], rows[PROFILE_LOOKED_UP],
		    rows[PROFILE_LITERAL], cells[PROFILE_COMPUTED],
		    cells[PROFILE_LOOKED_UP], published->advice);
	strbuf_adds(&page, strbuf_text(&published->page));
	if (getenv("AUTOFIT_WRITE_PAGES"))
		assert_int_equal(textfile_replace(PAGE, 0644, page.data,
						  page.length, &err),
				 0);
	assert_int_equal(textfile_read(PAGE, TEXT_MAX, &old, &err), 0);
	if (strcmp(strbuf_text(&page), strbuf_text(&old)) != 0)
		fail_msg("%s is not what comes out now: run this test with "
			 "AUTOFIT_WRITE_PAGES=1, and look at the difference",
			 PAGE);
	strbuf_release(&page);
	strbuf_release(&old);
}

static void every_published_row_is_reproduced(void **state)
{
	struct published published = { .row = 0 };

	(void)state;
	read_published(&published);
	check_all_done(&published);
	check_page(&published);
	strbuf_release(&published.page);
	strlist_release(&published.done);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_published_row_is_reproduced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
