/* The manual pages hold every option, sub-command and field of a record. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/manpage.h"

#include "base/textfile.h"
#include "configs/record_fields.h"
#include "launcher/options_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
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
		if (row->reserved)
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
		cmocka_unit_test(marks_are_known_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
