/* Charts: round ticks, characters of a terminal, and text in a page. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/pages/chart_text.h"
#include "launcher/pages/html.h"

#include "base/alloc.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static const struct step_case {
	double max;
	size_t count;
	bool is_bytes;
	double step;
} steps[] = {
	{ 10, 5, false, 2 },          { 100, 5, false, 20 },
	{ 101, 5, false, 50 },        { 7, 7, false, 1 },
	{ 0.9, 5, false, 0.2 },       { 4096, 4, true, 1024 },
	{ 5000, 4, true, 2048 },      { 0, 5, false, 1 },
	{ (double)NAN, 5, false, 1 }, { 1e15, 5, false, 2e14 },
};

static void ticks(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(steps); i++) {
		double step = chart_step(steps[i].max, steps[i].count,
					 steps[i].is_bytes);

		if (fabs(step - steps[i].step) > 1e-9 * steps[i].step)
			fail_msg("row %zu: %g", i, step);
	}
}

/* Half a sample is none. */
static void ticks_of_samples_are_whole(void **state)
{
	struct chart_point point = { .x = 1, .y = 20 };
	const struct chart chart = { .points = &point, .count = 1 };

	(void)state;
	assert_true(chart_x_step(&chart, 7) == 1);
	point.x = 100;
	assert_true(chart_x_step(&chart, 5) > 20);
}

static const struct text_case {
	const char *text, *html;
} texts[] = {
	{ "plain", "plain" },
	{ NULL, "" },
	{ "<a href=\"x\">'&'</a>",
	  "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;" },
	{ "\x1b[31m", "\xef\xbf\xbd[31m" },
	{ "\xff", "\xef\xbf\xbd" },
	{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
	{ "two\nlines", "two\nlines" },
};

static void escapes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct strbuf out = STRBUF_INIT;

		html_text(&out, texts[i].text);
		assert_string_equal(strbuf_text(&out), texts[i].html);
		strbuf_release(&out);
	}
}

static void numbers(void **state)
{
	struct strbuf out = STRBUF_INIT;

	(void)state;
	html_number(&out, 12.34);
	html_number(&out, -0.26);
	html_number(&out, 0);
	assert_string_equal(strbuf_text(&out), "12.3-0.30.0");
	strbuf_release(&out);
}

static void plain_y(struct strbuf *out, double y)
{
	strbuf_addf(out, "%.0f", y);
}

/* Whatever is in a chart, its text stays inside the columns. */
static void in_its_columns(void **state)
{
	static const double values[] = {
		0, 1, 1e-300, 1e18, (double)NAN, -5, 70
	};
	const char *at;

	(void)state;
	for (size_t columns = 0; columns < 200; columns += 33) {
		struct chart chart = { .title = "a title",
				       .x_name = "x",
				       .y_text = plain_y,
				       .has_line = true,
				       .line_start = -1e9,
				       .line_slope = (double)NAN,
				       .levels = { { 1e18, "a level" },
						   { 60, "another" } },
				       .level_count = 2 };
		struct strbuf out = STRBUF_INIT;

		for (size_t i = 0; i < COUNT(values); i++)
			chart_add(&chart, &(struct chart_point){
						  values[i], values[i], 0,
						  (enum chart_kind)(i % 3),
						  xstrdup("a point") });
		chart_text(&chart, columns, true, &out);
		at = strbuf_text(&out);
		while (*at) {
			size_t length = strcspn(at, "\n");

			assert_true(length <= (columns < 60    ? 60
					       : columns > 100 ? 100
							       : columns));
			at += length + 1;
		}
		strbuf_release(&out);
		chart_release(&chart);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks),
		cmocka_unit_test(ticks_of_samples_are_whole),
		cmocka_unit_test(escapes),
		cmocka_unit_test(numbers),
		cmocka_unit_test(in_its_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
