/* INI text: entries with their lines, and everything inih would let pass. */
/* SPDX-License-Identifier: MIT */
/* USES configs base */
#include "base/strbuf.h"
#include "configs/files/ini.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct seen {
	struct strbuf text;
	unsigned stop_at; /* refuse the entry of this line; 0: none */
};

static int note_entry(void *context, const struct ini_entry *entry,
		      struct error *err)
{
	struct seen *seen = context;

	strbuf_addf(&seen->text, "%u[%s]%s=%s|", entry->line, entry->section,
		    entry->key, entry->value);
	if (entry->line == seen->stop_at)
		return error_set(err, -ERANGE, "too much of it");
	return 0;
}

static void entries_are_read(void **state)
{
	static const struct {
		const char *name;
		const char *text;
		const char *seen;
	} rows[] = {
		{ "empty", "", "" },
		{ "blank lines and comments", "\n# a\n; b\n  # c\n\n", "" },
		{ "before a section", "a = 1\n", "1[]a=1|" },
		{ "section", "[s]\na = 1\n", "2[s]a=1|" },
		{ "no newline at the end", "[s]\na=1", "2[s]a=1|" },
		{ "carriage returns", "[s]\r\na = 1\r\n", "2[s]a=1|" },
		{ "byte order mark", "\xef\xbb\xbf[s]\na = 1\n", "2[s]a=1|" },
		{ "empty value", "a =\n", "1[]a=|" },
		{ "value with =", "a = b=c: d\n", "1[]a=b=c: d|" },
		{ "colon", "a : 1\n", "1[]a=1|" },
		{ "blanks in the key", "a b = 1\n", "1[]a b=1|" },
		{ "comment behind a value", "a = 1 ; one\n", "1[]a=1|" },
		{ "semicolon in a value", "a = 1;2 #3\n", "1[]a=1;2 #3|" },
		{ "comment behind a section", "[s] ; s\na = 1\n", "2[s]a=1|" },
		{ "continued", "a = 1\n  2\n\t[3]\n k=v\n",
		  "1[]a=1|2[]a=2|3[]a=[3]|4[]a=k=v|" },
		{ "continued over blanks", "a = 1\n\n# no\n  2\n",
		  "1[]a=1|4[]a=2|" },
		{ "indented first entry", "[s]\n  a = 1\n", "2[s]a=1|" },
		{ "indented in the next section", "a = 1\n[s]\n  b = 2 ; two\n",
		  "1[]a=1|3[s]b=2|" },
		{ "continued with a semicolon", "a = 1\n  2;3\n",
		  "1[]a=1|2[]a=2;3|" },
		{ "any encoding", "a = \xff\xc3\xbc\n", "1[]a=\xff\xc3\xbc|" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct seen seen = { STRBUF_INIT, 0 };
		struct error err = ERROR_INIT;
		int result =
			ini_read("x.ini", rows[i].text, strlen(rows[i].text),
				 note_entry, &seen, &err);

		if (result != 0)
			fail_msg("%s: %s", rows[i].name, err.message);
		if (strcmp(strbuf_text(&seen.text), rows[i].seen) != 0)
			fail_msg("%s: %s", rows[i].name,
				 strbuf_text(&seen.text));
		strbuf_release(&seen.text);
	}
}

static void wrong_lines_are_named(void **state)
{
	static const struct {
		const char *name;
		const char *text;
		const char *place;
		const char *what;
	} rows[] = {
		{ "no entry", "a = 1\nb\n", "x.ini:2: ", "key = value" },
		{ "no entry, then more", "b\na = 1\n",
		  "x.ini:1: ", "key = value" },
		{ "section not closed", "[s\na = 1\n", "x.ini:1: ", "[name]" },
		{ "section closed after a comment", "[s ;]\n",
		  "x.ini:1: ", "" },
		{ "text behind a section", "[s] a = 1\n",
		  "x.ini:1: ", "nothing after" },
		{ "empty section", "[]\na = 1\n", "x.ini:1: ", "1 to 49" },
		{ "long section",
		  "[0123456789012345678901234567890123456789012345678"
		  "9]\n",
		  "x.ini:1: ", "1 to 49" },
		{ "empty key", "\n= 1\n", "x.ini:2: ", "1 to 49" },
		{ "long key",
		  "01234567890123456789012345678901234567890123456789"
		  " = 1\n",
		  "x.ini:1: ", "1 to 49" },
		{ "comment on a continued line", "a = 1\n  2 ; two\n",
		  "x.ini:2: ", "line of its own" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct seen seen = { STRBUF_INIT, 0 };
		struct error err = ERROR_INIT;
		int result =
			ini_read("x.ini", rows[i].text, strlen(rows[i].text),
				 note_entry, &seen, &err);

		if (result != -EINVAL || err.code != -EINVAL)
			fail_msg("%s: %d", rows[i].name, result);
		if (strncmp(err.message, rows[i].place,
			    strlen(rows[i].place)) != 0 ||
		    !strstr(err.message, rows[i].what))
			fail_msg("%s: %s", rows[i].name, err.message);
		assert_int_equal(ini_read("x.ini", rows[i].text,
					  strlen(rows[i].text), note_entry,
					  &seen, NULL),
				 -EINVAL);
		strbuf_release(&seen.text);
	}
}

/* Debian's inih cuts at 199 bytes; up to the limit nothing may be cut. */
static void long_lines_are_refused(void **state)
{
	(void)state;
	for (size_t length = INI_LINE_MAX - 2; length < 420; length++) {
		struct seen seen = { STRBUF_INIT, 0 };
		struct strbuf text = STRBUF_INIT;
		struct error err = ERROR_INIT;
		int result;

		strbuf_adds(&text, "a=");
		while (text.length < length)
			strbuf_addch(&text, 'x');
		strbuf_adds(&text, "\nb=2\n");
		result = ini_read("x.ini", strbuf_text(&text), text.length,
				  note_entry, &seen, &err);
		if (length <= INI_LINE_MAX) {
			assert_int_equal(result, 0);
			assert_int_equal(seen.text.length,
					 length + strlen("1[]|2[]b=2|"));
		} else {
			assert_int_equal(result, -EINVAL);
			assert_int_equal(seen.text.length, 0);
			assert_non_null(strstr(err.message, "x.ini:1: "));
			assert_non_null(strstr(err.message, "indented"));
		}
		strbuf_release(&text);
		strbuf_release(&seen.text);
	}
}

static void nul_bytes_are_refused(void **state)
{
	static const char text[] = "a = 1\nb = 2\0 3\n";
	struct seen seen = { STRBUF_INIT, 0 };
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(ini_read("x.ini", text, sizeof(text) - 1, note_entry,
				  &seen, &err),
			 -EINVAL);
	assert_non_null(strstr(err.message, "x.ini:2: a NUL byte"));
	assert_string_equal(strbuf_text(&seen.text), "1[]a=1|");
	strbuf_release(&seen.text);
}

static void caller_stops_the_reading(void **state)
{
	static const char text[] = "a = 1\nb = 2\nc = 3\n";
	struct seen seen = { STRBUF_INIT, 2 };
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(ini_read("x.ini", text, sizeof(text) - 1, note_entry,
				  &seen, &err),
			 -ERANGE);
	assert_string_equal(err.message, "x.ini:2: too much of it");
	assert_string_equal(strbuf_text(&seen.text), "1[]a=1|2[]b=2|");
	strbuf_release(&seen.text);
}

/* Of two failures the earlier line is told. */
static void first_failure_is_told(void **state)
{
	static const char text[] = "a\nb = 2\n";
	struct seen seen = { STRBUF_INIT, 2 };
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(ini_read("x.ini", text, sizeof(text) - 1, note_entry,
				  &seen, &err),
			 -EINVAL);
	assert_non_null(strstr(err.message, "x.ini:1: "));
	strbuf_release(&seen.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_are_read),
		cmocka_unit_test(wrong_lines_are_named),
		cmocka_unit_test(long_lines_are_refused),
		cmocka_unit_test(nul_bytes_are_refused),
		cmocka_unit_test(caller_stops_the_reading),
		cmocka_unit_test(first_failure_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
