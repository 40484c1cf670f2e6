/* Secrets in a stream: masked however the stream is cut. */
/* SPDX-License-Identifier: MIT */
/* USES base configs probes */
#include "base/alloc.h"
#include "probes/output/redact.h"

#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define VALUES_MAX 6

static const struct {
	const char *name;
	const char *values[VALUES_MAX];
	const char *stream, *masked;
} rows[] = {
	{ "no values",
	  { NULL },
	  "token=hunter2hunter2",
	  "token=hunter2hunter2" },
	{ "empty values are none", { "", "" }, "as it is", "as it is" },
	{ "alone", { "s3cret-value" }, "s3cret-value", "***" },
	{ "in the middle",
	  { "s3cret-value" },
	  "Authorization: Bearer s3cret-value\n200 OK\n",
	  "Authorization: Bearer ***\n200 OK\n" },
	{ "twice, side by side",
	  { "hf_abcdef" },
	  "hf_abcdefhf_abcdef.",
	  "******." },
	{ "a beginning only", { "hf_abcdef" }, "hf_abcde", "hf_abcde" },
	{ "false starts", { "aaab" }, "aaaaaab aab aaab", "aaa*** aab ***" },
	{ "one is the beginning of another",
	  { "hf_abc", "hf_abcdef" },
	  "hf_abc hf_abcdef hf_abcde",
	  "*** *** ***de" },
	{ "one is in another",
	  { "bcdefg", "abcdefgh" },
	  "abcdefgh bcdefg abcdefg",
	  "*** *** a***" },
	{ "overlapping values: no piece of either is left",
	  { "abcdef", "defghi" },
	  "-abcdefghi-abcdefg-",
	  "-***-***g-" },
	{ "overlapping itself", { "abcabc" }, "abcabcabc!", "***!" },
	{ "short values", { "k", "xy" }, "kick xyx", "***ic*** ***x" },
	{ "of three bytes", { "abc" }, "ababcab", "ab***ab" },
	{ "more than one line",
	  { "-----BEGIN\nKEY\n-----END" },
	  "a\n-----BEGIN\nKEY\n-----END\nb",
	  "a\n***\nb" },
	{ "bytes that are no text",
	  { "\xff\xfe\x80zz" },
	  "\x80\xff\xff\xfe\x80zz\xff",
	  "\x80\xff***\xff" },
	{ "the same value twice in the list",
	  { "hunter2", "hunter2" },
	  "hunter2hunter",
	  "***hunter" },
};

static void fill(struct strlist *values, const char *const *items)
{
	for (size_t i = 0; i < VALUES_MAX && items[i]; i++)
		strlist_add(values, items[i]);
}

/* Feed stream in pieces of the size; the result is in out. */
static void run(const struct strlist *values, const char *stream, size_t length,
		size_t piece, struct strbuf *out)
{
	struct redact redact;

	redact_open(&redact, values);
	for (size_t at = 0; at < length; at += piece) {
		size_t count = length - at < piece ? length - at : piece;
		size_t before = out->length;

		redact_feed(&redact, stream + at, count, out);
		assert_true(redact.held.length <= redact.longest);
		assert_true(out->length >= before);
	}
	redact_finish(&redact, out);
	redact_release(&redact);
}

static void every_row_is_masked_in_any_pieces(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strlist values = STRLIST_INIT;
		size_t length = strlen(rows[i].stream);

		fill(&values, rows[i].values);
		for (size_t piece = 1; piece <= length; piece++) {
			struct strbuf out = STRBUF_INIT;

			run(&values, rows[i].stream, length, piece, &out);
			if (strcmp(strbuf_text(&out), rows[i].masked) != 0)
				fail_msg("%s, in pieces of %zu: '%s'",
					 rows[i].name, piece,
					 strbuf_text(&out));
			strbuf_release(&out);
		}
		strlist_release(&values);
	}
}

static void no_list_is_no_values(void **state)
{
	struct strbuf out = STRBUF_INIT;

	(void)state;
	run(NULL, "a\0b", 3, 2, &out);
	assert_int_equal(out.length, 3);
	assert_memory_equal(out.data, "a\0b", 3);
	strbuf_release(&out);
}

