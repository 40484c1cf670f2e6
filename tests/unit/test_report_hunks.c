/* What a command is changed in, place by place. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/report/report_hunks.h"
#include "tests/unit/command_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* 70 words that are not there afterwards. */
#define TEN(x) x x x x x x x x x x
#define SEVENTY                                                                \
	TEN("w ") TEN("w ") TEN("w ") TEN("w ") TEN("w ") TEN("w ") TEN("w ")

static const struct {
	const char *before, *after, *expected;
} rows[] = {
	{ "t --bs 8", "t --bs 8", "" },
	{ "t --bs 8 --lr 1", "t --bs 16 --lr 1",
	  "    - --bs 8\n    + --bs 16\n" },
	{ "t --bs 8 --lr 1 -o out --ga 4", "t --bs 16 --lr 1 -o new --ga 2",
	  "    - --bs 8\n    + --bs 16\n"
	  "    - -o out\n    + -o new\n"
	  "    - --ga 4\n    + --ga 2\n" },
	{ "t --bs=8 --lr 1", "t --bs=16 --lr 1",
	  "    - --bs=8\n    + --bs=16\n" },
	{ "t --lr 1", "t --lr 1 --bs 16 --ga 2", "    + --bs 16 --ga 2\n" },
	{ "t --resume x --bs 8", "t --bs 8", "    - --resume x\n" },
	{ "t --bs=1 8", "t --bs=1 9", "    - 8\n    + 9\n" },
	{ "t a b c", "u a c d", "    - t\n    + u\n    - b\n    + d\n" },
	{ "a", "b c", "    - a\n    + b c\n" },
	{ "t " SEVENTY "z", "t z", "    - " SEVENTY "z\n    + z\n" },
};

static void hunks_stand_by_themselves(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strlist before = words(rows[i].before);
		struct strlist after = words(rows[i].after);
		struct strbuf text = STRBUF_INIT;

		strbuf_adds(&text, "");
		report_hunks_add(&text, &before, &after);
		assert_string_equal(strbuf_text(&text), rows[i].expected);
		strbuf_release(&text);
		strlist_release(&before);
		strlist_release(&after);
	}
}

static void words_are_cut_and_quoted(void **state)
{
	struct strbuf text = STRBUF_INIT;
	char word[1000];

	(void)state;
	report_hunks_add_word(&text, '+', "a b\033");
	assert_null(strchr(strbuf_text(&text), '\033'));
	assert_non_null(strstr(strbuf_text(&text), "    + "));
	memset(word, 'x', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	report_hunks_add_word(&text, '-', word);
	assert_non_null(strstr(strbuf_text(&text), "xxx...\n"));
	assert_true(text.length < 300);
	strbuf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hunks_stand_by_themselves),
		cmocka_unit_test(words_are_cut_and_quoted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
