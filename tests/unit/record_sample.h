/* Records for tests: one with every member set, and ones full of noise. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_UNIT_RECORD_SAMPLE_H
#define AUTOFIT_TESTS_UNIT_RECORD_SAMPLE_H

#include "configs/records/record.h"

#include "base/alloc.h"
#include "tests/unit/scratch.h"

#include <stdbool.h>

static inline struct trial sample_trial(int64_t micro)
{
	return (struct trial){
		.micro_batch = micro,
		.grad_accum = 2,
		.verdict = VERDICT_FITS_BARELY,
		.phase = PHASE_SAVE,
		.rank = -1,
		.peak_bytes = UINT64_C(76543210987),
		.pass_bytes = UINT64_C(8000000000),
		.limit_bytes = UINT64_C(76000000000),
		.peak_is_lower_bound = true,
		.peak_has_files = true,
		.peak_rising = false,
		.peak_varying = true,
		.sizes_differ = true,
		.data_in_order = true,
		.is_idle = true,
		.has_frozen = true,
		.step_growth_bytes = 524288,
		.ran_to_end = true,
		.steps_were_awaited = true,
		.coverage = COVERAGE_DEVICE_WIDE,
		.steps_source = STEPS_LOG,
		.steps = 23,
		.confirmed_steps = 20,
		.seconds = 12.5,
		.step_seconds = 0.015625,
		.input_rows = 32,
		.seen_accum = 3,
		.seen_ranks = 5,
		.loader_rows = 96,
		.data_rows = 4000,
		.printed_sizes_micro = 16,
		.printed_sizes_accum = 2,
		.printed_sizes_effective = 128,
	};
}

/* The recommended split as data. */
static inline void sample_settings(struct record *record)
{
	record->own_micro_batch = 4;
	record->own_grad_accum = 16;
	strlist_add(&record->recommended_argv, "python");
	strlist_add(&record->recommended_env, "BATCH=32");
	record->host = xstrdup("node7; rack 2");
	strlist_add(&record->versions, "torch 2.9.0");
	record_settings_add(&record->settings,
			    &(struct record_setting_texts){ "micro_batch",
							    "--bs", "32", "4",
							    "argument 3" });
	record_settings_add(&record->settings,
			    &(struct record_setting_texts){ "grad_accum", NULL,
							    NULL, NULL, NULL });
}

/* A sound record; script and device give its id. */
static inline struct record sample_record(const char *identity)
{
	struct record record = RECORD_INIT;
	struct trial trial = sample_trial(44);

	record.identity = xstrdup(identity);
	record.subject = xstrdup("train.py\nhf\ncuda");
	strlist_add(&record.stamps, "0123456789abcdef /src/model.py");
	strlist_add(&record.argv, "python");
	strlist_add(&record.argv, "train.py");
	strlist_add(&record.argv, "--name=my run; #1");
	record.preset = xstrdup("hf");
	record.device_kind = xstrdup("cuda");
	record.device_count = 1;
	record.devices[0] = (struct record_device){
		.uuid = "GPU-1b2c",
		.name = "NVIDIA H200",
		.total_bytes = UINT64_C(150754820096),
		.free_bytes = UINT64_C(150000000000),
		.budget_bytes = UINT64_C(140000000000),
		.emulated_as = "NVIDIA L4; 24 GB",
	};
	record.effective_batch_asked = 128;
	record.batch.micro_batch = 32;
	record.batch.grad_accum = 2;
	record.batch.world_size = 2;
	record.batch.effective_batch = 128;
	record.largest_micro_batch = 44;
	record.largest_fit = 44;
	record.smallest_misfit = 45;
	record.misfit_by = xstrdup("prediction");
	record.peak_bytes = 100;
	record.limit_bytes = UINT64_MAX;
	record.headroom_bytes = 300;
	record.budget_bytes = 400;
	record.coverage = COVERAGE_EXACT;
	record.steps_source = STEPS_HOOK;
	record.confirmed_steps = 20;
	record.isolation = xstrdup("overlay");
	record.lowered_from = 64;
	strlist_add(&record.not_exercised, "evaluation");
	strlist_add(&record.caveats, "the data vary: 20% headroom");
	probe_notes_add(&record.probes, &trial, "peak 71 GiB of 130",
			"/logs/1.log");
	trial.micro_batch = 45;
	trial.verdict = VERDICT_OOM_DEVICE;
	trial.is_elsewhere = true;
	probe_notes_add(&record.probes, &trial, NULL, NULL);
	strcpy(record.probes.items[1].gpu, "GPU-b");
	record.probes.items[1].round = 4;
	sample_settings(&record);
	record.created = 1700000000;
	record.autofit_version = xstrdup("0.1.0");
	record_set_id(&record, "train.py", "NVIDIA H200");
	return record;
}

