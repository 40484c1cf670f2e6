/* Any bytes become printable ASCII, and the same bytes again. */
/* SPDX-License-Identifier: MIT */
/* USES configs */
#include "configs/files/escape.h"

#include "tests/unit/scratch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void texts_are_escaped(void **state)
{
	static const struct {
		const char *name, *text, *escaped;
	} rows[] = {
		{ "nothing", "", "" },
		{ "plain", "--lr=1e-4", "--lr=1e-4" },
		{ "blank", "a b", "a%20b" },
		{ "percent", "5%", "5%25" },
		{ "comments", "#x ;y", "%23x%20%3By" },
		{ "lines", "a\r\n\tb", "a%0D%0A%09b" },
		{ "quotes and brackets", "[\"a\\'=:]", "[\"a\\'=:]" },
		{ "unicode", "\xc3\xa9", "%C3%A9" },
		{ "not unicode", "\xff\x80", "%FF%80" },
		{ "control", "\x01\x1b\x7f", "%01%1B%7F" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strbuf escaped = STRBUF_INIT;
		struct strbuf back = STRBUF_INIT;

		print_message("%s\n", rows[i].name);
		escape_add(&escaped, rows[i].text);
		assert_string_equal(strbuf_text(&escaped), rows[i].escaped);
		assert_int_equal(unescape_add(&back, rows[i].escaped), 0);
		assert_string_equal(strbuf_text(&back), rows[i].text);
		strbuf_release(&escaped);
		strbuf_release(&back);
	}
}

static void escapes_are_judged(void **state)
{
	static const struct {
		const char *name, *escaped;
		int result;
		const char *text;
	} rows[] = {
		{ "small digits", "%c3%a9", 0, "\xc3\xa9" },
		{ "bare bytes", "a b;#\xc3\xa9", 0, "a b;#\xc3\xa9" },
		{ "NUL", "a%00", -EINVAL, NULL },
		{ "no digits", "a%", -EINVAL, NULL },
		{ "one digit", "a%4", -EINVAL, NULL },
		{ "no hex", "%4g", -EINVAL, NULL },
		{ "no hex first", "%g4", -EINVAL, NULL },
		{ "sign", "%-1", -EINVAL, NULL },
		{ "blank digit", "% 1", -EINVAL, NULL },
		{ "bare newline", "a\nb", -EINVAL, NULL },
		{ "bare delete", "a\x7f", -EINVAL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strbuf text = STRBUF_INIT;

		print_message("%s\n", rows[i].name);
		assert_int_equal(unescape_add(&text, rows[i].escaped),
				 rows[i].result);
		if (rows[i].text)
			assert_string_equal(strbuf_text(&text), rows[i].text);
		strbuf_release(&text);
	}
}

static void pieces_cut_no_escape(void **state)
{
	static const struct {
		const char *name, *text;
		size_t max_bytes, taken;
		const char *piece;
	} rows[] = {
		{ "all", "abc", 3, 3, "abc" },
		{ "part", "abcd", 3, 3, "abc" },
		{ "escape fits", "a\nb", 4, 2, "a%0A" },
		{ "escape does not", "ab\nc", 4, 2, "ab" },
		{ "only an escape", "\n\n", 3, 1, "%0A" },
		{ "nothing", "", 3, 0, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strbuf piece = STRBUF_INIT;

		print_message("%s\n", rows[i].name);
		assert_int_equal(
			escape_piece(&piece, rows[i].text, rows[i].max_bytes),
			rows[i].taken);
		assert_string_equal(strbuf_text(&piece), rows[i].piece);
		strbuf_release(&piece);
	}
}

static void random_bytes_come_back(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (size_t length = 0; length < 600; length++) {
		char *text = scratch_random_text(&seed, length);
		struct strbuf escaped = STRBUF_INIT;
		struct strbuf back = STRBUF_INIT;

		escape_add(&escaped, text);
		for (size_t i = 0; i < escaped.length; i++)
			assert_in_range(escaped.data[i], '!', '~');
		assert_int_equal(unescape_add(&back, strbuf_text(&escaped)), 0);
		assert_string_equal(strbuf_text(&back), text);
		strbuf_release(&escaped);
		strbuf_release(&back);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_escaped),
		cmocka_unit_test(escapes_are_judged),
		cmocka_unit_test(pieces_cut_no_escape),
		cmocka_unit_test(random_bytes_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
