/* How much of a record holds for a command, and what is said of the rest. */
/* SPDX-License-Identifier: MIT */
/* USES configs */
#include "configs/identity/identity_text.h"

#include "base/alloc.h"
#include "configs/identity/difference.h"
#include "tests/unit/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

#define ENTRIES_MAX 24

/* An entry is "label|value", of a place after a '!', or an argument alone. */
struct row {
	const char *name;
	const char *recorded[ENTRIES_MAX], *now[ENTRIES_MAX];
	enum record_grade grade;
	const char *difference;
};

static void add_entry(struct strbuf *out, const char *entry)
{
	enum identity_class class =
		*entry == '!' ? IDENTITY_PLACE : IDENTITY_PART;
	const char *bar = strchr(entry, '|');
	char *label;

	entry += *entry == '!';
	if (!bar) {
		identity_add(out, class, "argument", entry);
		return;
	}
	label = xstrndup(entry, (size_t)(bar - entry));
	identity_add(out, class, label, bar + 1);
	free(label);
}

static struct strbuf text_of(const char *const entries[ENTRIES_MAX])
{
	struct strbuf text = STRBUF_INIT;

	identity_begin(&text);
	for (size_t i = 0; i < ENTRIES_MAX && entries[i]; i++)
		add_entry(&text, entries[i]);
	return text;
}

