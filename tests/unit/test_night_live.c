/* The table of a night: what a log says, and rows in any room. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/nightly/night_live.h"

#include "launcher/command/text/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static const struct log_case {
	const char *text;
	size_t probes;
	int64_t micro, accum;
} logs[] = {
	{ "", 0, 0, 0 },
	{ "autofit 0.1.0 - host memory\n"
	  "   micro  accum  peak of 960 MiB\n"
	  "       2      2     216 MiB [##------]  63 ms  63.8  fits, yours\n"
	  "     128      1     396 MiB [###-----] 166 ms 771.4  fits\n",
	  2, 128, 1 },
	{ "      64      1     > 1 GiB [#######!]  over the budget\n"
	  "      32      2     396 MiB [###-----]  fits\n"
	  "      16      4     300 MiB [##------]  fits\n",
	  3, 32, 2 },
	{ "      64      1     - 1 GiB [#######!]  out of memory\n", 1, 0, 0 },
	/* Others may write to it as well, and it may be cut. */
	{ "100 200  fits\n -1 2  fits\n 5\n 5 x  fits\n 0 1  fits\n 9", 0, 0,
	  0 },
	{ " 99999999999999999999999 1  fits", 1, INT64_MAX, 1 },
	{ "\n\n  8 1  x\n  fits\n", 1, 0, 0 },
};

static void what_a_log_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(logs); i++) {
		struct night_live_row row = { .probes = 0 };

		night_live_read_log(&row, logs[i].text);
		if (row.probes != logs[i].probes ||
		    row.best.micro_batch != logs[i].micro ||
		    row.best.grad_accum != logs[i].accum)
			fail_msg("log %zu: %zu probes, %lld x %lld", i,
				 row.probes, (long long)row.best.micro_batch,
				 (long long)row.best.grad_accum);
	}
}

static const struct night_live_row rows[] = {
	{ .name = "small",
	  .state = "runs",
	  .node = "gpu-17",
	  .probes = 3,
	  .best = { .micro_batch = 32, .grad_accum = 1 },
	  .seconds = 83 },
	{ .name = "another-one", .state = "queued", .node = "", .seconds = 0 },
	{ .name = "a\x1b[2Jname", .state = "waits", .node = "", .seconds = -1 },
};

static void the_table(void **state)
{
	static const char wanted[] =
		"  job          state         time  probes  best so far        "
		"     node\n"
		"  small        runs          1:23       3  micro 32 x accum 1 "
		"     gpu-17\n"
		"  another-one  queued        0:00       0\n"
		"  a\\x1b[2Jnam  waits\n";
	const struct report_style style = { .columns = 100, .ascii = true };
	struct strbuf out = STRBUF_INIT;

	(void)state;
	night_live_table(&out, &style, rows, COUNT(rows), 24);
	assert_string_equal(strbuf_text(&out), wanted);
	strbuf_reset(&out);
	night_live_table(&out, &style, rows, 0, 24);
	assert_string_equal(strbuf_text(&out), "");
	strbuf_release(&out);
}

/* Whatever the terminal: no more lines, and none that is wider. */
static void in_any_room(void **state)
{
	(void)state;
	for (int columns = 0; columns <= 120; columns++)
		for (size_t lines = 3; lines <= 6; lines++) {
			const struct report_style style = { .columns =
								    columns };
			struct strbuf out = STRBUF_INIT;
			size_t count = 0;

			night_live_table(&out, &style, rows, COUNT(rows),
					 lines);
			for (char *line = strtok(out.data, "\n"); line;
			     line = strtok(NULL, "\n")) {
				count++;
				if (columns > 1)
					assert_true(text_columns(line) <
						    (size_t)columns);
			}
			assert_true(count <= lines);
			strbuf_release(&out);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_log_says),
		cmocka_unit_test(the_table),
		cmocka_unit_test(in_any_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
