/* What autofit estimate builds its tables of: sheets, bands, splits, names. */
/* SPDX-License-Identifier: MIT */
#include "configs/models/instances.h"
#include "launcher/estimate/estimate_family.h"
#include "launcher/estimate/estimate_usage.h"
#include "launcher/estimate/estimate_views.h"
#include "launcher/report/json.h"
#include "launcher/report/report_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct report_table_column columns[] = {
	{ "name", "Name", TABLE_TEXT },    { "bytes", "size", TABLE_BYTES },
	{ "hidden", NULL, TABLE_COUNT },   { "fits", "fits", TABLE_FLAG },
	{ NULL, "only here", TABLE_TEXT }, { NULL, NULL, TABLE_TEXT },
};

static void a_sheet_is_text_and_json(void **state)
{
	struct report_table table = { .columns = columns };
	struct strbuf text = STRBUF_INIT;
	json_t *json;
	char *dump;

	(void)state;
	assert_int_equal(report_table_rows(&table), 0);
	report_table_add_text(&table, "a\033[1m");
	report_table_add_number(&table, 1 << 20);
	report_table_add_number(&table, 7);
	report_table_add_number(&table, 1);
	report_table_add_text(&table, "x");
	report_table_add_text(&table, "longer");
	report_table_add_number(&table, -2048);
	report_table_add_none(&table);
	report_table_add_number(&table, 0);
	report_table_add_none(&table);
	assert_int_equal(report_table_rows(&table), 2);
	report_table_print(&text, &table);
	assert_string_equal(strbuf_text(&text),
			    "  Name           size  fits  only here\n"
			    "  a\\x1b[1m   1.00 MiB   yes  x\n"
			    "  longer    -2.00 KiB    no  -\n");
	json = report_table_json(&table);
	dump = json_dumps(json, JSON_COMPACT);
	assert_string_equal(
		dump, "[{\"name\":\"a\\u001B[1m\",\"bytes\":1048576,\"hidden\":"
		      "7,\"fits\":true},{\"name\":\"longer\",\"bytes\":-2048,"
		      "\"hidden\":null,\"fits\":false}]");
	free(dump);
	json_decref(json);
	strbuf_release(&text);
	report_table_release(&table);
}