static const struct row rows[] = {
	{ "same", { "!world|2", "a" }, { "!world|2", "a" }, RECORD_EXACT, "" },
	{ "nothing in both", { NULL }, { NULL }, RECORD_EXACT, "" },
	/* Arguments. */
	{ "value of an option",
	  { "python", "t.py", "--seq-len", "256", "--x" },
	  { "python", "t.py", "--seq-len", "512", "--x" },
	  RECORD_NEAR,
	  "argument --seq-len 512, was 256" },
	{ "joined value",
	  { "t.py", "--seq-len=256" },
	  { "t.py", "--seq-len=512" },
	  RECORD_NEAR,
	  "argument --seq-len=512, was 256" },
	{ "key and value",
	  { "t.py", "model.dim=1" },
	  { "t.py", "model.dim=2" },
	  RECORD_NEAR,
	  "argument model.dim=2, was 1" },
	{ "a flag is new",
	  { "t.py", "--lr", "1" },
	  { "t.py", "--fp16", "--lr", "1" },
	  RECORD_NEAR,
	  "argument --fp16 is new" },
	{ "a flag is new before a word",
	  { "t.py", "data.txt" },
	  { "t.py", "--fp16", "data.txt" },
	  RECORD_NEAR,
	  "argument --fp16 is new" },
	{ "a flag is gone",
	  { "t.py", "--fp16", "--lr", "1" },
	  { "t.py", "--lr", "1" },
	  RECORD_NEAR,
	  "argument --fp16 is gone" },
	{ "the last flag is new",
	  { "t.py", "--lr", "1" },
	  { "t.py", "--lr", "1", "--fp16" },
	  RECORD_NEAR,
	  "argument --fp16 is new" },
	{ "an option with its value is new",
	  { "t.py", "--a", "1", "--z" },
	  { "t.py", "--a", "1", "--b", "1", "--z" },
	  RECORD_NEAR,
	  "argument --b 1 is new" },
	{ "another option of the same value",
	  { "t.py", "--a", "1" },
	  { "t.py", "--b", "1" },
	  RECORD_NEAR,
	  "argument --b 1 is new; argument --a 1 is gone" },
	{ "two values apart",
	  { "t.py", "--a", "1", "--b", "2", "--c", "3" },
	  { "t.py", "--a", "9", "--b", "2", "--c", "8" },
	  RECORD_NEAR,
	  "argument --a 9, was 1; argument --c 8, was 3" },
	{ "a value and a flag",
	  { "t.py", "--a", "1", "--b", "2" },
	  { "t.py", "--a", "9", "--f", "--b", "2" },
	  RECORD_NEAR,
	  "argument --a 9, was 1; argument --f is new" },
	{ "a negative value",
	  { "t.py", "--a", "-1" },
	  { "t.py", "--a", "-.5" },
	  RECORD_NEAR,
	  "argument --a -.5, was -1" },
	{ "one value more",
	  { "t.py", "--layers", "1" },
	  { "t.py", "--layers", "1", "2" },
	  RECORD_NEAR,
	  "argument 2 is new" },
	{ "a value that was missing",
	  { "t.py", "--a", "--b" },
	  { "t.py", "--a", "7", "--b" },
	  RECORD_NEAR,
	  "argument --a 7, was --a" },
	{ "only a word",
	  { "python", "a.py" },
	  { "python", "b.py" },
	  RECORD_NEAR,
	  "argument b.py, was a.py" },
	{ "words in another order",
	  { "a.py", "x", "y" },
	  { "a.py", "y", "x" },
	  RECORD_NEAR,
	  "argument order changed" },
	{ "options in another order",
	  { "a.py", "--x", "1", "--y", "2" },
	  { "a.py", "--y", "2", "--x", "1" },
	  RECORD_NEAR,
	  "argument order changed" },
	{ "an option once more",
	  { "--tag", "a", "--tag", "b" },
	  { "--tag", "a", "--tag", "a", "--tag", "b" },
	  RECORD_NEAR,
	  "argument --tag a is new" },
	{ "empty value",
	  { "t.py", "--a", "1" },
	  { "t.py", "--a", "" },
	  RECORD_NEAR,
	  "argument --a '', was 1" },
	{ "all arguments are new",
	  { "torch|2" },
	  { "torch|2", "t.py" },
	  RECORD_NEAR,
	  "argument t.py is new" },
	{ "a masked secret is the same",
	  { "t.py", "--token", "***" },
	  { "t.py", "--token", "***" },
	  RECORD_EXACT,
	  "" },
	{ "other lists of words",
	  { "probe argument|--n", "probe argument|1" },
	  { "probe argument|--n", "probe argument|2" },
	  RECORD_NEAR,
	  "probe argument --n 2, was 1" },
	/* Files. */
	{ "changed file",
	  { "file train.py|01" },
	  { "file train.py|02" },
	  RECORD_NEAR,
	  "train.py changed" },
	{ "file that is gone",
	  { "file a b.py|01" },
	  { "file a b.py|gone" },
	  RECORD_NEAR,
	  "a b.py is gone" },
	{ "file that came back",
	  { "file train.py|gone" },
	  { "file train.py|01" },
	  RECORD_NEAR,
	  "train.py is new" },
	{ "one more file",
	  { "torch|2" },
	  { "torch|2", "file c.yaml|02" },
	  RECORD_NEAR,
	  "c.yaml is new" },
	{ "one file less",
	  { "file c.yaml|02", "torch|2" },
	  { "torch|2" },
	  RECORD_NEAR,
	  "c.yaml is no longer used" },
	/* Versions, variables. */
	{ "version",
	  { "torch|2.0", "driver|550" },
	  { "torch|2.1", "driver|550" },
	  RECORD_NEAR,
	  "torch 2.1, was 2.0" },
	{ "variable",
	  { "variable OMP_NUM_THREADS|1" },
	  { "variable OMP_NUM_THREADS|8" },
	  RECORD_NEAR,
	  "variable OMP_NUM_THREADS 8, was 1" },
	{ "new variable",
	  { "torch|2" },
	  { "torch|2", "variable XLA_FLAGS|--a=b" },
	  RECORD_NEAR,
	  "variable XLA_FLAGS --a=b is new" },
	{ "variable without a value",
	  { "variable X|1" },
	  { "variable X|" },
	  RECORD_NEAR,
	  "variable X '', was 1" },
	{ "repeated label",
	  { "--env|A={micro}", "--env|B=1" },
	  { "--env|A={micro}", "--env|B=2", "--env|C=3" },
	  RECORD_NEAR,
	  "--env B=2, was B=1; --env C=3 is new" },
	{ "repeated label in another order",
	  { "--env|A", "--env|B" },
	  { "--env|B", "--env|A" },
	  RECORD_NEAR,
	  "--env order changed" },
	{ "labels in another order",
	  { "torch|2", "driver|5" },
	  { "driver|5", "torch|2" },
	  RECORD_NEAR,
	  "the order of its parts" },
	/* Places. */
	{ "device",
	  { "!device|NVIDIA H100" },
	  { "!device|NVIDIA H200" },
	  RECORD_HINT,
	  "device NVIDIA H200, was NVIDIA H100" },
	{ "a place is told first",
	  { "t.py", "torch|1", "!world|1" },
	  { "u.py", "torch|2", "!world|2" },
	  RECORD_HINT,
	  "world 2, was 1; argument u.py, was t.py; torch 2, was 1" },
	{ "bytes",
	  { "!--memory|440401920 B" },
	  { "!--memory|4294967296 B" },
	  RECORD_HINT,
	  "--memory 4.00 GiB, was 420 MiB" },
	{ "bytes that look alike",
	  { "!--memory|4294967296 B" },
	  { "!--memory|4294967295 B" },
	  RECORD_HINT,
	  "--memory 4294967295 B, was 4294967296 B" },
	{ "bytes, and none",
	  { "!--memory|what is free" },
	  { "!--memory|4294967296 B" },
	  RECORD_HINT,
	  "--memory 4.00 GiB, was what is free" },
	{ "an effective batch that was not known",
	  { "!effective batch|0" },
	  { "!effective batch|32" },
	  RECORD_HINT,
	  "effective batch 32, was not known" },
	{ "grow no more",
	  { "!effective batch may grow|yes" },
	  { "!effective batch may grow|no" },
	  RECORD_HINT,
	  "tuned with --grow, now without" },
	{ "grow",
	  { "!effective batch may grow|no" },
	  { "!effective batch may grow|yes" },
	  RECORD_HINT,
	  "tuned without --grow, now with" },
	{ "a place that is new",
	  { "!world|1" },
	  { "!world|1", "!--memory|1 GiB" },
	  RECORD_HINT,
	  "--memory 1 GiB is new" },
	{ "a place that is gone",
	  { "!world|1", "!--memory|1 GiB" },
	  { "!world|1" },
	  RECORD_HINT,
	  "--memory 1 GiB is gone" },
	{ "a place written down as a part",
	  { "world|1" },
	  { "!world|1" },
	  RECORD_HINT,
	  "world 1 is new; world 1 is gone" },
	{ "a part written down as a place",
	  { "!torch|1" },
	  { "torch|1" },
	  RECORD_HINT,
	  "torch 1 is gone; torch 1 is new" },
	/* Many, long and odd ones. */
	{ "three",
	  { "a|1", "b|1", "c|1" },
	  { "a|2", "b|2", "c|2" },
	  RECORD_NEAR,
	  "a 2, was 1; b 2, was 1; c 2, was 1" },
	{ "five",
	  { "a|1", "b|1", "c|1", "d|1", "e|1" },
	  { "a|2", "b|2", "c|2", "d|2", "e|2" },
	  RECORD_NEAR,
	  "a 2, was 1; b 2, was 1; c 2, was 1, and 2 more" },
	{ "in the order of the command",
	  { "z|1", "b|1", "m|1" },
	  { "z|2", "b|2", "m|2" },
	  RECORD_NEAR,
	  "z 2, was 1; b 2, was 1; m 2, was 1" },
	{ "long value",
	  { "a|1" },
	  { "a|0123456789012345678901234567890123456789" },
	  RECORD_NEAR,
	  "a 0123456789012345678901234567890123456789, was 1" },
	{ "longer value",
	  { "a|1" },
	  { "a|01234567890123456789012345678901234567890" },
	  RECORD_NEAR,
	  "a 0123456789012345678901234567890123456..., was 1" },
	{ "long file",
	  { "file /01234567890123456789012345678901234567890123456789"
	    "012345678901/train.py|1" },
	  { "file /01234567890123456789012345678901234567890123456789"
	    "012345678901/train.py|2" },
	  RECORD_NEAR,
	  "...456789012345678901234567890123456789012345678901"
	  "/train.py changed" },
	{ "control bytes",
	  { "a|1" },
	  { "a|\x1b[31m\n\x7fx\xc2\x9b" },
	  RECORD_NEAR,
	  "a ?[31m??x??, was 1" },
	{ "control bytes in a label",
	  { "a|1" },
	  { "a|1", "file \x1b]0;x\a|1" },
	  RECORD_NEAR,
	  "?]0;x? is new" },
	{ "not UTF-8",
	  { "a|1" },
	  { "a|\xff\xc3\xa9\xc3" },
	  RECORD_NEAR,
	  "a ?\xc3\xa9?, was 1" },
	{ "blanks, percent, semicolon",
	  { "a b|x y" },
	  { "a b|%41;#" },
	  RECORD_NEAR,
	  "a b %41;#, was x y" },
};

