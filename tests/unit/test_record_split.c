/* Which splits a record has tested, and the largest that fits into less. */
/* SPDX-License-Identifier: MIT */
/* USES configs */
#include "configs/records/record_split.h"

#include "base/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))
#define TRIALS_MAX 5

struct ran {
	int64_t micro, accum;
	enum verdict verdict; /* VERDICT_NONE ends the list */
	uint64_t peak_mib;
};

static void fill(struct record *record, const struct ran *ran)
{
	*record = (struct record)RECORD_INIT;
	record->batch.micro_batch = 16;
	record->batch.grad_accum = 2;
	record->batch.world_size = 2;
	record->batch.effective_batch = 64;
	for (size_t i = 0; i < TRIALS_MAX && ran[i].verdict; i++) {
		const struct trial trial = {
			.micro_batch = ran[i].micro,
			.grad_accum = ran[i].accum,
			.verdict = ran[i].verdict,
			.peak_bytes = ran[i].peak_mib * MIB,
		};

		probe_notes_add(&record->probes, &trial, NULL, NULL);
	}
}

static const struct {
	const char *name;
	struct ran ran[TRIALS_MAX];
	int64_t below;
	uint64_t peak_mib;
	int64_t found; /* 0: none */
} split_rows[] = {
	{ "under the peak",
	  { { 4, 2, VERDICT_FITS, 40 },
	    { 8, 2, VERDICT_FITS, 80 },
	    { 16, 2, VERDICT_FITS, 160 } },
	  16,
	  90,
	  8 },
	{ "exactly the peak", { { 8, 2, VERDICT_FITS, 80 } }, 16, 80, 8 },
	{ "none is small enough", { { 8, 2, VERDICT_FITS, 80 } }, 16, 79, 0 },
	{ "not the split itself", { { 16, 2, VERDICT_FITS, 10 } }, 16, 90, 0 },
	{ "did not fit",
	  { { 8, 2, VERDICT_OVER_BUDGET, 80 }, { 4, 2, VERDICT_FITS, 40 } },
	  16,
	  90,
	  4 },
	{ "the last of a size counts",
	  { { 8, 2, VERDICT_FITS, 80 }, { 8, 2, VERDICT_OVER_BUDGET, 99 } },
	  16,
	  90,
	  0 },
	{ "no exact split", { { 12, 2, VERDICT_FITS, 60 } }, 16, 90, 0 },
	{ "peak not known", { { 8, 2, VERDICT_FITS, 0 } }, 16, 90, 0 },
	{ "accumulation was not shown",
	  { { 8, 1, VERDICT_FITS, 80 } },
	  16,
	  90,
	  0 },
};

static void the_largest_that_fits_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(split_rows); i++) {
		struct record record;
		const struct trial *trial;

		fill(&record, split_rows[i].ran);
		trial = record_split_find(&record, split_rows[i].below,
					  split_rows[i].peak_mib * MIB);
		if ((trial ? trial->micro_batch : 0) != split_rows[i].found)
			fail_msg("%s", split_rows[i].name);
		if (trial) {
			record_split_use(&record, trial);
			assert_int_equal(record.batch.micro_batch *
						 record.batch.grad_accum *
						 record.batch.world_size,
					 record.batch.effective_batch);
			assert_int_equal(record.peak_bytes, trial->peak_bytes);
		}
		record_release(&record);
	}
}

static void only_what_ran_is_tested(void **state)
{
	static const struct {
		const char *name;
		struct ran ran[TRIALS_MAX];
		bool tested;
	} rows[] = {
		{ "it fits", { { 16, 2, VERDICT_FITS, 1 } }, true },
		{ "barely", { { 16, 2, VERDICT_FITS_BARELY, 1 } }, true },
		{ "never run", { { 8, 2, VERDICT_FITS, 1 } }, false },
		{ "did not fit", { { 16, 2, VERDICT_OOM_HOST, 1 } }, false },
		{ "did not fit the last time",
		  { { 16, 2, VERDICT_FITS, 1 },
		    { 16, 2, VERDICT_OVER_BUDGET, 1 } },
		  false },
		{ "fits the last time",
		  { { 16, 2, VERDICT_OVER_BUDGET, 1 },
		    { 16, 2, VERDICT_FITS, 1 } },
		  true },
		{ "nothing ran", { { 0 } }, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct record record;

		fill(&record, rows[i].ran);
		if (record_split_is_tested(&record) != rows[i].tested)
			fail_msg("%s", rows[i].name);
		record_release(&record);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_that_fits_is_found),
		cmocka_unit_test(only_what_ran_is_tested),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