static inline void sample_set(char **text, char *value)
{
	free(*text);
	*text = value;
}

/* As sample_record, every text and list of random bytes and lengths. */
static inline struct record noisy_record(uint64_t *seed)
{
	struct record record = sample_record("x");
	size_t count = scratch_random(seed) % 20;

	for (size_t i = 0; i < count; i++) {
		struct trial trial = sample_trial((int64_t)i + 1);
		char *text = scratch_random_text(
			seed, scratch_random(seed) % (i == 0 ? 3000 : 200));

		strlist_add(&record.argv, text);
		strlist_add(&record.stamps, text);
		strlist_add(&record.not_exercised, text);
		strlist_add(&record.caveats, text);
		strlist_add(&record.recommended_argv, text);
		record_settings_add(&record.settings,
				    &(struct record_setting_texts){
					    text, text, text, NULL, text });
		probe_notes_add(&record.probes, &trial, text, text);
		free(text);
	}
	sample_set(&record.identity, scratch_random_text(seed, 1000));
	sample_set(&record.subject, scratch_random_text(seed, 300));
	sample_set(&record.preset, scratch_random_text(seed, 30));
	sample_set(&record.autofit_version, scratch_random_text(seed, 9));
	sample_set(&record.isolation, scratch_random_text(seed, 12));
	record_set_id(&record, "train.py", "H200");
	return record;
}

