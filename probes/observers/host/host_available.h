/* Memory of the whole machine that is still to be had. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OBSERVERS_HOST_HOST_AVAILABLE_H
#define AUTOFIT_PROBES_OBSERVERS_HOST_HOST_AVAILABLE_H

#include "base/error.h"

#include <stdint.h>

struct host_available {
	uint64_t total_bytes;     /* MemTotal */
	uint64_t available_bytes; /* MemAvailable */
};

/* Of <proc>/meminfo; proc is "/proc" but in tests. -EINVAL: not in it. */
int host_available_read(struct host_available *memory, const char *proc,
			struct error *err);

/*
 * With less available a probe that is under its own limit is to end: the next
 * to be killed may be anybody. 2% of all memory, at least 64 MiB, but no more
 * than a probe at its limit leaves by itself: 2.5% of what there was at start.
 */
uint64_t host_available_floor(const struct host_available *start);

#endif
