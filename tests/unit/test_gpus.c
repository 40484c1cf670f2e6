/* GPU models: the built-in table, the user's own lines, names as typed. */
/* SPDX-License-Identifier: MIT */
/* USES configs */
#include "configs/models/gpus.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "tests/unit/scratch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))
#define HEAD "name,driver_total_mib,cuda_usable_mib\n"

/* The catalogue with a user's file of this text; NULL: no file. */
static void load(struct gpu_catalogue *catalogue, const char *folder,
		 const char *text, struct strlist *warnings)
{
	char path[SCRATCH_PATH_MAX];

	scratch_path(path, folder, "gpus.csv");
	(void)unlink(path);
	if (text)
		assert_int_equal(scratch_write(path, text, strlen(text)), 0);
	gpu_catalogue_load(catalogue, path, warnings);
}

static void the_built_in_table_is_sound(void **state)
{
	struct strlist warnings = STRLIST_INIT;
	struct gpu_catalogue all;

	load(&all, *state, NULL, &warnings);
	assert_int_equal(warnings.count, 0);
	assert_true(all.count > 60);
	for (size_t i = 0; i < all.count; i++) {
		const struct gpu_model *model = &all.items[i];

		assert_ptr_equal(gpu_catalogue_find(&all, model->name, NULL),
				 model);
		assert_true(model->usable_bytes <= model->total_bytes);
		assert_true(model->usable_bytes >
			    model->total_bytes / 100 * 94);
	}
	gpu_catalogue_release(&all);
	strlist_release(&warnings);
}

static void a_name_as_people_write_it(void **state)
{
	static const struct {
		const char *typed, *name;
		uint64_t usable_mib;
	} rows[] = {
		{ "rtx4090", "NVIDIA GeForce RTX 4090", 24207 },
		{ "RTX 4090", "NVIDIA GeForce RTX 4090", 24207 },
		{ "GeForce RTX-4090", "NVIDIA GeForce RTX 4090", 24207 },
		{ "nvidia_geforce_rtx_4090", "NVIDIA GeForce RTX 4090", 24207 },
		{ "4090", "NVIDIA GeForce RTX 4090", 24207 },
		{ "a100-40gb", "NVIDIA A100-PCIE-40GB", 40325 },
		{ "A100 80GB", "NVIDIA A100 80GB PCIe", 81049 },
		{ "a100-sxm4-80gb", "NVIDIA A100-SXM4-80GB", 81049 },
		{ "t4", "Tesla T4", 14909 },
		/* Drivers have changed what they call it. */
		{ "NVIDIA T4", "Tesla T4", 14909 },
		{ "nvidiateslat4", "Tesla T4", 14909 },
		{ "Tesla A100-PCIE-40GB", "NVIDIA A100-PCIE-40GB", 40325 },
		{ "h100", "NVIDIA H100 PCIe", 80998 },
		{ "h100 nvl", "NVIDIA H100 NVL", 95252 },
		{ "h200", "NVIDIA H200", 143073 },
		{ "v100-32gb", "Tesla V100-SXM2-32GB", 32501 },
		/* None in the table: by the size of the board. */
		{ "3060ti", "NVIDIA GeForce RTX 3060 Ti", 7864 },
		{ "4070 Ti", "NVIDIA GeForce RTX 4070 Ti", 11790 },
		{ "4070 ti super", "NVIDIA GeForce RTX 4070 Ti SUPER",
		  16376 - 640 },
		{ "h20", "NVIDIA H20", 97871 - 900 },
		{ "3060 laptop", "NVIDIA GeForce RTX 3060 Laptop GPU", 5898 },
		{ "rtx 6000 ada", "NVIDIA RTX 6000 Ada Generation", 48508 },
		{ "MI250X", "AMD Instinct MI250X (per GCD)", 65520 - 900 },
	};
	struct strlist warnings = STRLIST_INIT;
	struct gpu_catalogue all;

	load(&all, *state, NULL, &warnings);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct error err = ERROR_INIT;
		const struct gpu_model *model =
			gpu_catalogue_find(&all, rows[i].typed, &err);

		if (!model) {
			fail_msg("%s: %s", rows[i].typed, err.message);
			continue;
		}
		assert_string_equal(model->name, rows[i].name);
		assert_int_equal(model->usable_bytes / MIB, rows[i].usable_mib);
	}
	gpu_catalogue_release(&all);
}

