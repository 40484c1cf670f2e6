/* A job's row against the one of the night before. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/nightly/night_compare.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "configs/identity/identity_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What of a row matters here. */
struct side {
	enum night_state state;
	int64_t micro, peak;
	double speed, spread;
	const char *version, *argument, *device;
};

#define OK_ROW(micro, peak, speed)                                             \
	{                                                                      \
		NIGHT_OK, micro, peak, speed, 1, NULL, NULL, NULL              \
	}

static const struct {
	const char *name;
	bool has_old, is_optional;
	struct side old, new;
	enum night_change change;
	const char *cause; /* NULL: none */
	bool needs_look;
} rows[] = {
	{ "all is the same", true, false, OK_ROW(32, 1000, 100),
	  OK_ROW(32, 1000, 100), CHANGE_SAME, NULL, false },
	{ "nothing to compare with",
	  false,
	  false,
	  { 0 },
	  OK_ROW(32, 1000, 100),
	  CHANGE_NEW,
	  NULL,
	  false },
	{ "it was not run",
	  true,
	  false,
	  { .state = NIGHT_NOT_RUN },
	  OK_ROW(32, 1000, 100),
	  CHANGE_NEW,
	  NULL,
	  false },
	{ "a larger micro-batch", true, false, OK_ROW(16, 600, 100),
	  OK_ROW(32, 1000, 100), CHANGE_BETTER,
	  "micro 16 x accum 2 -> micro 32 x accum 2", false },
	{ "a smaller micro-batch", true, false, OK_ROW(32, 1000, 100),
	  OK_ROW(16, 600, 130), CHANGE_WORSE,
	  "micro 32 x accum 2 -> micro 16 x accum 2; speed +30%", true },
	{ "4% slower is noise", true, false, OK_ROW(32, 1000, 100),
	  OK_ROW(32, 1000, 96), CHANGE_SAME, NULL, false },
	{ "10% slower", true, false, OK_ROW(32, 1000, 100),
	  OK_ROW(32, 1000, 90), CHANGE_WORSE, "speed -10%", true },
	{ "10% slower, which both rates are wrong by",
	  true,
	  false,
	  { NIGHT_OK, 32, 1000, 100, 6, NULL, NULL, NULL },
	  { NIGHT_OK, 32, 1000, 90, 6, NULL, NULL, NULL },
	  CHANGE_SAME,
	  NULL,
	  false },
	{ "20% faster", true, false, OK_ROW(32, 1000, 100),
	  OK_ROW(32, 1000, 120), CHANGE_BETTER, "speed +20%", false },
	{ "4% more memory", true, false, OK_ROW(32, 1000, 100),
	  OK_ROW(32, 1040, 100), CHANGE_SAME, NULL, false },
	{ "6% more memory", true, false, OK_ROW(32, 1000, 100),
	  OK_ROW(32, 1060, 100), CHANGE_WORSE, "peak +6%", true },
	{ "6% less", true, false, OK_ROW(32, 1000, 100), OK_ROW(32, 940, 100),
	  CHANGE_BETTER, "peak -6%", false },
	{ "a rate that is not known", true, false, OK_ROW(32, 1000, 100),
	  OK_ROW(32, 1000, 0), CHANGE_SAME, NULL, false },
	{ "another version",
	  true,
	  false,
	  { NIGHT_OK, 32, 1000, 100, 1, "2.8.0", NULL, NULL },
	  { NIGHT_OK, 32, 1060, 100, 1, "2.9.0", NULL, NULL },
	  CHANGE_WORSE,
	  "torch 2.8.0 -> 2.9.0; peak +6%",
	  true },
	{ "another argument",
	  true,
	  false,
	  { NIGHT_OK, 32, 1000, 100, 1, NULL, "256", NULL },
	  { NIGHT_OK, 16, 1000, 100, 1, NULL, "512", NULL },
	  CHANGE_WORSE,
	  "micro 32 x accum 2 -> micro 16 x accum 2; argument 512, was 256",
	  true },
	{ "another device",
	  true,
	  false,
	  { NIGHT_OK, 32, 1000, 100, 1, NULL, NULL, "A100" },
	  { NIGHT_OK, 32, 1000, 200, 1, NULL, NULL, "H100" },
	  CHANGE_BETTER,
	  "speed +100%; device A100 -> H100",
	  false },
	{ "it fails now",
	  true,
	  false,
	  OK_ROW(32, 1000, 100),
	  { .state = NIGHT_FAILING },
	  CHANGE_FAILING,
	  NULL,
	  true },
	{ "it fails now, with another version",
	  true,
	  false,
	  { NIGHT_OK, 32, 1000, 100, 1, "2.8.0", NULL, NULL },
	  { NIGHT_FAILING, 0, 0, 0, 0, "2.9.0", NULL, NULL },
	  CHANGE_FAILING,
	  "torch 2.8.0 -> 2.9.0",
	  true },
	{ "it fails, but is optional",
	  true,
	  true,
	  OK_ROW(32, 1000, 100),
	  { .state = NIGHT_FAILING },
	  CHANGE_FAILING,
	  NULL,
	  false },
	{ "it fails no more",
	  true,
	  false,
	  { .state = NIGHT_FAILING },
	  OK_ROW(32, 1000, 100),
	  CHANGE_BETTER,
	  "failing -> ok",
	  false },
	{ "it was not reached",
	  true,
	  false,
	  OK_ROW(32, 1000, 100),
	  { .state = NIGHT_NOT_RUN },
	  CHANGE_NONE,
	  NULL,
	  true },
};

