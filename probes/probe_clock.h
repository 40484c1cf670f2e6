/* Time as a probe lives it: the spans in which it was stopped do not count. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PROBE_CLOCK_H
#define AUTOFIT_PROBES_PROBE_CLOCK_H

#include <stdint.h>
#include <uv.h>

struct probe_clock {
	uint64_t started_ns;
	uint64_t frozen_ns;       /* when it was stopped; 0: it runs */
	uint64_t frozen_total_ns; /* of the stops before that */
};

/* Milliseconds since the start. */
static inline int64_t probe_clock_ms(const struct probe_clock *clock)
{
	uint64_t now = clock->frozen_ns ? clock->frozen_ns : uv_hrtime();

	return (int64_t)((now - clock->started_ns - clock->frozen_total_ns) /
			 1000000);
}

#endif
