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

/* All rows of now against last (count 0: there was none). */
void night_compare_all(struct night *now, const struct night *last);

/* Somebody should look at the row. */
bool night_needs_look(const struct night_row *row);

/* "torch 2.8.0 -> 2.9.0; micro 16 -> 32; peak +6%": empty where all is same. */
void night_difference(const struct night_row *old, const struct night_row *new,
		      struct strbuf *out);

#endif
