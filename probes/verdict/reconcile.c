/* Bytes of the program and bytes of the driver, joined into one peak. */
/* SPDX-License-Identifier: MIT */
#include "probes/verdict/reconcile.h"

#include <assert.h>

static void reconcile_raise_peak(uint64_t *peak, uint64_t other)
{
	if (other > *peak)
		*peak = other;
}

/* Where nothing is held any more, what is still seen outside is on its way
 * back: of a process that ended, most often. */
static bool tells_overhead(const struct reconcile_look *look)
{
	return look->has_tracked && look->has_outside && look->is_quiet &&
	       !look->is_bypassed && look->outside_bytes > 0 &&
	       look->outside_bytes >= look->tracked_bytes &&
	       (look->tracked_bytes || !look->tracked_peak_bytes);
}

static bool is_near_peak(uint64_t bytes, uint64_t peak)
{
	return bytes >= peak - peak / 4;
}

/*
 * Near the peak the difference is what belongs to the peak, and the largest
 * counts. When much was just freed, by a process that ended say, the figure
 * from outside can follow late, and what it still holds would be taken for
 * overhead for good: of those the last counts, where there is no better one.
 */
static void note_overhead(struct reconcile *reconcile,
			  const struct reconcile_look *look)
{
	uint64_t bytes = look->outside_bytes - look->tracked_bytes;
	uint64_t peak = reconcile->tracked_peak_bytes;

	assert(look->outside_bytes >= look->tracked_bytes);
	reconcile->compared_bytes = peak;
	if (is_near_peak(look->tracked_bytes, peak)) {
		reconcile->has_overhead = true;
		reconcile->near_bytes = peak;
		if (look->holders > reconcile->near_holders)
			reconcile->near_holders = look->holders;
		reconcile_raise_peak(&reconcile->overhead_bytes, bytes);
	} else {
		reconcile->has_last_overhead = true;
		reconcile->last_overhead_bytes = bytes;
		reconcile->last_holders = look->holders;
	}
}

/* Of so many processes, as much more as there once were more of them. */
static uint64_t overhead_of_all(const struct reconcile *reconcile,
				uint64_t bytes, size_t holders)
{
	if (!holders || holders >= reconcile->most_holders)
		return bytes;
	return bytes / holders * reconcile->most_holders;
}

/* What was near a peak is far from one that has grown since. */
static uint64_t overhead_of(const struct reconcile *reconcile)
{
	uint64_t bytes = reconcile->overhead_bytes;

	if (!reconcile->has_overhead && !reconcile->has_last_overhead)
		return reconcile->told_overhead_bytes;
	if (is_near_peak(reconcile->near_bytes, reconcile->tracked_peak_bytes))
		return bytes;
	bytes = overhead_of_all(reconcile, bytes, reconcile->near_holders);
	reconcile_raise_peak(&bytes,
			     overhead_of_all(reconcile,
					     reconcile->last_overhead_bytes,
					     reconcile->last_holders));
	return bytes;
}

void reconcile_note(struct reconcile *reconcile,
		    const struct reconcile_look *look)
{
	if (look->has_tracked) {
		reconcile->has_tracked = true;
		reconcile_raise_peak(&reconcile->tracked_peak_bytes,
				     look->tracked_peak_bytes);
		if (look->holders > reconcile->most_holders)
			reconcile->most_holders = look->holders;
	}
	if (look->has_outside) {
		reconcile->has_outside = true;
		reconcile_raise_peak(&reconcile->outside_peak_bytes,
				     look->outside_bytes);
	}
	if (look->told_overhead_bytes)
		reconcile->told_overhead_bytes = look->told_overhead_bytes;
	if (look->is_bypassed)
		reconcile->is_bypassed = true;
	if (tells_overhead(look))
		note_overhead(reconcile, look);
}

uint64_t reconcile_peak(const struct reconcile *reconcile)
{
	uint64_t peak = reconcile->tracked_peak_bytes;

	/* The difference may have been that of the process not seen inside. A
	 * sum that wraps is less than what was seen outside. */
	if (peak && !reconcile->is_bypassed)
		peak += overhead_of(reconcile);
	reconcile_raise_peak(&peak, reconcile->outside_peak_bytes);
	return peak;
}

enum coverage reconcile_coverage(const struct reconcile *reconcile)
{
	if (!reconcile_peak(reconcile))
		return COVERAGE_NONE;
	if (reconcile->has_tracked && !reconcile->is_bypassed &&
	    (reconcile->has_overhead ||
	     (reconcile->has_last_overhead &&
	      reconcile->last_holders >= reconcile->most_holders)) &&
	    is_near_peak(reconcile->compared_bytes,
			 reconcile->tracked_peak_bytes))
		return COVERAGE_EXACT;
	return COVERAGE_DEVICE_WIDE;
}