static inline bool texts_equal(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static inline bool trials_equal(const struct trial *a, const struct trial *b)
{
	return a->micro_batch == b->micro_batch &&
	       a->grad_accum == b->grad_accum && a->verdict == b->verdict &&
	       a->phase == b->phase && a->rank == b->rank &&
	       a->peak_bytes == b->peak_bytes &&
	       a->pass_bytes == b->pass_bytes &&
	       a->limit_bytes == b->limit_bytes &&
	       a->peak_is_lower_bound == b->peak_is_lower_bound &&
	       a->peak_has_files == b->peak_has_files &&
	       a->peak_rising == b->peak_rising &&
	       a->peak_varying == b->peak_varying &&
	       a->sizes_differ == b->sizes_differ &&
	       a->data_in_order == b->data_in_order &&
	       a->is_idle == b->is_idle && a->has_frozen == b->has_frozen &&
	       a->step_growth_bytes == b->step_growth_bytes &&
	       a->ran_to_end == b->ran_to_end &&
	       a->steps_were_awaited == b->steps_were_awaited &&
	       a->is_elsewhere == b->is_elsewhere &&
	       a->coverage == b->coverage &&
	       a->steps_source == b->steps_source && a->steps == b->steps &&
	       a->confirmed_steps == b->confirmed_steps &&
	       a->seconds == b->seconds && a->step_seconds == b->step_seconds &&
	       a->input_rows == b->input_rows &&
	       a->seen_accum == b->seen_accum &&
	       a->seen_ranks == b->seen_ranks &&
	       a->loader_rows == b->loader_rows &&
	       a->data_rows == b->data_rows &&
	       a->printed_sizes_micro == b->printed_sizes_micro &&
	       a->printed_sizes_accum == b->printed_sizes_accum &&
	       a->printed_sizes_effective == b->printed_sizes_effective;
}

static inline bool notes_equal(const struct probe_notes *a,
			       const struct probe_notes *b)
{
	bool equal = a->count == b->count;

	for (size_t i = 0; i < a->count && equal; i++)
		equal = trials_equal(&a->items[i].trial, &b->items[i].trial) &&
			texts_equal(a->items[i].why, b->items[i].why) &&
			texts_equal(a->items[i].log, b->items[i].log) &&
			texts_equal(a->items[i].gpu, b->items[i].gpu) &&
			a->items[i].round == b->items[i].round;
	return equal;
}

static inline bool devices_equal(const struct record *a, const struct record *b)
{
	bool equal = a->device_count == b->device_count;

	for (size_t i = 0; i < a->device_count && equal; i++) {
		const struct record_device *x = &a->devices[i];
		const struct record_device *y = &b->devices[i];

		equal = strcmp(x->uuid, y->uuid) == 0 &&
			strcmp(x->name, y->name) == 0 &&
			x->total_bytes == y->total_bytes &&
			x->free_bytes == y->free_bytes &&
			x->budget_bytes == y->budget_bytes &&
			strcmp(x->emulated_as, y->emulated_as) == 0;
	}
	return equal;
}

static inline bool numbers_equal(const struct record *a, const struct record *b)
{
	return a->effective_batch_asked == b->effective_batch_asked &&
	       a->batch.micro_batch == b->batch.micro_batch &&
	       a->batch.grad_accum == b->batch.grad_accum &&
	       a->batch.world_size == b->batch.world_size &&
	       a->batch.effective_batch == b->batch.effective_batch &&
	       a->largest_micro_batch == b->largest_micro_batch &&
	       a->largest_fit == b->largest_fit &&
	       a->smallest_misfit == b->smallest_misfit &&
	       a->peak_bytes == b->peak_bytes &&
	       a->limit_bytes == b->limit_bytes &&
	       a->headroom_bytes == b->headroom_bytes &&
	       a->budget_bytes == b->budget_bytes &&
	       a->coverage == b->coverage &&
	       a->steps_source == b->steps_source &&
	       a->confirmed_steps == b->confirmed_steps &&
	       a->lowered_from == b->lowered_from &&
	       a->own_micro_batch == b->own_micro_batch &&
	       a->own_grad_accum == b->own_grad_accum &&
	       a->created == b->created;
}

static inline bool settings_equal(const struct record_settings *a,
				  const struct record_settings *b)
{
	bool equal = a->count == b->count;

	for (size_t i = 0; i < a->count && equal; i++)
		equal = texts_equal(a->items[i].size, b->items[i].size) &&
			texts_equal(a->items[i].name, b->items[i].name) &&
			texts_equal(a->items[i].value, b->items[i].value) &&
			texts_equal(a->items[i].was, b->items[i].was) &&
			texts_equal(a->items[i].where, b->items[i].where);
	return equal;
}

/* All but the id. */
static inline bool records_equal(const struct record *a, const struct record *b)
{
	return numbers_equal(a, b) && devices_equal(a, b) &&
	       notes_equal(&a->probes, &b->probes) &&
	       texts_equal(a->identity, b->identity) &&
	       texts_equal(a->subject, b->subject) &&
	       texts_equal(a->preset, b->preset) &&
	       texts_equal(a->device_kind, b->device_kind) &&
	       texts_equal(a->misfit_by, b->misfit_by) &&
	       texts_equal(a->isolation, b->isolation) &&
	       texts_equal(a->autofit_version, b->autofit_version) &&
	       strlist_equal(&a->stamps, &b->stamps) &&
	       strlist_equal(&a->argv, &b->argv) &&
	       strlist_equal(&a->not_exercised, &b->not_exercised) &&
	       strlist_equal(&a->caveats, &b->caveats) &&
	       settings_equal(&a->settings, &b->settings) &&
	       strlist_equal(&a->recommended_argv, &b->recommended_argv) &&
	       strlist_equal(&a->recommended_env, &b->recommended_env) &&
	       strlist_equal(&a->versions, &b->versions) &&
	       texts_equal(a->host, b->host);
}

#endif
