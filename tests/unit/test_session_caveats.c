/* What is said beside an answer: how its peak was seen, and how it grew. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/tuning/session_caveats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))
#define CAVEATS_MAX 3

/* A session that has come to its answer, as far as its caveats go. */
struct answered {
	struct preset preset;
	struct options options;
	struct request request;
	struct memory_target target;
	struct result result;
	struct session session;
};

static void answered_make(struct answered *answered, enum probe_device device,
			  bool has_nvml)
{
	/* Never looked into. */
	struct nvml *nvml = (struct nvml *)answered;

	memset(answered, 0, sizeof(*answered));
	answered->request.command.preset = &answered->preset;
	answered->request.options = &answered->options;
	answered->target.device = device;
	answered->target.nvml = has_nvml ? nvml : NULL;
	answered->session.given.request = &answered->request;
	answered->session.given.target = &answered->target;
	answered->session.result = &answered->result;
}

static void assert_caveats(const struct answered *answered,
			   const char *const words[])
{
	const struct strlist *caveats = &answered->result.record.caveats;
	size_t count = 0;

	for (; count < CAVEATS_MAX && words[count]; count++) {
		assert_true(count < caveats->count);
		assert_non_null(strstr(caveats->items[count], words[count]));
	}
	assert_int_equal(caveats->count, count);
}

static const struct row {
	enum probe_device device;
	bool has_nvml;
	struct trial trial;
	const char *words[CAVEATS_MAX + 1];
} rows[] = {
	{ PROBE_HOST,
	  false,
	  { .peak_bytes = 1, .coverage = COVERAGE_EXACT },
	  { NULL } },
	{ PROBE_HOST, false, { .peak_bytes = 0 }, { "ended before its" } },
	{ PROBE_HOST,
	  false,
	  { .peak_bytes = 1,
	    .coverage = COVERAGE_EXACT,
	    .peak_rising = true,
	    .steps_source = STEPS_TIME },
	  { "still rose", "no step was seen" } },
	{ PROBE_HOST,
	  false,
	  { .peak_bytes = 1,
	    .coverage = COVERAGE_EXACT,
	    .peak_rising = true,
	    .peak_varying = true },
	  { "varies from step to step" } },
	{ PROBE_HOST,
	  false,
	  { .peak_bytes = 1,
	    .coverage = COVERAGE_EXACT,
	    .sizes_differ = true,
	    .peak_varying = true },
	  { "varies from step to step" } },
	{ PROBE_HOST,
	  false,
	  { .peak_bytes = 1,
	    .coverage = COVERAGE_EXACT,
	    .sizes_differ = true,
	    .peak_rising = true },
	  { "still rose", "inputs of different sizes" } },
	{ PROBE_HOST,
	  false,
	  { .peak_bytes = 1,
	    .coverage = COVERAGE_EXACT,
	    .data_in_order = true,
	    .input_columns = 8 },
	  { "not shuffled" } },
	{ PROBE_HOST,
	  false,
	  { .peak_bytes = 1,
	    .coverage = COVERAGE_EXACT,
	    .data_in_order = true },
	  { NULL } },
	{ PROBE_HOST,
	  false,
	  { .peak_bytes = 1,
	    .coverage = COVERAGE_EXACT,
	    .data_in_order = true,
	    .input_columns = 8,
	    .sizes_differ = true },
	  { "inputs of different sizes" } },
	{ PROBE_CUDA,
	  true,
	  { .peak_bytes = 1, .coverage = COVERAGE_EXACT },
	  { NULL } },
	{ PROBE_CUDA,
	  true,
	  { .peak_bytes = 1, .coverage = COVERAGE_DEVICE_WIDE },
	  { "sampled from outside" } },
	{ PROBE_CUDA,
	  false,
	  { .peak_bytes = 1, .coverage = COVERAGE_DEVICE_WIDE },
	  { "NVML is not there" } },
	{ PROBE_CUDA, true, { .peak_bytes = 0 }, { "a pool of device" } },
};

static void a_peak_is_said_to_be_what_it_is(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct answered answered;

		answered_make(&answered, rows[i].device, rows[i].has_nvml);
		session_caveats_add(&answered.session, &rows[i].trial);
		assert_caveats(&answered, rows[i].words);
		strlist_release(&answered.result.record.caveats);
	}
}