/* What is not a beginning of a value passes at once: the log is live. */
static void only_what_may_be_a_value_is_held(void **state)
{
	struct strlist values = STRLIST_INIT;
	struct strbuf out = STRBUF_INIT;
	struct redact redact;

	(void)state;
	strlist_add(&values, "hunter2hunter2");
	redact_open(&redact, &values);
	redact_feed(&redact, "step 1, loss 2.0\n", 17, &out);
	assert_string_equal(strbuf_text(&out), "step 1, loss 2.0\n");
	redact_feed(&redact, "password hunter2", 16, &out);
	assert_string_equal(strbuf_text(&out), "step 1, loss 2.0\npassword ");
	redact_feed(&redact, "hunter3", 7, &out);
	assert_string_equal(strbuf_text(&out),
			    "step 1, loss 2.0\npassword hunter2hunter3");
	assert_int_equal(redact.held.length, 0);
	redact_release(&redact);
	strbuf_release(&out);
	strlist_release(&values);
}

/* The plain way to do it: mark all that a value covers, then write. */
static char *mask_plainly(const struct strlist *values, const char *text)
{
	size_t length = strlen(text);
	char *covered = xcalloc(1, length + 2);
	struct strbuf out = STRBUF_INIT;

	for (size_t at = 0; at < length; at++)
		for (size_t i = 0; i < values->count; i++) {
			size_t size = strlen(values->items[i]);

			if (strncmp(text + at, values->items[i], size) != 0)
				continue;
			/* 2: here another *** begins */
			if (!covered[at])
				covered[at] = 2;
			for (size_t j = 1; j < size; j++)
				covered[at + j] = 1;
		}
	for (size_t at = 0; at < length; at++) {
		if (covered[at] == 2)
			strbuf_adds(&out, "***");
		else if (!covered[at])
			strbuf_addch(&out, text[at]);
	}
	free(covered);
	return strbuf_detach(&out);
}

/* Three values of shortest bytes or up to five more, of two letters. */
static void fill_randomly(struct strlist *values, uint64_t *random,
			  size_t shortest)
{
	for (int i = 0; i < 3; i++) {
		char value[24] = "";
		size_t size = shortest + scratch_random(random) % 6;

		for (size_t j = 0; j < size; j++)
			value[j] = (char)('a' + scratch_random(random) % 2);
		strlist_add(values, value);
	}
}

/* Short values are looked for at every byte, long ones at every fourth. */
static void random_streams_agree_with_the_plain_way(void **state)
{
	uint64_t random = 12345;

	(void)state;
	for (size_t round = 0; round < 6000; round++) {
		struct strlist values = STRLIST_INIT;
		struct strbuf out = STRBUF_INIT;
		char text[96];
		char *expected;

		fill_randomly(&values, &random, 1 + round % 9);
		/* Random letters, with values among them. */
		for (size_t j = 0; j + 1 < sizeof(text); j++)
			text[j] = (char)('a' + scratch_random(&random) % 3);
		text[sizeof(text) - 1] = '\0';
		for (size_t at = 0; at + 20 < sizeof(text);
		     at += scratch_random(&random) % 40 + 1) {
			const char *value =
				values.items[scratch_random(&random) % 3];

			memcpy(text + at, value, strlen(value));
		}
		expected = mask_plainly(&values, text);
		run(&values, text, strlen(text),
		    scratch_random(&random) % 9 + 1, &out);
		assert_string_equal(strbuf_text(&out), expected);
		free(expected);
		strbuf_release(&out);
		strlist_release(&values);
	}
}

/* Longer than what is copied at once, with a value over every border. */
static void large_feeds_are_masked(void **state)
{
	static const char value[] = "0123456789abcdef";
	const size_t count = 40000;
	struct strlist values = STRLIST_INIT;
	struct strbuf stream = STRBUF_INIT;
	struct strbuf out = STRBUF_INIT;

	(void)state;
	strlist_add(&values, value);
	for (size_t i = 0; i < count; i++) {
		strbuf_adds(&stream, value);
		strbuf_addch(&stream, '\n');
	}
	run(&values, stream.data, stream.length, stream.length, &out);
	assert_int_equal(out.length, count * 4);
	assert_null(strstr(strbuf_text(&out), "0"));
	strbuf_release(&out);
	strbuf_release(&stream);
	strlist_release(&values);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_masked_in_any_pieces),
		cmocka_unit_test(no_list_is_no_values),
		cmocka_unit_test(only_what_may_be_a_value_is_held),
		cmocka_unit_test(random_streams_agree_with_the_plain_way),
		cmocka_unit_test(large_feeds_are_masked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