static struct night_row row_of(const struct side *side)
{
	struct night_row row = { .state = side->state,
				 .is_required = true,
				 .peak_bytes = side->peak,
				 .speed = side->speed,
				 .spread = side->spread };

	row.batch.micro_batch = side->micro;
	row.batch.grad_accum = side->micro ? 2 : 0;
	row.batch.world_size = side->micro ? 1 : 0;
	if (side->version)
		strlist_addf(&row.versions, "torch %s", side->version);
	if (side->device)
		row.device = xstrdup(side->device);
	if (side->argument) {
		struct strbuf identity = STRBUF_INIT;

		identity_begin(&identity);
		identity_add(&identity, IDENTITY_PART, "argument",
			     side->argument);
		row.identity = strbuf_detach(&identity);
	}
	return row;
}

static void each_change_has_its_name_and_cause(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct night_row old = row_of(&rows[i].old);
		struct night_row new = row_of(&rows[i].new);
		const char *cause = rows[i].cause ? rows[i].cause : "(none)";

		new.is_required = !rows[i].is_optional;
		night_compare(&new, rows[i].has_old ? &old : NULL);
		if (new.change != rows[i].change ||
		    strcmp(new.cause ? new.cause : "(none)", cause) != 0 ||
		    night_needs_look(&new) != rows[i].needs_look)
			fail_msg("%s: %s, %s, look %d", rows[i].name,
				 night_change_name(new.change),
				 new.cause ? new.cause : "(none)",
				 night_needs_look(&new));
		night_row_release(&old);
		night_row_release(&new);
	}
}

/* Everything of a row goes through JSON and back. */
static void a_summary_comes_back(void **state)
{
	struct night night = { .started = 5, .finished = 7 };
	struct night_row *row = night_add(&night);
	json_t *root, *again;

	(void)state;
	*row = row_of(&rows[13].new);
	row->name = xstrdup("job \"1\"");
	row->change = CHANGE_WORSE;
	row->cause = xstrdup("torch 2.8 -> 2.9");
	root = night_json(&night);
	assert_int_equal(json_array_size(json_object_get(root, "jobs")), 1);
	again = json_array_get(json_object_get(root, "jobs"), 0);
	assert_string_equal(json_string_value(json_object_get(again, "change")),
			    "worse");
	assert_int_equal(
		json_integer_value(json_object_get(again, "peak_bytes")), 1060);
	assert_true(json_is_null(json_object_get(again, "message")));
	json_decref(root);
	night_release(&night);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_change_has_its_name_and_cause),
		cmocka_unit_test(a_summary_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