/* A later check says how its own peak was seen, and keeps what else stood. */
static void a_check_replaces_what_it_saw_better(void **state)
{
	static const char *const kept[] = { "the learning rate", NULL };
	struct trial check = { .peak_bytes = 1, .coverage = COVERAGE_EXACT };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct trial older = rows[i].trial;
		struct answered before, after;

		older.peak_rising = true;
		older.steps_source = STEPS_HOOK;
		answered_make(&before, rows[i].device, rows[i].has_nvml);
		strlist_add(&before.result.record.caveats, kept[0]);
		before.result.record.coverage = COVERAGE_NONE;
		session_caveats_add(&before.session, &older);
		answered_make(&after, rows[i].device, rows[i].has_nvml);
		session_caveats_renew(&after.session, &before.result.record,
				      &check);
		assert_caveats(&after, kept);
		strlist_release(&before.result.record.caveats);
		strlist_release(&after.result.record.caveats);
	}
}

/* The batch of an answer counts the ranks that were counted. */
static void ranks_that_are_open_are_said(void **state)
{
	static char why[] = "how many ranks x starts is not known";
	static const char *const words[] = { "that of 1 rank: how many ranks x",
					     NULL };
	struct trial trial = { .peak_bytes = 1,
			       .coverage = COVERAGE_EXACT,
			       .steps_source = STEPS_HOOK };
	struct answered answered;

	(void)state;
	answered_make(&answered, PROBE_HOST, false);
	answered.request.command.open_ranks = why;
	answered.result.record.batch.world_size = 1;
	session_caveats_add(&answered.session, &trial);
	assert_caveats(&answered, words);
	strlist_release(&answered.result.record.caveats);
}

/* What an optimizer holds may be trained later on. */
static void frozen_parameters_were_not_trained(void **state)
{
	(void)state;
	for (int has_frozen = 0; has_frozen <= 1; has_frozen++) {
		struct trial trial = { .peak_bytes = 1,
				       .coverage = COVERAGE_EXACT,
				       .has_frozen = has_frozen };
		struct answered answered;
		struct strlist *not_run = &answered.result.record.not_exercised;

		answered_make(&answered, PROBE_HOST, false);
		session_caveats_add(&answered.session, &trial);
		assert_int_equal(not_run->count, has_frozen);
		if (has_frozen)
			assert_string_equal(not_run->items[0],
					    "training of what is frozen");
		strlist_release(not_run);
		strlist_release(&answered.result.record.caveats);
	}
}

