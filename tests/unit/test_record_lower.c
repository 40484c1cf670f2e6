/* A split that ran out of memory later: which tested one takes its place. */
/* SPDX-License-Identifier: MIT */
/* USES configs */
#include "configs/records/record_lower.h"

#include "tests/unit/record_sample.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))
#define TRIALS_MAX 6

/* verdict 0: the end of a list. */
struct ran {
	int64_t micro, accum;
	enum verdict verdict;
	int64_t confirmed;
};

static const struct row {
	const char *name;
	int64_t micro, world, effective;
	struct ran ran[TRIALS_MAX];
	int64_t lowered, accum; /* 0: none */
	bool unconfirmed;
	int64_t largest_fit;
} rows[] = {
	{ "the next smaller",
	  64,
	  1,
	  128,
	  { { 16, 2, VERDICT_FITS, 20 },
	    { 32, 2, VERDICT_FITS, 20 },
	    { 64, 2, VERDICT_FITS, 20 } },
	  32,
	  4,
	  false,
	  32 },
	{ "never confirmed",
	  64,
	  1,
	  128,
	  { { 32, 2, VERDICT_FITS, 0 }, { 64, 2, VERDICT_FITS, 20 } },
	  32,
	  4,
	  true,
	  32 },
	{ "barely fits",
	  64,
	  1,
	  128,
	  { { 32, 2, VERDICT_FITS_BARELY, 20 } },
	  32,
	  4,
	  false,
	  32 },
	{ "not what only runs",
	  64,
	  1,
	  128,
	  { { 32, 2, VERDICT_THRASHES, 20 }, { 16, 2, VERDICT_FITS, 20 } },
	  16,
	  8,
	  false,
	  16 },
	{ "the last of a size counts: no more",
	  64,
	  1,
	  128,
	  { { 32, 2, VERDICT_FITS, 0 },
	    { 16, 2, VERDICT_FITS, 0 },
	    { 32, 2, VERDICT_OOM_HOST, 0 } },
	  16,
	  8,
	  true,
	  16 },
	{ "the last of a size counts: after all",
	  64,
	  1,
	  128,
	  { { 32, 2, VERDICT_DISTURBED, 0 }, { 32, 2, VERDICT_FITS, 20 } },
	  32,
	  4,
	  false,
	  32 },
	{ "the effective batch stays exact",
	  64,
	  1,
	  128,
	  { { 48, 2, VERDICT_FITS, 20 }, { 32, 2, VERDICT_FITS, 20 } },
	  32,
	  4,
	  false,
	  48 },
	{ "over the ranks",
	  16,
	  4,
	  128,
	  { { 12, 2, VERDICT_FITS, 20 }, { 8, 2, VERDICT_FITS, 20 } },
	  8,
	  4,
	  false,
	  12 },
	{ "larger ones stay out",
	  32,
	  1,
	  128,
	  { { 64, 2, VERDICT_FITS, 20 }, { 32, 2, VERDICT_FITS, 20 } },
	  0,
	  0,
	  false,
	  0 },
	{ "itself is no smaller one",
	  64,
	  1,
	  128,
	  { { 64, 2, VERDICT_FITS, 20 } },
	  0,
	  0,
	  false,
	  0 },
	{ "without accumulation nothing is known of it",
	  64,
	  1,
	  64,
	  { { 64, 1, VERDICT_FITS, 20 }, { 32, 1, VERDICT_FITS, 20 } },
	  0,
	  0,
	  false,
	  0 },
	{ "no probes", 64, 1, 128, { { 0 } }, 0, 0, false, 0 },
	{ "probes of nothing",
	  64,
	  1,
	  128,
	  { { 0, 2, VERDICT_FITS, 1 }, { 63, 2, VERDICT_NONE, 0 } },
	  0,
	  0,
	  false,
	  0 },
	{ "sizes beyond all numbers",
	  INT64_MAX,
	  1,
	  INT64_MAX,
	  { { INT64_MAX - 1, 2, VERDICT_FITS, 20 },
	    { 1, 2, VERDICT_FITS, 20 } },
	  1,
	  INT64_MAX,
	  false,
	  INT64_MAX - 1 },
};

static struct record record_of(const struct row *row)
{
	struct record record = sample_record("x");

	probe_notes_release(&record.probes);
	record.batch.micro_batch = row->micro;
	record.batch.world_size = row->world;
	record.batch.effective_batch = row->effective;
	record.batch.grad_accum = row->effective / row->world / row->micro;
	record.largest_micro_batch = row->micro;
	record.smallest_misfit = 0;
	record.lowered_from = 0;
	for (size_t i = 0; i < TRIALS_MAX && row->ran[i].verdict; i++) {
		struct trial trial = sample_trial(row->ran[i].micro);

		trial.grad_accum = row->ran[i].accum;
		trial.verdict = row->ran[i].verdict;
		trial.confirmed_steps = row->ran[i].confirmed;
		trial.peak_bytes = (uint64_t)trial.micro_batch * 10;
		probe_notes_add(&record.probes, &trial, NULL, NULL);
	}
	return record;
}

static bool has_caveat(const struct record *record, const char *start)
{
	for (size_t i = 0; i < record->caveats.count; i++)
		if (strncmp(record->caveats.items[i], start, strlen(start)) ==
		    0)
			return true;
	return false;
}