static void what_is_not_certain_is_not_guessed(void **state)
{
	static const struct {
		const char *typed;
		int code;
		const char *words;  /* in the message, parted by '|' */
		const char *absent; /* NULL: nothing more */
	} rows[] = {
		{ "a100", -ENOTUNIQ,
		  "'a100' is not the whole name: is it NVIDIA A100-PCIE-40GB "
		  "(39.4 GiB), |A100-SXM4-80GB (79.1 GiB)?",
		  NULL },
		{ "v100", -ENOTUNIQ, "SXM2-16GB (15.8 GiB) or Tesla V100",
		  NULL },
		/* A card that is not there is not the larger one of the row. */
		{ "gtx 1080", -ENOTUNIQ, "is it NVIDIA GeForce GTX 1080 Ti (",
		  " or " },
		{ "5060 Ti", -ENOTUNIQ, "RTX 5060 Ti 16GB", " or " },
		{ "rtx", -ENOTUNIQ, " more?", NULL },
		{ "rtx4091", -ENOENT, "near it: NVIDIA GeForce RTX 4090 (",
		  NULL },
		{ "h100-sxm", -ENOENT, "near it: NVIDIA H100 PCIe (|HBM3|NVL",
		  "V100" },
		{ "gefroce rtx4090", -ENOENT, "gpus.csv", "near" },
		{ "4090ti", -ENOENT, "near it: NVIDIA GeForce RTX 4090 (",
		  NULL },
		{ "tesla", -ENOTUNIQ, "Tesla P100", NULL },
		{ "", -ENOENT, "'' is no GPU model", "near" },
		{ "--", -ENOENT, "is no GPU model", "near" },
		{ "z", -ENOENT, "is no GPU model", "near" },
		{ "24G", -ENOENT, "is no GPU model", NULL },
		{ "\xff\xfe", -ENOENT, "is no GPU model", "near" },
	};
	struct strlist warnings = STRLIST_INIT;
	struct gpu_catalogue all;

	load(&all, *state, NULL, &warnings);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct error err = ERROR_INIT;
		const char *words = rows[i].words;

		if (gpu_catalogue_find(&all, rows[i].typed, &err))
			fail_msg("%s was found", rows[i].typed);
		assert_int_equal(err.code, rows[i].code);
		while (*words) {
			size_t length = strcspn(words, "|");
			char *piece = xstrndup(words, length);

			if (!strstr(err.message, piece))
				fail_msg("no '%s' in: %s", piece, err.message);
			free(piece);
			words += length;
			words += *words == '|';
		}
		if (rows[i].absent && strstr(err.message, rows[i].absent))
			fail_msg("'%s' in: %s", rows[i].absent, err.message);
		assert_null(strchr(err.message, '\n'));
	}
	gpu_catalogue_release(&all);
}

static void names_of_any_length_are_no_trouble(void **state)
{
	struct strlist warnings = STRLIST_INIT;
	struct gpu_catalogue all;
	uint64_t seed = 7;

	load(&all, *state, NULL, &warnings);
	for (size_t length = 0; length < 300; length++) {
		char *noise = scratch_random_text(&seed, length);
		char *same = xmalloc(length + 1);

		memset(same, '1', length);
		same[length] = '\0';
		(void)gpu_catalogue_find(&all, noise, NULL);
		(void)gpu_catalogue_find(&all, same, NULL);
		free(noise);
		free(same);
	}
	gpu_catalogue_release(&all);
}