/* Saving comes behind an evaluation, and does not hide it. */
static void what_a_probe_came_to_is_not_left_out(void **state)
{
	static const struct {
		struct trial trial;
		bool evaluation, saving; /* was not run */
	} cases[] = {
		{ { .phase = PHASE_TRAIN }, true, true },
		{ { .phase = PHASE_EVAL }, true, true },
		{ { .phase = PHASE_EVAL, .has_evaluated = true }, false, true },
		{ { .phase = PHASE_SAVE }, true, false },
		{ { .phase = PHASE_SAVE, .has_evaluated = true },
		  false,
		  false },
		{ { .phase = PHASE_TRAIN, .ran_to_end = true }, false, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct answered answered;
		struct strlist *left_out = &answered.preset.probe.not_exercised;
		struct strlist *not_run = &answered.result.record.not_exercised;

		answered_make(&answered, PROBE_HOST, false);
		strlist_add(left_out, "evaluation");
		strlist_add(left_out, "saving");
		session_caveats_add(&answered.session, &cases[i].trial);
		assert_int_equal(not_run->count,
				 cases[i].evaluation + cases[i].saving);
		if (cases[i].evaluation)
			assert_string_equal(not_run->items[0], "evaluation");
		if (cases[i].saving)
			assert_string_equal(not_run->items[cases[i].evaluation],
					    "saving");
		strlist_release(left_out);
		strlist_release(not_run);
		strlist_release(&answered.result.record.caveats);
	}
}

/* Where the micro-batch stays, so do its statistics. */
static void statistics_change_with_the_micro_batch(void **state)
{
	static const char *const words[] = { "BatchNorm takes",
					     "the loss compares", NULL };

	(void)state;
	for (int64_t micro = 8; micro <= 16; micro += 8) {
		struct trial trial = { .peak_bytes = 1,
				       .coverage = COVERAGE_EXACT,
				       .has_batch_norm = true,
				       .compares = true };
		struct answered answered;

		answered_make(&answered, PROBE_HOST, false);
		answered.request.command.batch.micro_batch = 8;
		answered.result.record.batch.micro_batch = micro;
		session_caveats_add(&answered.session, &trial);
		assert_caveats(&answered, micro == 8 ? words + 2 : words);
		strlist_release(&answered.result.record.caveats);
	}
}

/* A script may accumulate less at first, and more than it was told later. */
static void passes_that_differ_are_said(void **state)
{
	static const struct {
		int64_t seen;
		const char *words[2];
	} cases[] = {
		{ 0, { NULL } },
		{ 1, { "made 1 of 4 backward passes so far" } },
		{ 4, { NULL } },
		{ 8, { "was seen to make 8 backward passes" } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct trial trial = { .peak_bytes = 1,
				       .coverage = COVERAGE_EXACT,
				       .steps_source = STEPS_HOOK,
				       .grad_accum = 4,
				       .seen_accum = cases[i].seen };
		struct answered answered;

		answered_make(&answered, PROBE_HOST, false);
		session_caveats_add(&answered.session, &trial);
		assert_caveats(&answered, cases[i].words);
		strlist_release(&answered.result.record.caveats);
	}
}

/* A script may take a part of the batch at first, or for good. */
static void rows_that_are_fewer_are_said(void **state)
{
	static const struct {
		struct trial trial;
		bool is_said, differ;
		const char *words[2];
	} cases[] = {
		{ { .input_rows = 8 }, false, false, { NULL } },
		{ { .input_rows = 2 },
		  false,
		  true,
		  { "take 2 rows where micro 8 was written: what as many" } },
		{ { .input_rows = 2 },
		  true,
		  true,
		  { "take 2 rows where micro 8 was written: the effective" } },
		/* All passes of a step take what was written. */
		{ { .input_rows = 2, .seen_accum = 4 },
		  false,
		  false,
		  { NULL } },
		/* Time before the batch, and samples packed into one row. */
		{ { .input_rows = 2, .input_columns = 8 },
		  false,
		  false,
		  { NULL } },
		{ { .input_rows = 1, .input_columns = 64 },
		  false,
		  false,
		  { NULL } },
		{ { .input_rows = 0 }, false, false, { NULL } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct trial trial = cases[i].trial;
		struct answered answered;
		struct command *command = &answered.request.command;

		trial.peak_bytes = 1;
		trial.coverage = COVERAGE_EXACT;
		trial.micro_batch = 8;
		trial.grad_accum = 1;
		answered_make(&answered, PROBE_HOST, false);
		command->micro_scope_is_said = cases[i].is_said;
		session_caveats_add(&answered.session, &trial);
		assert_caveats(&answered, cases[i].words);
		assert_int_equal(session_rows_differ(command, &trial),
				 cases[i].differ);
		strlist_release(&answered.result.record.caveats);
	}
}

/* Few data end in a batch that is no whole one. */
static void a_last_batch_of_few_data_is_said(void **state)
{
	static const struct {
		int64_t micro, loader, data;
		const char *words[2];
	} cases[] = {
		{ 32,
		  32,
		  40,
		  { "40 samples: the last batch of an epoch has 8 "
		    "rows" } },
		{ 20, 20, 40, { NULL } },
		/* Of many data it is a small part; as small was the own. */
		{ 32, 32, 4008, { NULL } },
		{ 32, 32, 41, { "has 9 rows" } },
		{ 16, 16, 41, { NULL } },
		{ 8, 8, 41, { NULL } },
		/* It is no loader of micro-batches, or none is known. */
		{ 32, 8, 40, { NULL } },
		{ 32, 32, 0, { NULL } },
		{ 32, 0, 0, { NULL } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct trial trial = { .peak_bytes = 1,
				       .coverage = COVERAGE_EXACT,
				       .micro_batch = cases[i].micro,
				       .grad_accum = 1,
				       .loader_rows = cases[i].loader,
				       .data_rows = cases[i].data };
		struct answered answered;

		answered_make(&answered, PROBE_HOST, false);
		answered.request.command.batch.micro_batch = 8;
		answered.result.record.batch.micro_batch = cases[i].micro;
		session_caveats_add(&answered.session, &trial);
		assert_caveats(&answered, cases[i].words);
		strlist_release(&answered.result.record.caveats);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_probe_came_to_is_not_left_out),
		cmocka_unit_test(statistics_change_with_the_micro_batch),
		cmocka_unit_test(passes_that_differ_are_said),
		cmocka_unit_test(rows_that_are_fewer_are_said),
		cmocka_unit_test(a_last_batch_of_few_data_is_said),
		cmocka_unit_test(a_peak_is_said_to_be_what_it_is),
		cmocka_unit_test(a_check_replaces_what_it_saw_better),
		cmocka_unit_test(ranks_that_are_open_are_said),
		cmocka_unit_test(frozen_parameters_were_not_trained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