static void a_split_divides_the_batch(void **state)
{
	static const struct {
		int64_t effective, gpus, largest, micro, accum;
	} rows[] = {
		{ 64, 1, 64, 64, 1 },
		{ 64, 1, 100, 64, 1 },
		{ 64, 1, 63, 32, 2 },
		{ 96, 2, 20, 16, 3 },
		{ 97, 1, 96, 1, 97 },
		{ 96, 2, 0, 0, 0 },
		{ 97, 2, 16, 0, 0 },
		{ 8, 16, 4, 0, 0 },
		{ 8, 0, 4, 0, 0 },
		{ 1, 1, 1, 1, 1 },
		{ INT64_C(1000000000000), 1, 65536, 64000, 15625000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int64_t accum;

		assert_true(estimate_split(rows[i].effective, rows[i].gpus,
					   rows[i].largest,
					   &accum) == rows[i].micro);
		assert_true(accum == rows[i].accum);
	}
}

static void bands_part_at_their_edges(void **state)
{
	static const struct {
		int64_t peak, high;
		enum usage_band band;
	} rows[] = {
		{ 101, 120, BAND_NO },   { 100, 120, BAND_TIGHT },
		{ 90, 101, BAND_TIGHT }, { 90, 100, BAND_OK },
		{ 40, 51, BAND_OK },     { 40, 50, BAND_ROOMY },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct estimate estimate = { .parameters = 1 };

		estimate.peak[TIER_PROCESS] = rows[i].peak;
		estimate.high[TIER_PROCESS] = rows[i].high;
		assert_int_equal(usage_band(&estimate, 100), rows[i].band);
		assert_true(strlen(usage_band_advice(rows[i].band)) > 10);
	}
}

static void numbers_tell_a_family(void **state)
{
	static const struct {
		struct model_facts facts;
		enum model_family family;
	} rows[] = {
		{ { .layers = 12, .hidden = 768 }, MODEL_GPT2 },
		{ { .layers = 12, .hidden = 768, .ffn = 3072 }, MODEL_GPT2 },
		{ { .layers = 12, .hidden = 768, .ffn = 2048 }, MODEL_LLAMA },
		{ { .layers = 12, .hidden = 768, .kv_heads = 4 }, MODEL_LLAMA },
		{ { .hidden = 768, .experts = 8 }, MODEL_MOE },
		{ { .hidden = 768, .patch = 16 }, MODEL_VIT },
		{ { .hidden = 768, .decoder_layers = 6 }, MODEL_T5 },
		{ { .hidden = 768, .kv_rank = 512 }, MODEL_DEEPSEEK },
		{ { .parameters = 7000000000 }, MODEL_UNKNOWN },
		{ { .family = MODEL_OPT, .layers = 12 }, MODEL_OPT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strlist assumed = STRLIST_INIT;

		assert_int_equal(estimate_family(&rows[i].facts, &assumed),
				 rows[i].family);
		assert_int_equal(assumed.count,
				 rows[i].facts.family == MODEL_UNKNOWN);
		strlist_release(&assumed);
	}
}

/* Every GPU that is rented is in the catalogue, by a name of one model. */
static void instances_have_gpus_of_the_catalogue(void **state)
{
	struct strlist warnings = STRLIST_INIT;
	struct gpu_catalogue gpus;
	struct instances instances;

	(void)state;
	gpu_catalogue_load(&gpus, NULL, &warnings);
	instances_load(&instances, NULL, &gpus, &warnings);
	for (size_t i = 0; i < warnings.count; i++)
		fail_msg("%s", warnings.items[i]);
	assert_true(instances.count > 40);
	for (size_t i = 0; i < instances.count; i++) {
		assert_true(instances.items[i].gpu.usable_bytes > 0);
		assert_true(instances.items[i].count >= 1);
	}
	instances_release(&instances);
	gpu_catalogue_release(&gpus);
	strlist_release(&warnings);
}

/* Cells of five columns: wide enough; squeezed; in parts, where what belongs to
 * a column stays beside it and the name stands again. */
static void columns_fit_a_width(void **state)
{
	static const char *const cells[] = {
		"name", "size",     "max", "more",     "words",
		"a b",  "1.00 GiB", "12",  "2.00 GiB", "one two three",
	};
	static const bool is_right[] = { false, true, true, true, false };
	static const bool is_beside[] = { false, false, true, false, false };
	static const struct {
		size_t width;
		const char *text;
	} rows[] = {
		{ 0, "name      size  max      more  words\n"
		     "a b   1.00 GiB   12  2.00 GiB  one two three\n" },
		{ 44, "name      size  max      more  words\n"
		      "a b   1.00 GiB   12  2.00 GiB  one two three\n" },
		{ 43, "name      size  max      more  words\n"
		      "a b   1.00 GiB   12  2.00 GiB  one two\n"
		      "                               three\n" },
		{ 35, "name      size  max      more\n"
		      "a b   1.00 GiB   12  2.00 GiB\n"
		      "\n"
		      "name  words\n"
		      "a b   one two three\n" },
		{ 17, "name      size  max\n"
		      "a b   1.00 GiB   12\n"
		      "\n"
		      "name      more\n"
		      "a b   2.00 GiB\n"
		      "\n"
		      "name  words\n"
		      "a b   one two three\n" },
	};
	struct strlist list = STRLIST_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(cells) / sizeof(*cells); i++)
		strlist_add(&list, cells[i]);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct report_columns layout = { .cells = &list,
						       .count = 5,
						       .is_right = is_right,
						       .is_beside = is_beside,
						       .width = rows[i].width };
		struct strbuf text = STRBUF_INIT;

		report_columns_print(&text, &layout);
		assert_string_equal(strbuf_text(&text), rows[i].text);
		strbuf_release(&text);
	}
	strlist_release(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sheet_is_text_and_json),
		cmocka_unit_test(columns_fit_a_width),
		cmocka_unit_test(a_split_divides_the_batch),
		cmocka_unit_test(bands_part_at_their_edges),
		cmocka_unit_test(numbers_tell_a_family),
		cmocka_unit_test(instances_have_gpus_of_the_catalogue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
