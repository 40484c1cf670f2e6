/* Bytes of the program and bytes of the driver, joined into one peak. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_VERDICT_RECONCILE_H
#define AUTOFIT_PROBES_VERDICT_RECONCILE_H

#include "base/trial.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * process = tracked + overhead: what the program asked for is counted exactly
 * by the preload library; what the driver adds (contexts, code, local memory,
 * rounding) is the difference to what NVML says of the same processes, at a
 * moment when nothing changed. The overhead only grows while a training runs,
 * so the largest one seen is added to the exact peak. Each process has its own:
 * where fewer held memory at that moment than once did, as when the first of
 * two ranks has ended, it counts for as many as there were. All bytes 0:
 * nothing seen yet. One per device.
 */
struct reconcile {
	uint64_t overhead_bytes;      /* largest difference near the peak */
	uint64_t last_overhead_bytes; /* the last one far from it */
	uint64_t near_bytes;          /* the peak when the first was seen */
	uint64_t compared_bytes;      /* the peak when either was, at last */
	uint64_t told_overhead_bytes; /* by the library; see below */
	uint64_t outside_peak_bytes;  /* largest figure from outside */
	uint64_t tracked_peak_bytes;
	/* Processes that held memory: near the peak, at the last one far from
	 * it, and the most that ever did. */
	size_t near_holders, last_holders, most_holders;
	bool has_overhead, has_last_overhead, has_tracked, has_outside;
	bool is_bypassed; /* some process of the probe was not seen inside */
};

/* What one look at a device showed. */
struct reconcile_look {
	bool has_tracked;
	bool is_quiet; /* tracked_bytes held while outside_bytes was read */
	uint64_t tracked_bytes, tracked_peak_bytes;
	size_t holders; /* processes that tracked_bytes are of */
	/* What the driver told the library under a cap, some time before. It
	 * serves where nothing can be seen from outside. 0: nothing. */
	uint64_t told_overhead_bytes;
	bool has_outside;
	/* By NVML, of the probe alone: of its processes, or of a device that
	 * nobody else uses, less what was used before. */
	uint64_t outside_bytes;
	bool is_bypassed; /* some process was not seen inside */
};

void reconcile_note(struct reconcile *reconcile,
		    const struct reconcile_look *look);

/* The peak; 0: not known. Never below what was seen from outside. */
uint64_t reconcile_peak(const struct reconcile *reconcile);

/*
 * Exact: tracked and overhead are known, the latter from a look when most of
 * the peak had been reached (code is loaded on the way), and nothing was
 * bypassed, nor any process missing. Device-wide: only readings from outside,
 * or tracked bytes without their overhead. None: nothing is known.
 */
enum coverage reconcile_coverage(const struct reconcile *reconcile);

#endif