static void assert_row(const struct row *row)
{
	struct strbuf recorded = text_of(row->recorded);
	struct strbuf now = text_of(row->now);
	struct strbuf difference = STRBUF_INIT;

	print_message("%s\n", row->name);
	assert_int_equal(identity_grade(strbuf_text(&recorded),
					strbuf_text(&now), &difference),
			 row->grade);
	assert_string_equal(strbuf_text(&difference), row->difference);
	assert_int_equal(
		identity_grade(strbuf_text(&recorded), strbuf_text(&now), NULL),
		row->grade);
	/* What a command shares with a record, the record shares with it. */
	assert_int_equal(
		identity_grade(strbuf_text(&now), strbuf_text(&recorded), NULL),
		row->grade);
	strbuf_release(&recorded);
	strbuf_release(&now);
	strbuf_release(&difference);
}

static void what_differs_decides(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_row(&rows[i]);
}

static void other_texts_are_a_hint(void **state)
{
	static const struct {
		const char *name, *text;
	} others[] = {
		{ "empty", "" },
		{ "the version before", "autofit.identity/1\nargv 1 a\n" },
		{ "a later version", "autofit.identity/3\npart a b\n" },
		{ "half a version", "autofit.identity/2" },
		{ "no class", "autofit.identity/2\nthing a b\n" },
		{ "no value", "autofit.identity/2\npart a\n" },
		{ "no label", "autofit.identity/2\npart  b\n" },
		{ "too many words", "autofit.identity/2\npart a b c\n" },
		{ "empty line", "autofit.identity/2\n\npart a b\n" },
		{ "cut line", "autofit.identity/2\npart a b" },
		{ "binary", "\xff\xfe\x01" },
	};
	struct strbuf now = STRBUF_INIT;

	(void)state;
	identity_begin(&now);
	identity_add(&now, IDENTITY_PART, "a", "b");
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		struct strbuf difference = STRBUF_INIT;

		print_message("%s\n", others[i].name);
		assert_int_equal(
			identity_grade(others[i].text, now.data, &difference),
			RECORD_HINT);
		assert_string_equal(difference.data,
				    "recorded by another version of autofit");
		assert_int_equal(identity_grade(now.data, others[i].text, NULL),
				 RECORD_HINT);
		strbuf_release(&difference);
	}
	strbuf_release(&now);
}

