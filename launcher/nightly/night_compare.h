/* Tonight against the last night, job by job. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_NIGHTLY_NIGHT_COMPARE_H
#define AUTOFIT_LAUNCHER_NIGHTLY_NIGHT_COMPARE_H

#include "launcher/nightly/night_row.h"

/* Rates nearer than this, or than their errors, are the same. */
#define COMPARE_SPEED 0.05
/* Peaks of one split that differ by less are the same. */
#define COMPARE_PEAK 0.05

/*
 * Sets change and cause of the row; old is the same job's of the last night,
 * NULL: it has none. The cause names versions, what of the command differs,
 * the device, and how far the peak moved, as far as they changed.
 */
void night_compare(struct night_row *row, const struct night_row *old);

/* Somebody should look at the row. */
bool night_needs_look(const struct night_row *row);

#endif
