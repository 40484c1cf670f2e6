/* Text that grows, with NUL bytes and formats. */
/* SPDX-License-Identifier: MIT */
/* USES base */
#include "base/strbuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void an_empty_one_is_a_text(void **state)
{
	struct strbuf buf = STRBUF_INIT;
	char *text;

	(void)state;
	assert_string_equal(strbuf_text(&buf), "");
	strbuf_add(&buf, NULL, 0);
	strbuf_addf(&buf, "%s", "");
	assert_string_equal(strbuf_text(&buf), "");
	strbuf_reset(&buf);
	strbuf_release(&buf);
	text = strbuf_detach(&buf);
	assert_string_equal(text, "");
	free(text);
}

static void it_grows_as_asked(void **state)
{
	struct strbuf buf = STRBUF_INIT;
	char *text;

	(void)state;
	for (int i = 0; i < 10000; i++)
		strbuf_addch(&buf, (char)('a' + i % 26));
	assert_int_equal(buf.length, 10000);
	assert_int_equal(strlen(strbuf_text(&buf)), 10000);
	strbuf_adds(&buf, "<end>");
	strbuf_addf(&buf, "%5d|%s", 42, "x");
	assert_string_equal(buf.data + 10000, "<end>   42|x");
	text = strbuf_detach(&buf);
	assert_int_equal(strlen(text), 10012);
	assert_null(buf.data);
	free(text);
}

static void nul_bytes_stay(void **state)
{
	struct strbuf buf = STRBUF_INIT;

	(void)state;
	strbuf_add(&buf, "a\0b", 3);
	strbuf_addch(&buf, '\0');
	strbuf_adds(&buf, "c");
	assert_int_equal(buf.length, 5);
	assert_memory_equal(buf.data, "a\0b\0c", 6);
	strbuf_reset(&buf);
	assert_int_equal(buf.length, 0);
	assert_string_equal(strbuf_text(&buf), "");
	strbuf_adds(&buf, "again");
	assert_string_equal(strbuf_text(&buf), "again");
	strbuf_release(&buf);
	assert_null(buf.data);
}

static void long_formats_are_whole(void **state)
{
	struct strbuf buf = STRBUF_INIT;

	(void)state;
	for (int width = 1; width < 3000; width += 7) {
		strbuf_reset(&buf);
		strbuf_addf(&buf, "%*d!", width, 1);
		assert_int_equal(buf.length, width + 1);
		assert_string_equal(buf.data + width - 1, "1!");
	}
	strbuf_release(&buf);
}

static void numbers_are_decimal(void **state)
{
	static const size_t numbers[] = { 0, 9, 10, 4096, SIZE_MAX };
	struct strbuf buf = STRBUF_INIT;
	char expected[32];

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		(void)snprintf(expected, sizeof(expected), "[%zu", numbers[i]);
		strbuf_reset(&buf);
		strbuf_addch(&buf, '[');
		strbuf_addu(&buf, numbers[i]);
		assert_string_equal(strbuf_text(&buf), expected);
		assert_int_equal(buf.length, strlen(expected));
	}
	strbuf_release(&buf);
}

static void quotes_are_doubled(void **state)
{
	struct strbuf buf = STRBUF_INIT;

	(void)state;
	strbuf_add_quoted(&buf, "a \"b\", c");
	strbuf_add_quoted(&buf, NULL);
	assert_string_equal(strbuf_text(&buf), "\"a \"\"b\"\", c\"\"\"");
	strbuf_release(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_one_is_a_text),
		cmocka_unit_test(it_grows_as_asked),
		cmocka_unit_test(nul_bytes_stay),
		cmocka_unit_test(long_formats_are_whole),
		cmocka_unit_test(numbers_are_decimal),
		cmocka_unit_test(quotes_are_doubled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
