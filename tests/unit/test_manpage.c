/* The manual has every option, sub-command, field of a record, key of a preset.
 */
/* SPDX-License-Identifier: MIT */
/* USES manpage */
#include "scripts/pages/manpage.h"

#include "base/alloc.h"
#include "base/strlist.h"
#include "base/textfile.h"
#include "configs/presets/preset.h"
#include "configs/records/record_fields.h"
#include "launcher/options/options_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static void expand_file(struct strbuf *out, const char *path)
{
	struct strbuf prose = STRBUF_INIT;
	struct error err = ERROR_INIT;

	if (textfile_read(path, 1 << 20, &prose, &err) != 0 ||
	    manpage_expand(out, strbuf_text(&prose), &err) != 0)
		fail_msg("%s: %s", path, err.message);
	strbuf_release(&prose);
}

/* Without escapes and fonts: as it will be read. */
static void make_plain(struct strbuf *text)
{
	static const char *const marks[] = { "\\fB", "\\fI", "\\fR", "\\&" };
	char *to = text->data;

	if (!to)
		return;
	for (const char *from = text->data; *from;) {
		size_t skip = 0;

		for (size_t i = 0; i < COUNT(marks); i++)
			if (strncmp(from, marks[i], strlen(marks[i])) == 0)
				skip = strlen(marks[i]);
		if (!skip && from[0] == '\\' && from[1] == '-')
			skip = 1;
		if (skip)
			from += skip;
		else
			*to++ = *from++;
	}
	*to = '\0';
}

static void has(const struct strbuf *page, const char *text)
{
	if (!strstr(strbuf_text(page), text))
		fail_msg("the page lacks \"%s\"", text);
}

static void every_option_is_on_the_page(void **state)
{
	struct strbuf page = STRBUF_INIT;
	struct strbuf line = STRBUF_INIT;

	(void)state;
	expand_file(&page, TEST_SOURCE_DIR "/docs/man/autofit.1.in");
	make_plain(&page);
	for (const struct option_row *row = option_rows; row->name; row++) {
		strbuf_reset(&line);
		strbuf_addf(&line, "--%s%s%s\n%s", row->name,
			    row->argument ? " " : "",
			    row->argument ? row->argument : "", row->doc);
		has(&page, strbuf_text(&line));
	}
	for (const struct subcommand_row *row = subcommand_rows; row->word;
	     row++) {
		if (row->is_hidden)
			continue;
		strbuf_reset(&line);
		strbuf_addf(&line, ".TP\n%s%s%s\n%s\n", row->word,
			    row->arguments ? " " : "",
			    row->arguments ? row->arguments : "", row->doc);
		has(&page, strbuf_text(&line));
	}
	for (const struct exit_row *row = exit_rows; row->doc; row++) {
		strbuf_reset(&line);
		strbuf_addf(&line, ".TP\n%d\n%s\n", row->code, row->doc);
		has(&page, strbuf_text(&line));
	}
	has(&page, "\"autofit " AUTOFIT_VERSION "\"");
	assert_null(strchr(strbuf_text(&page), '@'));
	strbuf_release(&line);
	strbuf_release(&page);
}

static void every_field_is_on_the_page(void **state)
{
	static const struct {
		const struct field *fields;
		const char *(*text_of)(const char *name);
	} tables[] = {
		{ record_fields, manpage_record_field },
		{ device_fields, manpage_device_field },
		{ probe_fields, manpage_probe_field },
		{ setting_fields, manpage_setting_field },
	};
	struct strbuf page = STRBUF_INIT;
	struct strbuf line = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < COUNT(tables); i++)
		for (const struct field *field = tables[i].fields; field->name;
		     field++)
			if (!tables[i].text_of(field->name))
				fail_msg("%s has no text", field->name);
	expand_file(&page, TEST_SOURCE_DIR "/docs/man/autofit-records.5.in");
	make_plain(&page);
	for (size_t i = 0; i < COUNT(tables); i++) {
		for (const struct field *field = tables[i].fields; field->name;
		     field++) {
			strbuf_reset(&line);
			strbuf_addf(&line, ".TP\n%s\n(", field->name);
			has(&page, strbuf_text(&line));
			has(&page, tables[i].text_of(field->name));
		}
	}
	has(&page, "(one of none fits fits_barely ");
	has(&page, "schema = " RECORD_SCHEMA);
	assert_null(strchr(strbuf_text(&page), '@'));
	assert_null(manpage_record_field("nothing"));
	strbuf_release(&line);
	strbuf_release(&page);
}