static const struct {
	const char *name, *text;
	const char *typed, *found; /* NULL: not there */
	uint64_t total_mib, usable_mib;
	const char *warning; /* the only one; NULL: none */
} own_rows[] = {
	{ "a new one", HEAD "My Card,8192,8000\n", "mycard", "My Card", 8192,
	  8000, NULL },
	{ "without usable", HEAD "My Card,20480,\n", "mycard", "My Card", 20480,
	  20480 - 640, NULL },
	{ "columns in another order",
	  "note,cuda_usable_mib,name,driver_total_mib\n"
	  "x,8000,My Card,8192\n",
	  "mycard", "My Card", 8192, 8000, NULL },
	{ "two columns", "driver_total_mib,name\n8192,My Card\n", "mycard",
	  "My Card", 8192, 7864, NULL },
	{ "in place of a built-in one", HEAD "tesla t4,15360,15000\n", "T4",
	  "tesla t4", 15360, 15000, NULL },
	{ "its full name beats a longer one", HEAD "A100,50000,49000\n", "a100",
	  "A100", 50000, 49000, NULL },
	{ "comments, blanks, CRLF, byte order mark",
	  "\xef\xbb\xbf# mine\r\n\r\n  \nname , driver_total_mib\r\n"
	  "# x\r\n My Card , 8192 \r\n",
	  "mycard", "My Card", 8192, 7864, NULL },
	{ "no newline at the end", HEAD "My Card,8192,8000", "mycard",
	  "My Card", 8192, 8000, NULL },
	{ "a bad line leaves the others", HEAD "Bad,x,\nMy Card,8192,8000\n",
	  "mycard", "My Card", 8192, 8000,
	  ":2: driver_total_mib is no size of a GPU in MiB" },
	{ "twice", HEAD "My Card,8192,8000\nMY-CARD,9000,9000\n", "mycard",
	  "My Card", 8192, 8000, ":3: this model is there twice" },
	{ "no head", "My Card,8192,8000\n", "mycard", NULL, 0, 0,
	  ":1: the first line has to name the columns" },
	{ "a head without the total", "name,memory\nMy Card,8192\n", "mycard",
	  NULL, 0, 0, ":1: the first line has to name the columns" },
	{ "a cell too many", HEAD "My, Card,8192,8000\n", "mycard", NULL, 0, 0,
	  ":2: it has another number of cells" },
	{ "a cell missing", HEAD "My Card,8192\n", "mycard", NULL, 0, 0,
	  ":2: it has another number of cells" },
	{ "quoted", HEAD "\"My Card\",8192,8000\n", "mycard", NULL, 0, 0,
	  ":2: cells are not quoted" },
	{ "no name", HEAD " ,8192,8000\n", "mycard", NULL, 0, 0,
	  ":2: the name is empty, too long or not ASCII" },
	{ "signs for a name", HEAD "---,8192,8000\n", "mycard", NULL, 0, 0,
	  ":2: the name is empty" },
	{ "a control byte", HEAD "My\x1b[2JCard,8192,8000\n", "mycard", NULL, 0,
	  0, ":2: the name is empty" },
	{ "not ASCII", HEAD "M\xc3\xbc Card,8192,8000\n", "mycard", NULL, 0, 0,
	  ":2: the name is empty" },
	{ "negative", HEAD "My Card,-8192,8000\n", "mycard", NULL, 0, 0,
	  ":2: driver_total_mib" },
	{ "a size in GiB", HEAD "My Card,24,23\n", "mycard", NULL, 0, 0,
	  ":2: driver_total_mib" },
	{ "a unit", HEAD "My Card,8192 MiB,8000\n", "mycard", NULL, 0, 0,
	  ":2: driver_total_mib" },
	{ "more than 64 bits",
	  HEAD "My Card,99999999999999999999999999999999,\n", "mycard", NULL, 0,
	  0, ":2: driver_total_mib" },
	{ "usable above total", HEAD "My Card,8192,8193\n", "mycard", NULL, 0,
	  0, ":2: cuda_usable_mib is no size in MiB up to" },
	{ "a fraction", HEAD "My Card,8192,8000.5\n", "mycard", NULL, 0, 0,
	  ":2: cuda_usable_mib" },
};

