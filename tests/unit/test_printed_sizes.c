/* Lines in which frameworks name their batch sizes, and what looks so. */
/* SPDX-License-Identifier: MIT */
/* USES configs base */
#include "base/strbuf.h"
#include "configs/presets/preset.h"
#include "configs/presets/printed_sizes.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define HF_MICRO "Instantaneous batch size per device = (?<micro>[0-9,]+)"
#define HF_ACCUM "Gradient Accumulation steps = (?<accum>[0-9,]+)"
#define HF_TOTAL                                                               \
	"Total train batch size \\(w\\. parallel, distributed & "              \
	"accumulation\\) = (?<effective>[0-9,]+)"
#define UNSLOTH                                                                \
	"Batch size per device = (?<micro>[0-9,]+) \\| Gradient "              \
	"accumulation steps = (?<accum>[0-9,]+)"
#define EITHER "batch (?:(?<micro>[0-9]+)|of all (?<effective>[0-9]+))"
#define ANY "size (?<micro>.*)"
#define LINES_MAX 5

static const struct {
	const char *name;
	const char *patterns[4];
	const char *lines[LINES_MAX];
	struct printed_sizes sizes;
} rows[] = {
	{ "nothing", { HF_MICRO }, { "  Num examples = 128" }, { 0 } },
	{ "each on a line of its own",
	  { HF_MICRO, HF_ACCUM, HF_TOTAL },
	  { "[INFO|trainer.py:2134] 2026-02-03 >>   Instantaneous batch size "
	    "per device = 8",
	    "  Total train batch size (w. parallel, distributed & "
	    "accumulation) = 1,024",
	    "  Gradient Accumulation steps = 16" },
	  { .micro = 8, .accum = 16, .effective = 1024 } },
	{ "two on one line",
	  { UNSLOTH },
	  { "O^O/ \\_/ \\    Batch size per device = 2 | Gradient accumulation "
	    "steps = 4" },
	  { .micro = 2, .accum = 4 } },
	{ "one group or the other",
	  { EITHER },
	  { "batch of all 64", "batch 8" },
	  { .micro = 8, .effective = 64 } },
	{ "the last word counts",
	  { HF_MICRO },
	  { "Instantaneous batch size per device = 4",
	    "Instantaneous batch size per device = 8", "no size" },
	  { .micro = 8 } },
	{ "every pattern is asked",
	  { HF_MICRO, "per device = (?<accum>[0-9]+)" },
	  { "Instantaneous batch size per device = 4" },
	  { .micro = 4, .accum = 4 } },
	{ "no count", { ANY }, { "size auto", "size -1", "size 8.0" }, { 0 } },
	{ "none", { ANY }, { "size 8", "size 0" }, { .micro = 8 } },
	{ "more than a number holds",
	  { ANY },
	  { "size 8", "size 99999999999999999999" },
	  { .micro = 8 } },
};

static struct printed_sizes_patterns *make(const char *const *patterns)
{
	struct strlist list = STRLIST_INIT;
	struct error err = ERROR_INIT;
	struct printed_sizes_patterns *set;

	for (size_t i = 0; i < 4 && patterns[i]; i++)
		strlist_add(&list, patterns[i]);
	if (printed_sizes_patterns_make(&set, &list, &err) < 0)
		fail_msg("%s", err.message);
	strlist_release(&list);
	return set;
}

static void every_row_is_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct printed_sizes_patterns *set = make(rows[i].patterns);
		struct printed_sizes sizes = { 0 };

		for (size_t k = 0; k < LINES_MAX && rows[i].lines[k]; k++)
			printed_sizes_patterns_match(set, rows[i].lines[k],
						     strlen(rows[i].lines[k]),
						     &sizes);
		if (sizes.micro != rows[i].sizes.micro ||
		    sizes.accum != rows[i].sizes.accum ||
		    sizes.effective != rows[i].sizes.effective)
			fail_msg("%s: micro %" PRId64 " accum %" PRId64
				 " effective %" PRId64,
				 rows[i].name, sizes.micro, sizes.accum,
				 sizes.effective);
		printed_sizes_patterns_free(set);
	}
}

static void a_long_line_costs_little(void **state)
{
	static const char *const patterns[4] = { "x.*y.*size (?<micro>[0-9]+)",
						 HF_MICRO };
	struct printed_sizes_patterns *set = make(patterns);
	struct printed_sizes sizes = { 0 };
	struct strbuf line = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < (size_t)1 << 20; i++)
		strbuf_addch(&line, 'x');
	strbuf_adds(&line, "y size 8");
	printed_sizes_patterns_match(set, line.data, line.length, &sizes);
	assert_int_equal(sizes.micro, 0);
	printed_sizes_patterns_match(set, line.data + line.length - 64, 64,
				     &sizes);
	assert_int_equal(sizes.micro, 8);
	strbuf_release(&line);
	printed_sizes_patterns_free(set);
}

static const struct {
	const char *pattern;
	const char *message;
} wrong[] = {
	{ "size ([0-9]+)", "has no group" },
	{ "size (?<step>[0-9]+)", "has no group" },
	{ "size (?<micro>[0-9]+", "size (?<micro>" },
};

static void what_is_wrong_is_said(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct strlist list = STRLIST_INIT;
		struct error err = ERROR_INIT;
		struct printed_sizes_patterns *set = NULL;

		strlist_add(&list, HF_MICRO);
		strlist_add(&list, wrong[i].pattern);
		assert_int_equal(printed_sizes_patterns_make(&set, &list, &err),
				 -EINVAL);
		assert_null(set);
		if (!strstr(err.message, wrong[i].message))
			fail_msg("%s: %s", wrong[i].pattern, err.message);
		strlist_release(&list);
	}
}

static void every_preset_has_sound_patterns(void **state)
{
	struct presets presets = { 0 };
	struct error err = ERROR_INIT;
	size_t with_echo = 0;

	(void)state;
	if (presets_load(&presets, NULL, &err) < 0)
		fail_msg("%s", err.message);
	presets_read_all(&presets);
	for (size_t i = 0; i < presets.count; i++) {
		const struct preset *preset = &presets.items[i];
		struct printed_sizes_patterns *set = NULL;

		if (printed_sizes_patterns_make(
			    &set, &preset->log.printed_sizes_patterns, &err) <
		    0)
			fail_msg("%s: %s", preset->name, err.message);
		with_echo += preset->log.printed_sizes_patterns.count > 0;
		printed_sizes_patterns_free(set);
	}
	assert_true(with_echo >= 3);
	presets_release(&presets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_read),
		cmocka_unit_test(a_long_line_costs_little),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(every_preset_has_sound_patterns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