/* Where the page speaks of a section, up to the next one. */
static const char *section_of_page(const struct strbuf *page,
				   const char *section, size_t *length)
{
	char *title = xasprintf(".SS [%s]\n", section);
	const char *start = strstr(strbuf_text(page), title);
	const char *end;

	if (!start) {
		fail_msg("the page lacks [%s]", section);
		abort();
	}
	start += strlen(title);
	free(title);
	end = strstr(start, ".S");
	*length = end ? (size_t)(end - start) : strlen(start);
	return start;
}

static bool is_within(const char *text, size_t length, const char *wanted)
{
	return memmem(text, length, wanted, strlen(wanted)) != NULL;
}

/* In its own section, or in the one whose keys it shares. */
static void check_key(const struct strbuf *page, const struct ini_key *key)
{
	struct strbuf line = STRBUF_INIT;
	size_t length;
	const char *text = section_of_page(page, key->section, &length);

	strbuf_addf(&line, ".TP\n%s\n(", key->name);
	if (!is_within(text, length, strbuf_text(&line)) &&
	    strncmp(text, "The keys of [", 13) == 0) {
		char *other = xstrndup(text + 13, strcspn(text + 13, "]"));

		text = section_of_page(page, other, &length);
		free(other);
	}
	if (!is_within(text, length, strbuf_text(&line)) ||
	    !is_within(text, length, key->doc))
		fail_msg("the page lacks %s of [%s]", key->name, key->section);
	strbuf_release(&line);
}

static void every_key_is_on_the_page(void **state)
{
	struct strbuf page = STRBUF_INIT;
	struct strbuf line = STRBUF_INIT;

	(void)state;
	expand_file(&page, TEST_SOURCE_DIR "/docs/man/autofit-preset.5.in");
	make_plain(&page);
	for (const struct ini_key *key = preset_keys; key->name; key++)
		check_key(&page, key);
	for (const struct ini_key *key = preset_example_keys; key->name;
	     key++) {
		strbuf_reset(&line);
		strbuf_addf(&line, ".TP\n%s\n(", key->name);
		has(&page, strbuf_text(&line));
		has(&page, key->doc);
	}
	assert_null(strchr(strbuf_text(&page), '@'));
	strbuf_release(&line);
	strbuf_release(&page);
}

/* The words between backquotes. */
static void quoted_words(struct strlist *words, const char *text, size_t length)
{
	const char *end = text + length;
	const char *open, *close;

	while ((open = memchr(text, '`', (size_t)(end - text))) &&
	       (close = memchr(open + 1, '`', (size_t)(end - open - 1)))) {
		char *word = xstrndup(open + 1, (size_t)(close - open - 1));

		strlist_add(words, word);
		free(word);
		text = close + 1;
	}
}

/* The sections that a row is of; an empty cell: those of the row above. */
static void row_sections(struct strlist *sections, const char *cell,
			 size_t length)
{
	size_t word;

	while (length > 0 && *cell == ' ') {
		cell++;
		length--;
	}
	if (length == 0)
		return;
	strlist_release(sections);
	while (length > 0) {
		char *name;

		word = 0;
		while (word < length && cell[word] != ',' && cell[word] != '|')
			word++;
		name = xstrndup(cell, word);
		while (*name && name[strlen(name) - 1] == ' ')
			name[strlen(name) - 1] = '\0';
		strlist_add(sections, name);
		free(name);
		while (word < length && strchr(", ", cell[word]))
			word++;
		cell += word;
		length -= word;
	}
}

/* "SECTION KEY" of every row of the table of keys. */
static void keys_of_table(struct strlist *keys, const char *text)
{
	static const char head[] =
		"| section | key | meaning |\n|---|---|---|\n";
	struct strlist sections = STRLIST_INIT;
	const char *line = strstr(text, head);

	assert_non_null(line);
	for (line += strlen(head); *line == '|';
	     line = strchr(line, '\n') + 1) {
		const char *second = strchr(line + 1, '|') + 1;
		const char *third = strchr(second, '|');
		struct strlist names = STRLIST_INIT;

		row_sections(&sections, line + 1, (size_t)(second - line) - 2);
		quoted_words(&names, second, (size_t)(third - second));
		for (size_t i = 0; i < sections.count; i++)
			for (size_t j = 0; j < names.count; j++)
				strlist_addf(keys, "%s %s", sections.items[i],
					     names.items[j]);
		strlist_release(&names);
	}
	strlist_release(&sections);
}

static void check_rows(const struct strlist *rows, const struct ini_key *keys)
{
	for (const struct ini_key *key = keys; key->name; key++) {
		char *row = xasprintf("%s %s", key->section, key->name);

		if (strlist_find(rows, row) == rows->count)
			fail_msg("docs/presets.md: no row for %s of [%s]",
				 key->name, key->section);
		free(row);
	}
}