static void a_user_adds_lines(void **state)
{
	for (size_t i = 0; i < COUNT(own_rows); i++) {
		struct strlist warnings = STRLIST_INIT;
		const struct gpu_model *model;
		struct gpu_catalogue all;

		print_message("%s\n", own_rows[i].name);
		load(&all, *state, own_rows[i].text, &warnings);
		model = gpu_catalogue_find(&all, own_rows[i].typed, NULL);
		assert_int_equal(warnings.count, own_rows[i].warning ? 1 : 0);
		if (own_rows[i].warning) {
			assert_non_null(
				strstr(warnings.items[0], own_rows[i].warning));
			assert_ptr_equal(strstr(warnings.items[0], *state),
					 warnings.items[0]);
		}
		assert_int_equal(model != NULL, own_rows[i].found != NULL);
		if (model) {
			assert_string_equal(model->name, own_rows[i].found);
			assert_int_equal(model->total_bytes,
					 own_rows[i].total_mib * MIB);
			assert_int_equal(model->usable_bytes / MIB,
					 own_rows[i].usable_mib);
		}
		gpu_catalogue_release(&all);
		strlist_release(&warnings);
	}
}

/* The number of warnings that a file of this text gives. */
static size_t warnings_of(const char *folder, const char *text)
{
	struct strlist warnings = STRLIST_INIT;
	struct gpu_catalogue all;
	size_t count;

	load(&all, folder, text, &warnings);
	assert_non_null(gpu_catalogue_find(&all, "Tesla T4", NULL));
	assert_true(all.count <= 1000);
	count = warnings.count;
	gpu_catalogue_release(&all);
	strlist_release(&warnings);
	return count;
}

static void hostile_files_are_bounded(void **state)
{
	const size_t large = (size_t)2 << 20;
	struct strbuf text = STRBUF_INIT;
	char *huge = xmalloc(large + 1);
	uint64_t seed = 42;

	strbuf_adds(&text, HEAD);
	for (int i = 0; i < 5000; i++)
		strbuf_addf(&text, "Card %d,8192,8000\n", i);
	/* 20 lines with their number, and one that says how many more. */
	assert_int_equal(warnings_of(*state, strbuf_text(&text)), 21);
	memset(huge, 'x', large);
	huge[large] = '\0';
	assert_int_equal(warnings_of(*state, huge), 1);
	huge[1000000] = '\0';
	assert_int_equal(warnings_of(*state, huge), 1);
	for (int i = 0; i < 200; i++) {
		char *noise = scratch_random_text(&seed, 500);

		strbuf_reset(&text);
		strbuf_addf(&text, HEAD "%s\n", noise);
		(void)warnings_of(*state, strbuf_text(&text));
		free(noise);
	}
	free(huge);
	strbuf_release(&text);
}

static void what_cannot_be_read_is_told(void **state)
{
	struct strlist warnings = STRLIST_INIT;
	struct gpu_catalogue all;
	char path[SCRATCH_PATH_MAX];

	scratch_path(path, *state, "gpus.csv");
	(void)unlink(path);
	gpu_catalogue_load(&all, path, &warnings);
	assert_int_equal(warnings.count, 0);
	gpu_catalogue_release(&all);
	gpu_catalogue_load(&all, NULL, &warnings);
	assert_int_equal(warnings.count, 0);
	gpu_catalogue_release(&all);
	/* A folder is no file. */
	gpu_catalogue_load(&all, *state, &warnings);
	assert_int_equal(warnings.count, 1);
	assert_non_null(strstr(warnings.items[0], *state));
	assert_true(all.count > 60);
	gpu_catalogue_release(&all);
	strlist_release(&warnings);
}

#define TEST(function)                                                         \
	cmocka_unit_test_setup_teardown(function, scratch_make, scratch_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_built_in_table_is_sound),
		TEST(a_name_as_people_write_it),
		TEST(what_is_not_certain_is_not_guessed),
		TEST(names_of_any_length_are_no_trouble),
		TEST(a_user_adds_lines),
		TEST(hostile_files_are_bounded),
		TEST(what_cannot_be_read_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
