/* A growable list of finished probes with the words that go with them. */
/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"
#include "configs/records/record.h"

#include <stdlib.h>
#include <string.h>

void probe_notes_add(struct probe_notes *notes, const struct trial *trial,
		     const char *why, const char *log)
{
	notes->items = xgrow(notes->items, notes->count, &notes->capacity,
			     sizeof(*notes->items));
	notes->items[notes->count++] = (struct probe_note){
		.trial = *trial,
		.why = why ? xstrdup(why) : NULL,
		.log = log ? xstrdup(log) : NULL,
	};
}

void probe_notes_copy(struct probe_notes *notes, const struct probe_note *note)
{
	struct probe_note *copy;

	probe_notes_add(notes, &note->trial, note->why, note->log);
	copy = &notes->items[notes->count - 1];
	memcpy(copy->gpu, note->gpu, sizeof(copy->gpu));
	copy->round = note->round;
}

void probe_notes_release(struct probe_notes *notes)
{
	for (size_t i = 0; i < notes->count; i++) {
		free(notes->items[i].why);
		free(notes->items[i].log);
	}
	free(notes->items);
	memset(notes, 0, sizeof(*notes));
}

const struct trial *probe_notes_last(const struct probe_notes *notes,
				     int64_t micro_batch)
{
	for (size_t i = notes->count; i-- > 0;)
		if (notes->items[i].trial.micro_batch == micro_batch)
			return &notes->items[i].trial;
	return NULL;
}

struct trial *probe_notes_trials(const struct probe_notes *notes)
{
	struct trial *trials = xcalloc(notes->count, sizeof(*trials));

	for (size_t i = 0; i < notes->count; i++)
		trials[i] = notes->items[i].trial;
	return trials;
}

const struct trial *probe_notes_fitting(const struct probe_notes *notes,
					int64_t micro)
{
	const struct trial *best = NULL;
	int64_t misfit = INT64_MAX;

	for (size_t i = 0; i < notes->count; i++)
		if (trial_is_misfit(&notes->items[i].trial) &&
		    notes->items[i].trial.micro_batch < misfit)
			misfit = notes->items[i].trial.micro_batch;
	for (size_t i = 0; i < notes->count; i++) {
		const struct trial *trial = &notes->items[i].trial;

		if (trial_fits(trial) &&
		    (micro ? trial->micro_batch == micro
			   : trial->micro_batch < misfit) &&
		    (!best || trial->micro_batch >= best->micro_batch))
			best = trial;
	}
	return best;
}

bool probe_notes_can_resume(const struct probe_notes *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		if (trial_fits(&notes->items[i].trial) ||
		    trial_is_misfit(&notes->items[i].trial))
			return true;
	return false;
}
