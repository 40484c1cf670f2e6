/* Estimates by the rules of guides, and how they are printed. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/estimate/profile_tables.h"

#include "configs/profiles/profile.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static void open_profile(struct profile *profile, const char *name)
{
	struct error err = ERROR_INIT;

	if (profile_open(profile, name, NULL, &err) < 0)
		fail_msg("%s: %s", name, err.message);
}

static void assert_near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance))
		fail_msg("%.6f instead of %.6f", value, expected);
}

/* What an estimate should say; counts by their labels. */
static const struct estimate_row {
	const char *profile;
	struct profile_inputs inputs;
	double low, high, tolerance;
	const char *verdict, *label;
	double value;
} estimates[] = {
	{ "stateset-table", { .params = 7e9 }, 56, 56, 0, NULL, NULL, 0 },
	{ "stateset-table",
	  { .params = 7e9, .method = "lora", .gpu_gb = 16 },
	  16,
	  16,
	  0,
	  "fits",
	  NULL,
	  0 },
	/* Half way from 7B to 13B. */
	{ "stateset-table",
	  { .params = 10e9, .gpu_gb = 79 },
	  80,
	  80,
	  1e-9,
	  "does not fit",
	  NULL,
	  0 },
	{ "stateset-formula",
	  { .params = 7e9, .hidden = 4096, .layers = 32 },
	  84.54,
	  84.54,
	  0.005,
	  NULL,
	  "optimizer states",
	  56 },
	{ "stateset-formula",
	  { .params = 7e9, .hidden = 4096, .layers = 32, .optimizer = "sgd" },
	  56.54,
	  56.54,
	  0.005,
	  NULL,
	  "optimizer states",
	  28 },
	{ "latentwire-doc",
	  { .gpu_gb = 80 },
	  60,
	  60,
	  0,
	  "fits",
	  "batch at 1 GB a sample",
	  20 },
	{ "latentwire-doc",
	  { .gpu_gb = 40 },
	  60,
	  60,
	  0,
	  "does not fit: checkpointing, Adafactor or several GPUs",
	  "batch at 1 GB a sample",
	  0 },
	{ "latentwire-doc",
	  { .gpu_gb = 40, .optimizer = "adafactor" },
	  39,
	  39,
	  0,
	  "fits",
	  "batch at 1 GB a sample",
	  1 },
	{ "latentwire-code",
	  { .model_gb = 14, .gpu_gb = 80, .gpus = 4, .optimizer = "adamw" },
	  60,
	  60,
	  0,
	  "fits",
	  "effective batch",
	  32 },
	{ "latentwire-code",
	  { .gpus = 4 },
	  60,
	  60,
	  0,
	  "fits",
	  "safe batch",
	  4 },
	{ "latentwire-code",
	  { .gpu_gb = 40 },
	  60,
	  60,
	  0,
	  "does not fit; the guide's own program answers 1 all the same",
	  "largest batch",
	  1 },
	{ "agi2",
	  { .hidden = 384, .layers = 6, .batch = 24 },
	  0.312,
	  0.312,
	  0.0005,
	  "reasonable",
	  "parameters",
	  30116736 },
	{ "agi2",
	  { .hidden = 1024, .layers = 24, .batch = 4, .bytes = 4 },
	  5.42,
	  5.42,
	  0.005,
	  "moderate: watch the GPU's memory while it trains",
	  NULL,
	  0 },
	{ "nanogpt-guide",
	  { .params = 150e6, .gpu_gb = 8 },
	  8000,
	  8000,
	  0,
	  "fits",
	  "activations",
	  5600 },
	{ "nanogpt-guide",
	  { .params = 150e6, .method = "generation-1024", .gpu_gb = 1 },
	  1500,
	  1500,
	  0,
	  "does not fit",
	  NULL,
	  0 },
	{ "qwen-grpo-guide",
	  { .gpu_gb = 96 },
	  94,
	  103,
	  0,
	  "maybe",
	  "evaluator, 14B",
	  28 },
	{ "qwen-grpo-guide",
	  { .gpu_gb = 96, .method = "7b-evaluator-8bit" },
	  80,
	  89,
	  0,
	  "yes",
	  "evaluator, 14B in 8 bit",
	  14 },
	{ "qwen-grpo-guide",
	  { .gpu_gb = 10, .batch = 128, .method = "0.5b" },
	  14,
	  22,
	  0,
	  "no",
	  NULL,
	  0 },
};

static const struct profile_item *item_find(const struct profile_result *result,
					    const char *label)
{
	for (size_t i = 0; i < result->count; i++)
		if (strcmp(result->items[i].label, label) == 0)
			return &result->items[i];
	return NULL;
}

static void an_estimate_by_a_guide(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(estimates); i++) {
		const struct estimate_row *row = &estimates[i];
		struct profile profile;
		struct profile_result result;
		struct error err = ERROR_INIT;

		open_profile(&profile, row->profile);
		if (profile_estimate(&profile, &row->inputs, &result, &err) < 0)
			fail_msg("row %zu: %s", i, err.message);
		assert_near(result.low, row->low, row->tolerance);
		assert_near(result.high, row->high, row->tolerance);
		if (row->verdict)
			assert_string_equal(result.verdict, row->verdict);
		else
			assert_null(result.verdict);
		if (row->label) {
			const struct profile_item *item =
				item_find(&result, row->label);

			if (!item)
				fail_msg("row %zu: no %s", i, row->label);
			else
				assert_near(item->low, row->value, 1e-9);
		}
		profile_release(&profile);
	}
}

