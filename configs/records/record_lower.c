/* What real runs show of a recorded split: too large, or good. Pure. */
/* SPDX-License-Identifier: MIT */
#include "configs/records/record_lower.h"

#include "base/alloc.h"
#include "configs/records/record_split.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#define UNCONFIRMED                                                            \
	"unconfirmed: the split it was lowered to had a short probe only"
#define AWAITS_RUN                                                             \
	"unconfirmed: one short probe, which a run under --guard is to "       \
	"confirm"

static bool drop_caveat(struct record *record, const char *caveat)
{
	size_t index = strlist_find(&record->caveats, caveat);

	if (index == record->caveats.count)
		return false;
	strlist_remove(&record->caveats, index);
	return true;
}

/* The largest size below limit that fits; of one size the last counts. */
static int64_t largest_fit_below(const struct probe_notes *probes,
				 int64_t limit)
{
	int64_t largest = 0;

	for (size_t i = 0; i < probes->count; i++) {
		const struct trial *trial = &probes->items[i].trial;
		bool fits = trial_fits(trial);

		for (size_t j = i + 1; j < probes->count; j++)
			if (probes->items[j].trial.micro_batch ==
			    trial->micro_batch)
				fits = false;
		if (fits && trial->micro_batch < limit &&
		    trial->micro_batch > largest)
			largest = trial->micro_batch;
	}
	return largest;
}

static void set_bounds(struct record *record)
{
	assert(record->lowered_from > 0);
	record->smallest_misfit = record->lowered_from;
	free(record->misfit_by);
	record->misfit_by = xstrdup("run");
	record->largest_fit =
		largest_fit_below(&record->probes, record->lowered_from);
	if (record->largest_micro_batch)
		record->largest_micro_batch = record->largest_fit;
}

static void set_caveats(struct record *record)
{
	bool is_confirmed = record->confirmed_steps > 0 ||
			    record->steps_source == STEPS_EXIT ||
			    record->steps_source == STEPS_TIME;

	(void)drop_caveat(record, UNCONFIRMED);
	(void)drop_caveat(record, AWAITS_RUN);
	strlist_addf(&record->caveats,
		     "lowered from micro %" PRId64
		     ", which ran out of memory in a real run",
		     record->lowered_from);
	if (!is_confirmed)
		strlist_add(&record->caveats, UNCONFIRMED);
}

int record_lower(struct record *record, struct error *err)
{
	const struct trial *trial = record_split_find(
		record, record->batch.micro_batch, UINT64_MAX);

	if (!trial)
		return error_set(err, -ENOENT,
				 "no smaller split of effective batch %" PRId64
				 " was tested and fits",
				 record->batch.effective_batch);
	record->lowered_from = record->batch.micro_batch;
	record_split_use(record, trial);
	set_bounds(record);
	set_caveats(record);
	return 0;
}

/* The trial of the recommended split, which lies in the record; NULL: none. */
static struct trial *own_trial(struct record *record)
{
	struct trial *last = NULL;

	for (size_t i = 0; i < record->probes.count; i++)
		if (record->probes.items[i].trial.micro_batch ==
		    record->batch.micro_batch)
			last = &record->probes.items[i].trial;
	return last;
}

void record_await_run(struct record *record)
{
	struct trial *trial = own_trial(record);

	if (record->steps_source == STEPS_EXIT ||
	    record->steps_source == STEPS_TIME)
		return;
	record->confirmed_steps = 0;
	if (trial)
		trial->confirmed_steps = 0;
	strlist_add(&record->caveats, AWAITS_RUN);
}

bool record_awaits_run(const struct record *record)
{
	return strlist_find(&record->caveats, AWAITS_RUN) <
	       record->caveats.count;
}

bool record_confirm_by_run(struct record *record)
{
	struct trial *trial = own_trial(record);
	bool awaited = drop_caveat(record, AWAITS_RUN);

	if (!drop_caveat(record, UNCONFIRMED) && !awaited)
		return false;
	record->steps_source = STEPS_EXIT;
	strlist_release(&record->not_exercised);
	if (trial) {
		trial->steps_source = STEPS_EXIT;
		trial->ran_to_end = true;
	}
	return true;
}
