/* Steps of the output that may be ahead of the work they count. */
/* SPDX-License-Identifier: MIT */
#include "probes/probe_internal.h"

#include "base/units.h"
#include "probes/process/proctree.h"

/*
 * A program that leaves its computations to other threads, as JAX does, counts
 * steps that are not done yet. Their memory has come when the peak has stood
 * for so long, or so long after the first counter whatever the peak does. Who
 * has one thread alone is not ahead of itself.
 */
#define STANDS_MS 500
#define AHEAD_MS 10000
#define RISE_BYTES MIB

void probe_ahead_note(struct probe *probe)
{
	struct probe_readings *readings = &probe->readings;
	uint64_t bytes =
		readings->host.peak_bytes + probe_gpus_peak(&probe->gpus);

	if (bytes < readings->risen_bytes + RISE_BYTES)
		return;
	readings->risen_bytes = bytes;
	readings->risen_ms = probe_clock_ms(&probe->clock);
}

static bool has_threads(const struct probe *probe)
{
	const struct host_observer *observer = probe->readings.observer;
	size_t count;
	const pid_t *pids = host_observer_pids(observer, &count);
	struct proc_stat stat;

	for (size_t i = 0; i < count; i++)
		if (proctree_stat(pids[i], &stat) == 0 && stat.threads > 1)
			return true;
	return false;
}

bool probe_memory_comes(const struct probe *probe)
{
	int64_t now_ms = probe_clock_ms(&probe->clock);

	return now_ms - probe->output.first_counter_ms < AHEAD_MS &&
	       now_ms - probe->readings.risen_ms < STANDS_MS &&
	       has_threads(probe);
}