static void any_text_is_kept_apart(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (size_t i = 0; i < 500; i++) {
		char *label = scratch_random_text(&seed, 1 + i % 9);
		char *value = scratch_random_text(&seed, i % 40);
		struct strbuf text = STRBUF_INIT;
		struct strbuf other = STRBUF_INIT;

		identity_begin(&text);
		identity_begin(&other);
		identity_add(&text, IDENTITY_PART, label, value);
		identity_add(&other, IDENTITY_PART, label, value);
		assert_int_equal(identity_grade(text.data, other.data, NULL),
				 RECORD_EXACT);
		identity_add(&other, IDENTITY_PART, value, label);
		if (*value)
			assert_int_equal(
				identity_grade(text.data, other.data, NULL),
				RECORD_NEAR);
		strbuf_release(&text);
		strbuf_release(&other);
		free(label);
		free(value);
	}
}

/* A record's text may be any: what it costs and says is bounded. */
static void a_huge_text_is_survived(void **state)
{
	static const struct {
		const char *name, *label;
		size_t count;
		enum record_grade grade;
		const char *difference;
	} huge[] = {
		{ "arguments", "argument", 100000, RECORD_NEAR,
		  "argument list changed" },
		{ "one label", "x", 100000, RECORD_NEAR, "x list changed" },
		{ "too many", "argument", 400001, RECORD_HINT,
		  "recorded by another version of autofit" },
	};
	struct strbuf now = STRBUF_INIT;

	(void)state;
	identity_begin(&now);
	identity_add(&now, IDENTITY_PART, huge[0].label, "-b");
	identity_add(&now, IDENTITY_PART, huge[1].label, "-b");
	for (size_t i = 0; i < sizeof(huge) / sizeof(*huge); i++) {
		struct strbuf recorded = STRBUF_INIT;
		struct strbuf difference = STRBUF_INIT;

		print_message("%s\n", huge[i].name);
		identity_begin(&recorded);
		identity_add(&recorded, IDENTITY_PART,
			     i == 1 ? "argument" : "x", "-b");
		for (size_t j = 0; j < huge[i].count; j++)
			identity_add(&recorded, IDENTITY_PART, huge[i].label,
				     "-a");
		assert_int_equal(
			identity_grade(recorded.data, now.data, &difference),
			huge[i].grade);
		assert_string_equal(difference.data, huge[i].difference);
		strbuf_release(&recorded);
		strbuf_release(&difference);
	}
	strbuf_release(&now);
}

static void a_broken_escape_is_shown_up_to_it(void **state)
{
	struct strbuf difference = STRBUF_INIT;

	(void)state;
	assert_int_equal(identity_grade("autofit.identity/2\npart a x%zz\n",
					"autofit.identity/2\npart a %00\n",
					&difference),
			 RECORD_NEAR);
	assert_string_equal(difference.data, "a '', was x");
	strbuf_release(&difference);
}