static size_t count_keys(const struct ini_key *keys)
{
	size_t count = 0;

	while (keys[count].name)
		count++;
	return count;
}

static void every_key_is_in_the_manual(void **state)
{
	struct strbuf text = STRBUF_INIT;
	struct strlist rows = STRLIST_INIT;

	(void)state;
	assert_int_equal(textfile_read(TEST_SOURCE_DIR "/docs/presets.md",
				       1 << 20, &text, NULL),
			 0);
	keys_of_table(&rows, strbuf_text(&text));
	check_rows(&rows, preset_keys);
	check_rows(&rows, preset_example_keys);
	/* And no row for what is no key. */
	assert_int_equal(rows.count, count_keys(preset_keys) +
					     count_keys(preset_example_keys));
	strlist_release(&rows);
	strbuf_release(&text);
}

static const char *first_name(const struct preset_knob *knob)
{
	if (knob->names.count)
		return knob->names.items[0];
	return knob->keys.count ? knob->keys.items[0] : NULL;
}

static void add_knob(struct strbuf *row, const struct preset_knob *knob)
{
	strbuf_addf(row, "`%s`", first_name(knob));
	if (knob->unit == UNIT_TOKENS)
		strbuf_adds(row, ", in tokens");
	if (knob->scope && strcmp(knob->scope, "rank") != 0)
		strbuf_addf(row, ", %s",
			    strcmp(knob->scope, "node") == 0 ? "per node"
							     : "over all");
}

/* As docs/presets.md shows a framework. */
static void framework_row(struct strbuf *row, const struct preset *preset)
{
	strbuf_addf(row, "| `%s` | %s | ", preset->name, preset->description);
	add_knob(row, &preset->knobs.micro);
	strbuf_adds(row, " | ");
	if (!preset->knobs.accum.names.count &&
	    preset->knobs.global.names.count)
		strbuf_addf(row, "derived from `%s`",
			    first_name(&preset->knobs.global));
	else if (first_name(&preset->knobs.accum))
		add_knob(row, &preset->knobs.accum);
	else
		strbuf_adds(row, "none");
	strbuf_adds(row, " |\n");
}

static void every_framework_is_in_the_manual(void **state)
{
	static const char head[] =
		"| preset | what | micro | accum |\n|---|---|---|---|\n";
	struct strbuf text = STRBUF_INIT;
	struct strbuf rows = STRBUF_INIT;
	struct presets presets;
	const char *table;

	(void)state;
	assert_int_equal(presets_load(&presets, NULL, NULL), 0);
	presets_read_all(&presets);
	for (size_t i = 0; i < presets.count; i++)
		framework_row(&rows, &presets.items[i]);
	assert_int_equal(textfile_read(TEST_SOURCE_DIR "/docs/presets.md",
				       1 << 20, &text, NULL),
			 0);
	table = strstr(strbuf_text(&text), head);
	if (!table ||
	    strncmp(table + strlen(head), strbuf_text(&rows), rows.length) !=
		    0 ||
	    table[strlen(head) + rows.length] == '|') {
		/* cmocka cuts what it is told. */
		(void)fprintf(stderr, "%s%s", head, strbuf_text(&rows));
		fail_msg("docs/presets.md is to have this table");
	}
	presets_release(&presets);
	strbuf_release(&rows);
	strbuf_release(&text);
}

static void marks_are_known_ones(void **state)
{
	static const struct {
		const char *prose, *wanted; /* NULL: an error */
	} rows[] = {
		{ "", "" },
		{ "text\n", "text\n" },
		{ "a @VERSION@ b @SCHEMA@",
		  "a " AUTOFIT_VERSION " b " RECORD_SCHEMA },
		{ "@NOTHING@\n", NULL },
		{ "a@b\n", NULL },
		{ "@", NULL },
		{ "@OPTIONS@", NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct strbuf out = STRBUF_INIT;
		struct error err = ERROR_INIT;
		int result = manpage_expand(&out, rows[i].prose, &err);

		assert_int_equal(result == 0, rows[i].wanted != NULL);
		if (rows[i].wanted)
			assert_string_equal(strbuf_text(&out), rows[i].wanted);
		else
			assert_non_null(strstr(err.message, "no table is"));
		strbuf_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_option_is_on_the_page),
		cmocka_unit_test(every_field_is_on_the_page),
		cmocka_unit_test(every_key_is_on_the_page),
		cmocka_unit_test(every_key_is_in_the_manual),
		cmocka_unit_test(every_framework_is_in_the_manual),
		cmocka_unit_test(marks_are_known_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