static void assert_lowered(const struct record *record, const struct row *row)
{
	assert_int_equal(record->batch.micro_batch, row->lowered);
	assert_int_equal(record->batch.grad_accum, row->accum);
	assert_int_equal(record->batch.effective_batch, row->effective);
	assert_int_equal(record->lowered_from, row->micro);
	assert_int_equal(record->smallest_misfit, row->micro);
	assert_string_equal(record->misfit_by, "run");
	assert_int_equal(record->largest_fit, row->largest_fit);
	assert_int_equal(record->largest_micro_batch, row->largest_fit);
	assert_int_equal(record->peak_bytes, (uint64_t)row->lowered * 10);
	assert_int_equal(record->coverage, COVERAGE_DEVICE_WIDE);
	assert_int_equal(record->steps_source, STEPS_LOG);
	assert_int_equal(record->confirmed_steps, row->unconfirmed ? 0 : 20);
	assert_true(has_caveat(record, "lowered from micro"));
	assert_int_equal(has_caveat(record, "unconfirmed"), row->unconfirmed);
	assert_true(has_caveat(record, "the data vary"));
}

static void the_next_smaller_tested_split(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct record record = record_of(&rows[i]);
		struct record before = record_of(&rows[i]);
		struct error err = ERROR_INIT;
		int result = record_lower(&record, &err);

		print_message("%s\n", rows[i].name);
		if (rows[i].lowered) {
			assert_int_equal(result, 0);
			assert_lowered(&record, &rows[i]);
		} else {
			assert_int_equal(result, -ENOENT);
			assert_non_null(strstr(err.message, "no smaller"));
			assert_true(records_equal(&record, &before));
		}
		record_release(&record);
		record_release(&before);
	}
}

static void again_until_there_is_none(void **state)
{
	static const struct row row = { "",
					64,
					1,
					128,
					{ { 8, 2, VERDICT_FITS, 20 },
					  { 16, 2, VERDICT_FITS, 0 },
					  { 32, 2, VERDICT_FITS, 0 },
					  { 64, 2, VERDICT_FITS, 20 } },
					0,
					0,
					false,
					0 };
	struct record record = record_of(&row);

	(void)state;
	for (int64_t micro = 32; micro >= 8; micro /= 2) {
		assert_int_equal(record_lower(&record, NULL), 0);
		assert_int_equal(record.batch.micro_batch, micro);
		assert_int_equal(record.lowered_from, 2 * micro);
		/* One line for each time, and what holds now said once. */
		assert_int_equal(has_caveat(&record, "unconfirmed"), micro > 8);
	}
	assert_int_equal(record_lower(&record, NULL), -ENOENT);
	assert_int_equal(record.caveats.count, 1 + 3);
	record_release(&record);
}

/* What was never searched stays so. */
static void the_largest_size_stays_unknown(void **state)
{
	struct record record = record_of(&rows[0]);

	(void)state;
	record.largest_micro_batch = 0;
	assert_int_equal(record_lower(&record, NULL), 0);
	assert_int_equal(record.largest_micro_batch, 0);
	record_release(&record);
}

static void a_lowered_record_round_trips(void **state)
{
	struct record record = record_of(&rows[0]);
	struct strbuf text = STRBUF_INIT;
	struct record again;

	(void)state;
	assert_int_equal(record_lower(&record, NULL), 0);
	assert_int_equal(record_format(&record, &text, NULL), 0);
	assert_int_equal(record_parse(&again, "text", &text, NULL), 0);
	assert_true(records_equal(&record, &again));
	assert_int_equal(again.lowered_from, 64);
	for (size_t i = 0; i < text.length; i++)
		assert_in_range((unsigned char)text.data[i], '\t', '~');
	record_release(&record);
	record_release(&again);
	strbuf_release(&text);
}

static struct trial *trial_of(struct record *record)
{
	for (size_t i = 0; i < record->probes.count; i++)
		if (record->probes.items[i].trial.micro_batch ==
		    record->batch.micro_batch)
			return &record->probes.items[i].trial;
	return NULL;
}

static void a_run_confirms_what_awaits_it(void **state)
{
	struct record record = record_of(&rows[0]);
	size_t caveats = record.caveats.count;

	(void)state;
	record.steps_source = STEPS_HOOK;
	assert_false(record_awaits_run(&record));
	record_await_run(&record);
	assert_true(record_awaits_run(&record));
	assert_int_equal(record.confirmed_steps, 0);
	assert_false(trial_is_confirmed(trial_of(&record)));
	assert_true(record_confirm_by_run(&record));
	assert_false(record_awaits_run(&record));
	assert_int_equal(record.caveats.count, caveats);
	assert_int_equal(record.not_exercised.count, 0);
	assert_true(trial_is_confirmed(trial_of(&record)));
	/* There is nothing to say a second time. */
	assert_false(record_confirm_by_run(&record));
	record_release(&record);
}

/* The lowered split is as `autofit lower` leaves it, and so used by all. */
static void what_was_lowered_awaits_nothing(void **state)
{
	struct record record = record_of(&rows[1]);

	(void)state;
	record.steps_source = STEPS_HOOK;
	record_await_run(&record);
	assert_int_equal(record_lower(&record, NULL), 0);
	assert_false(record_awaits_run(&record));
	assert_true(record_confirm_by_run(&record));
	assert_true(trial_is_confirmed(trial_of(&record)));
	record_release(&record);
}

/* It ran to its end in the probe: there is nothing to wait for. */
static void an_end_is_no_short_probe(void **state)
{
	struct record record = record_of(&rows[0]);

	(void)state;
	record.steps_source = STEPS_EXIT;
	record_await_run(&record);
	assert_false(record_awaits_run(&record));
	record_release(&record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_next_smaller_tested_split),
		cmocka_unit_test(again_until_there_is_none),
		cmocka_unit_test(the_largest_size_stays_unknown),
		cmocka_unit_test(a_lowered_record_round_trips),
		cmocka_unit_test(a_run_confirms_what_awaits_it),
		cmocka_unit_test(what_was_lowered_awaits_nothing),
		cmocka_unit_test(an_end_is_no_short_probe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
