/* Bytes of the program and bytes of the driver, joined into one peak. */
/* SPDX-License-Identifier: MIT */
#include "probes/reconcile.h"

static void raise_to(uint64_t *value, uint64_t other)
{
	if (other > *value)
		*value = other;
}

/*
 * Only near the peak is the difference what belongs to the peak: when much was
 * just freed, by a process that ended say, the figure from outside can follow
 * late, and what it still holds would be taken for overhead for good. No bytes
 * outside: not even a context is there yet.
 */
static bool tells_overhead(const struct reconcile *reconcile,
			   const struct reconcile_look *look)
{
	uint64_t peak = reconcile->tracked_peak_bytes;

	return look->has_tracked && look->has_outside && look->is_quiet &&
	       !look->is_bypassed && look->outside_bytes > 0 &&
	       look->outside_bytes >= look->tracked_bytes &&
	       look->tracked_bytes >= peak - peak / 4;
}

void reconcile_note(struct reconcile *reconcile,
		    const struct reconcile_look *look)
{
	if (look->has_tracked) {
		reconcile->has_tracked = true;
		raise_to(&reconcile->tracked_peak_bytes,
			 look->tracked_peak_bytes);
	}
	if (look->has_outside) {
		reconcile->has_outside = true;
		raise_to(&reconcile->outside_peak_bytes, look->outside_bytes);
	}
	if (look->is_bypassed)
		reconcile->is_bypassed = true;
	if (tells_overhead(reconcile, look)) {
		reconcile->has_overhead = true;
		raise_to(&reconcile->overhead_bytes,
			 look->outside_bytes - look->tracked_bytes);
	}
}

uint64_t reconcile_peak(const struct reconcile *reconcile)
{
	uint64_t peak = reconcile->tracked_peak_bytes;

	/* The difference may have been that of the process not seen inside. */
	if (peak && !reconcile->is_bypassed &&
	    reconcile->overhead_bytes <= UINT64_MAX - peak)
		peak += reconcile->overhead_bytes;
	raise_to(&peak, reconcile->outside_peak_bytes);
	return peak;
}

enum coverage reconcile_coverage(const struct reconcile *reconcile)
{
	if (!reconcile_peak(reconcile))
		return COVERAGE_NONE;
	if (reconcile->has_tracked && reconcile->has_overhead &&
	    !reconcile->is_bypassed)
		return COVERAGE_EXACT;
	return COVERAGE_DEVICE_WIDE;
}
