/* Steps by a counter in the output: never more than were done. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_VERDICT_STEP_COUNT_H
#define AUTOFIT_PROBES_VERDICT_STEP_COUNT_H

#include <stdbool.h>
#include <stdint.h>

/* All bytes 0: nothing was seen. */
struct step_count {
	int64_t counter; /* the last one shown */
	int64_t stride;  /* by how much it rose last; 0: it did not */
	int64_t steps;
	bool is_seen;
};

/*
 * A line showed this counter; negative: it showed none. A rise is one step,
 * and as many as it rose by once it does so a second time in a row: between
 * two lines of settings, or of two bars, there is any distance. A counter that
 * falls is another one, or begins again.
 */
void step_count_note(struct step_count *count, int64_t counter);

#endif
