/* The other splits that a record's tuning has tested. Pure. */
/* SPDX-License-Identifier: MIT */
#include "configs/records/record_split.h"

#include <assert.h>
#include <stdbool.h>

/*
 * A probe without accumulation shows neither that the command knows it nor
 * what a step with it needs; from two micro-steps on memory is the same.
 */
static bool splits_exactly(const struct record *record,
			   const struct trial *trial)
{
	int64_t micro = trial->micro_batch;
	int64_t per_step;

	return micro > 0 && record->batch.world_size > 0 &&
	       !__builtin_mul_overflow(micro, record->batch.world_size,
				       &per_step) &&
	       record->batch.effective_batch % per_step == 0 &&
	       (trial->grad_accum > 1 ||
		record->batch.effective_batch == per_step);
}

const struct trial *record_split_find(const struct record *record,
				      int64_t below, uint64_t peak_max)
{
	const struct trial *best = NULL;

	for (size_t i = 0; i < record->probes.count; i++) {
		const struct trial *trial = &record->probes.items[i].trial;

		if (trial->micro_batch < below && trial_fits(trial) &&
		    trial->peak_bytes && trial->peak_bytes <= peak_max &&
		    (!best || trial->micro_batch > best->micro_batch) &&
		    splits_exactly(record, trial) &&
		    probe_notes_last(&record->probes, trial->micro_batch) ==
			    trial)
			best = trial;
	}
	assert(!best || best->micro_batch < below);
	return best;
}

bool record_split_is_tested(const struct record *record)
{
	const struct trial *trial =
		probe_notes_last(&record->probes, record->batch.micro_batch);

	return trial && trial_fits(trial);
}

void record_split_use(struct record *record, const struct trial *trial)
{
	const struct batch old = record->batch;

	assert(trial->micro_batch >= 1 && old.world_size >= 1);
	record->batch.micro_batch = trial->micro_batch;
	record->batch.grad_accum = record->batch.effective_batch /
				   record->batch.world_size /
				   trial->micro_batch;
	assert(record->batch.micro_batch * record->batch.grad_accum *
		       record->batch.world_size ==
	       record->batch.effective_batch);
	record_settings_rescale(&record->settings, &old, &record->batch);
	/* It has the old sizes in it. */
	strlist_release(&record->recommended_argv);
	strlist_release(&record->recommended_env);
	record->peak_bytes = trial->peak_bytes;
	record->coverage = trial->coverage;
	record->steps_source = trial->steps_source;
	record->confirmed_steps = trial->confirmed_steps;
	record->confirmed_passes = trial->later_passes;
}
