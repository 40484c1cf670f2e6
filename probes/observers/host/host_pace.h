/* How often a dear reading may be taken: by what the last one cost. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OBSERVERS_HOST_HOST_PACE_H
#define AUTOFIT_PROBES_OBSERVERS_HOST_HOST_PACE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct host_pace {
	bool was_taken;
	int64_t last_ms;
	int64_t cost_ns;
};

/* May it be taken, when one part in so many of a CPU may go into it? */
static inline bool host_pace_is_due(const struct host_pace *pace,
				    int64_t now_ms, int64_t part)
{
	return !pace->was_taken ||
	       (now_ms - pace->last_ms) * 1000000 >= pace->cost_ns * part;
}

/* Before a reading: what host_pace_taken wants to know after it. */
static inline int64_t host_pace_begin(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline void host_pace_taken(struct host_pace *pace, int64_t now_ms,
				   int64_t began_ns)
{
	pace->was_taken = true;
	pace->last_ms = now_ms;
	pace->cost_ns = host_pace_begin() - began_ns;
}

#endif