static void grades_have_names(void **state)
{
	(void)state;
	assert_string_equal(record_grade_name(RECORD_EXACT), "exact");
	assert_string_equal(record_grade_name(RECORD_NEAR), "near");
	assert_string_equal(record_grade_name(RECORD_HINT), "hint");
	assert_null(record_grade_name(RECORD_NONE));
	assert_true(RECORD_NONE < RECORD_HINT && RECORD_HINT < RECORD_NEAR &&
		    RECORD_NEAR < RECORD_EXACT);
}

/* Whatever else differs: only the labels that are asked for. */
static void some_labels_agree(void **state)
{
	static const char *const labels[] = { "preset", "ranks seen", NULL };
	static const struct {
		const char *memory, *preset, *ranks;
		bool agrees;
	} cases[] = {
		{ "1 B", "hf", NULL, true },
		{ "2 B", "hf", NULL, true },
		{ "1 B", "generic", NULL, false },
		{ "1 B", "hf", "2", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct strbuf recorded = STRBUF_INIT, now = STRBUF_INIT;
		struct strbuf why = STRBUF_INIT;

		identity_begin(&recorded);
		identity_add(&recorded, IDENTITY_PLACE, "--memory", "1 B");
		identity_add(&recorded, IDENTITY_PART, "preset", "hf");
		identity_begin(&now);
		identity_add(&now, IDENTITY_PLACE, "--memory", cases[i].memory);
		identity_add(&now, IDENTITY_PART, "preset", cases[i].preset);
		if (cases[i].ranks)
			identity_add(&now, IDENTITY_PART, "ranks seen",
				     cases[i].ranks);
		assert_int_equal(identity_agrees_on(strbuf_text(&recorded),
						    strbuf_text(&now), labels,
						    &why),
				 cases[i].agrees);
		assert_int_equal(why.length == 0, cases[i].agrees);
		assert_null(strstr(strbuf_text(&why), "--memory"));
		strbuf_release(&recorded);
		strbuf_release(&now);
		strbuf_release(&why);
	}
	assert_false(identity_agrees_on("other", "texts", labels, NULL));
}

static void long_texts_are_cut_between_characters(void **state)
{
	static const struct {
		const char *name, *text;
		size_t max_bytes;
		enum plain_end end;
		const char *plain;
	} cuts[] = {
		{ "short", "abc", 8, PLAIN_HEAD, "abc" },
		{ "fits", "abcdefgh", 8, PLAIN_HEAD, "abcdefgh" },
		{ "head", "abcdefghi", 8, PLAIN_HEAD, "abcde..." },
		{ "tail", "abcdefghi", 8, PLAIN_TAIL, "...efghi" },
		{ "head, two bytes", "abcd\xc3\xa9 and more", 8, PLAIN_HEAD,
		  "abcd..." },
		{ "head, whole", "abc\xc3\xa9 and more", 8, PLAIN_HEAD,
		  "abc\xc3\xa9..." },
		{ "tail, two bytes",
		  "and more \xc3\xa9"
		  "abcd",
		  8, PLAIN_TAIL, "...abcd" },
		{ "too long form", "\xc0\xaf", 8, PLAIN_HEAD, "??" },
		{ "surrogate", "\xed\xa0\x80", 8, PLAIN_HEAD, "???" },
		{ "beyond", "\xf4\x90\x80\x80", 8, PLAIN_HEAD, "????" },
		{ "four bytes", "\xf0\x9f\x98\x80", 8, PLAIN_HEAD,
		  "\xf0\x9f\x98\x80" },
		{ "cut at the end", "\xf0\x9f\x98", 8, PLAIN_HEAD, "???" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cuts) / sizeof(*cuts); i++) {
		struct strbuf out = STRBUF_INIT;

		print_message("%s\n", cuts[i].name);
		plain_add(&out, cuts[i].text, cuts[i].max_bytes, cuts[i].end);
		assert_string_equal(strbuf_text(&out), cuts[i].plain);
		strbuf_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_differs_decides),
		cmocka_unit_test(other_texts_are_a_hint),
		cmocka_unit_test(any_text_is_kept_apart),
		cmocka_unit_test(a_huge_text_is_survived),
		cmocka_unit_test(a_broken_escape_is_shown_up_to_it),
		cmocka_unit_test(grades_have_names),
		cmocka_unit_test(some_labels_agree),
		cmocka_unit_test(long_texts_are_cut_between_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
