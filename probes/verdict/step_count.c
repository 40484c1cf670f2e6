/* Steps by a counter in the output: never more than were done. Pure. */
/* SPDX-License-Identifier: MIT */
#include "probes/verdict/step_count.h"

void step_count_note(struct step_count *count, int64_t counter)
{
	int64_t rise;

	if (counter < 0)
		return;
	rise = counter - (count->is_seen ? count->counter : 0);
	count->counter = counter;
	if (!count->is_seen) {
		count->is_seen = true;
		count->steps = rise > 0;
		return;
	}
	/* The same line of another rank. */
	if (rise == 0)
		return;
	if (rise < 0) {
		count->stride = 0;
		return;
	}
	if (count->stride != rise)
		count->steps += 1;
	else if (__builtin_add_overflow(count->steps, rise, &count->steps))
		count->steps = INT64_MAX;
	count->stride = rise;
}