static void inputs_that_do_not_do(void **state)
{
	static const struct {
		const char *profile;
		struct profile_inputs inputs;
		int code;
		const char *words;
	} rows[] = {
		{ "stateset-table",
		  { .batch = 1 },
		  -ENODATA,
		  "params is not known" },
		{ "stateset-table",
		  { .params = 700e9 },
		  -ERANGE,
		  "full: the guide has figures from 1.25e+08 to 7e+10" },
		{ "stateset-table", { .params = -1 }, -ERANGE, "params is -1" },
		{ "stateset-table",
		  { .params = (double)NAN },
		  -ERANGE,
		  "params is" },
		{ "stateset-table", { .params = 1e300 }, -ERANGE, "params is" },
		{ "stateset-formula",
		  { .params = 7e9, .layers = 32 },
		  -ENODATA,
		  "hidden is not known" },
		{ "stateset-formula",
		  { .params = 7e9,
		    .hidden = 8,
		    .layers = 2,
		    .optimizer = "lion" },
		  -EINVAL,
		  "the guide has no optimizer \"lion\"; it has adamw sgd" },
		{ "qwen-grpo-guide",
		  { .method = "70b" },
		  -EINVAL,
		  "no estimate \"70b\"; it has 7b 7b-evaluator-8bit 0.5b" },
		{ "agi2",
		  { .hidden = 384, .batch = 8 },
		  -ENODATA,
		  "layers is not known" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct profile profile;
		struct profile_result result;
		struct error err = ERROR_INIT;

		open_profile(&profile, rows[i].profile);
		assert_int_equal(profile_estimate(&profile, &rows[i].inputs,
						  &result, &err),
				 rows[i].code);
		if (!strstr(err.message, rows[i].words))
			fail_msg("row %zu: %s", i, err.message);
		profile_release(&profile);
	}
}

/* 80 columns of ASCII, and every figure of physics in it. */
static void what_is_printed(void **state)
{
	struct strlist names = STRLIST_INIT;

	(void)state;
	profile_names(&names);
	for (size_t i = 0; i < names.count; i++) {
		struct profile profile;
		char *text, *rest = NULL;

		open_profile(&profile, names.items[i]);
		text = profile_tables_text(&profile);
		assert_non_null(strstr(text, "  Differs:\n"));
		for (char *line = strtok_r(text, "\n", &rest); line;
		     line = strtok_r(NULL, "\n", &rest)) {
			if (strlen(line) > 80)
				fail_msg("%s: %s", names.items[i], line);
			for (const char *c = line; *c; c++)
				assert_true(*c >= ' ' && *c <= '~');
		}
		free(text);
		profile_release(&profile);
	}
	strlist_release(&names);
}

/* "parts" is not "small-parts": each difference under its own tables. */
static void where_a_difference_stands(void **state)
{
	static const char words[] = "at batch 128, 0.5B: 22 GB";
	struct profile profile;
	size_t count = 0;
	char *text;

	(void)state;
	open_profile(&profile, "qwen-grpo-guide");
	text = profile_tables_text(&profile);
	for (const char *at = text; (at = strstr(at, words)); at++)
		count++;
	assert_int_equal(count, 2);
	free(text);
	profile_release(&profile);
}

static void what_programs_read(void **state)
{
	struct profile_inputs inputs = { .gpu_gb = 96 };
	struct profile_result result;
	struct profile profile;
	struct strbuf text = STRBUF_INIT;
	json_t *json, *row;

	(void)state;
	open_profile(&profile, "qwen-grpo-guide");
	json = profile_tables_json(&profile);
	assert_int_equal(json_array_size(json_object_get(json, "tables")), 8);
	assert_int_equal(json_array_size(json_object_get(json, "advice")), 5);
	assert_int_equal(json_array_size(json_object_get(json, "differs")), 6);
	assert_true(json_number_value(json_object_get(json, "unit_bytes")) >
		    1e9);
	row = json_array_get(json_object_get(json, "tables"), 1);
	row = json_array_get(json_object_get(row, "rows"), 1);
	assert_string_equal(json_string_value(json_array_get(
				    json_object_get(row, "cells"), 2)),
			    "maybe");
	assert_string_equal(json_string_value(json_array_get(
				    json_object_get(row, "sources"), 2)),
			    "rule");
	json_decref(json);
	assert_int_equal(profile_estimate(&profile, &inputs, &result, NULL), 0);
	json = profile_result_json(&profile, &result);
	assert_string_equal(json_string_value(json_object_get(json, "verdict")),
			    "maybe");
	json_decref(json);
	profile_result_text(&text, &profile, &result);
	assert_non_null(strstr(strbuf_text(&text),
			       "  total                           "
			       "94-103 GB\nverdict: maybe\n"));
	assert_non_null(strstr(strbuf_text(&text),
			       "103 GB; sum of its parts: 107 GB\n"
			       "    (3.7% too low).\n"));
	strbuf_release(&text);
	profile_release(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_estimate_by_a_guide),
		cmocka_unit_test(inputs_that_do_not_do),
		cmocka_unit_test(what_is_printed),
		cmocka_unit_test(where_a_difference_stands),
		cmocka_unit_test(what_programs_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
