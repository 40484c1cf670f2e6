/* How long an optimizer step takes, and how far steps differ. Pure. */
/* SPDX-License-Identifier: MIT */
#include "probes/verdict/step_times.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* Memory is allocated, kernels are chosen: no time of theirs counts. */
#define WARM_UP_STEPS 2

void step_times_note(struct step_times *times, int64_t steps, int64_t us)
{
	int64_t from = times->steps;
	int64_t start = from ? times->us[from - 1] : us;

	if (steps > STEP_TIMES_MAX)
		steps = STEP_TIMES_MAX;
	/* Another clock, or one that was set back. */
	if (us < start)
		us = start;
	for (int64_t k = from; k < steps; k++)
		times->us[k] =
			start + (us - start) * (k - from + 1) / (steps - from);
	if (steps > from)
		times->steps = steps;
}

static int step_times_compare(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a;
	int64_t right = *(const int64_t *)b;

	return (left > right) - (left < right);
}

static int64_t median_of(int64_t *values, int64_t count)
{
	qsort(values, (size_t)count, sizeof(*values), step_times_compare);
	return values[count / 2];
}

/* Orders took anew. */
static struct step_pace pace_of(int64_t *took, int64_t count)
{
	struct step_pace pace = { 0, 0 };
	int64_t median;

	if (count < 1)
		return pace;
	median = median_of(took, count);
	for (int64_t i = 0; i < count; i++)
		took[i] =
			took[i] > median ? took[i] - median : median - took[i];
	pace.median_seconds = (double)median / 1e6;
	pace.mad_seconds = (double)median_of(took, count) / 1e6;
	return pace;
}

struct step_pace step_times_pace(const struct step_times *times)
{
	int64_t first = times->steps > WARM_UP_STEPS + 1 ? WARM_UP_STEPS : 0;
	int64_t count = times->steps - 1 - first;
	int64_t took[STEP_TIMES_MAX];
	struct step_pace pace;

	for (int64_t i = 0; i < count; i++)
		took[i] = times->us[first + i + 1] - times->us[first + i];
	pace = pace_of(took, count);
	if (times->are_heard && count > 0) {
		int64_t all_us = times->us[first + count] - times->us[first];
		double mean_seconds = (double)all_us / 1e6 / (double)count;

		pace.mad_seconds =
			fmax(pace.mad_seconds,
			     fabs(mean_seconds - pace.median_seconds));
	}
	return pace;
}

struct step_pace step_times_pace_within(const struct step_times *times,
					int64_t per_step)
{
	int64_t took[STEP_TIMES_MAX];
	int64_t count = 0;

	for (int64_t i = 1; i < times->steps; i++)
		if (per_step > 1 && i % per_step != 0)
			took[count++] = times->us[i] - times->us[i - 1];
	return pace_of(took, count);
}
