/* One look at a running probe: host memory, GPUs, steps, signs of life. */
/* SPDX-License-Identifier: MIT */
#include "probes/probe_internal.h"

#include <stdio.h>
#include <string.h>

#define LIFE_EVERY_MS 1000
/* Less CPU than this in LIFE_EVERY_MS is a process that waits. */
#define LIFE_CPU_TICKS 5
#define LIFE_GROWTH_BYTES (UINT64_C(1) << 20)
#define WARM_UP_STEPS 2

int64_t probe_now_ms(const struct probe *probe)
{
	uint64_t now = probe->frozen_ns ? probe->frozen_ns : uv_hrtime();

	return (int64_t)((now - probe->started_ns - probe->frozen_total_ns) /
			 1000000);
}

bool probe_is_cuda(const struct probe *probe)
{
	if (probe->spec.device == PROBE_HOST)
		return false;
	return probe->gpu_used || probe->gpu_filled || !probe->spec.may_be_host;
}

uint64_t probe_peak(const struct probe *probe)
{
	return probe_is_cuda(probe) ? probe_gpu_peak(probe)
				    : probe->host_reading.peak_bytes;
}

/*
 * A hook that is in place will count; what the output counts until then may be
 * data being prepared. A program that only loads torch, and trains with
 * something else, is believed after a while.
 */
static int64_t log_steps(const struct probe *probe)
{
	const struct step_count *out = &probe->streams[0].steps;
	const struct step_count *err = &probe->streams[1].steps;

	if ((probe->reading.flags & CHANNEL_TORCH) &&
	    probe_now_ms(probe) - probe->log_since_ms < TIME_ONLY_MS)
		return 0;
	return out->steps > err->steps ? out->steps : err->steps;
}

int64_t probe_steps(const struct probe *probe, enum steps_source *source)
{
	int64_t steps;

	if (probe->reading.steps) {
		*source = STEPS_HOOK;
		return (int64_t)probe->reading.steps;
	}
	steps = log_steps(probe);
	*source = steps ? STEPS_LOG : STEPS_NONE;
	return steps;
}

static bool maps_libtorch(pid_t pid)
{
	char path[32];
	char line[512];
	FILE *file;
	bool found = false;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file))
		found = strstr(line, "/libtorch") != NULL;
	(void)fclose(file);
	return found;
}

/*
 * Processes that a way in was closed to: interpreters with torch that never
 * said hello (-I, -S, env -i), and users of the driver without the library.
 */
void probe_watch_unhooked(struct probe *probe)
{
	size_t count;
	const pid_t *tree = host_observer_pids(probe->host, &count);
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		if (!probe->reading.steps &&
		    !channel_has(&probe->channel, (uint32_t)tree[i]) &&
		    maps_libtorch(tree[i]))
			found++;
		if (probe->spec.has_preload &&
		    !preload_process(&probe->preload, tree[i]) &&
		    preload_presence("/proc", tree[i]) == PRELOAD_BYPASSED)
			probe->gpu_bypassed = true;
	}
	if (found > probe->unhooked)
		probe->unhooked = found;
}

static void watch_life(struct probe *probe)
{
	const struct host_reading *host = &probe->host_reading;
	enum steps_source source;
	uint64_t steps = (uint64_t)probe_steps(probe, &source);
	uint64_t bytes = host->peak_bytes + probe_gpu_peak(probe);

	if (host->cpu_ticks >= probe->life_cpu_ticks + LIFE_CPU_TICKS ||
	    host->io_bytes > probe->life_io_bytes ||
	    probe->output_bytes > probe->life_output_bytes ||
	    bytes >= probe->life_bytes + LIFE_GROWTH_BYTES ||
	    probe->preload.launches > probe->life_launches ||
	    steps > probe->life_steps)
		probe->last_life_ms = probe_now_ms(probe);
	probe->life_cpu_ticks = host->cpu_ticks;
	probe->life_io_bytes = host->io_bytes;
	probe->life_output_bytes = probe->output_bytes;
	probe->life_bytes = bytes;
	probe->life_steps = steps;
	probe->life_launches = probe->preload.launches;
}

/* The peak at every second, the older half thinned out when it is full. */
static void note_half_time(struct probe *probe, int64_t now_ms)
{
	int64_t second = now_ms / 1000;

	if (second < HALF_TIME_SLOTS)
		probe->half_time[second] = probe_peak(probe);
}

struct lifecycle_facts probe_facts(const struct probe *probe)
{
	struct lifecycle_facts facts = { .now_ms = probe_now_ms(probe) };
	int64_t half = facts.now_ms / 2000;
	enum steps_source source;

	facts.last_life_ms = probe->last_life_ms;
	facts.memory_line_ms = probe->memory_line_ms;
	facts.peak_bytes = probe_peak(probe);
	facts.host_peak_bytes = probe->host_reading.peak_bytes;
	if (half >= HALF_TIME_SLOTS)
		half = HALF_TIME_SLOTS - 1;
	facts.half_time_peak_bytes = probe->half_time[half];
	facts.steps = probe_steps(probe, &source);
	if (probe->retries_at_warm_up)
		facts.retried_steps = probe->warm_steps;
	facts.steps_will_come = (probe->reading.flags & CHANNEL_TORCH) != 0;
	facts.available_bytes = probe->available.available_bytes;
	facts.neighbour_moved =
		probe->evidence.outside.neighbour_moved[0] != '\0';
	facts.scratch_full = probe->evidence.outside.scratch_full != NULL;
	return facts;
}

static void watch_host(struct probe *probe)
{
	host_observer_sample(probe->host, (int64_t)(uv_hrtime() / 1000000),
			     probe->spec.host_limit_bytes,
			     &probe->host_reading);
}

static void watch_python(struct probe *probe)
{
	probe->reading = channel_read(&probe->channel);
	if (probe->reading.phase > probe->furthest_phase)
		probe->furthest_phase = probe->reading.phase;
}

/*
 * The observers, in the order in which they look. The driver API's child, which
 * lists the devices (observers/cuda.c), ran before any probe.
 */
static const struct observer {
	int64_t every_ms; /* 0: at every tick */
	void (*look)(struct probe *probe);
} observers[] = {
	{ 0, watch_host },
	{ 0, watch_python },
	{ 0, probe_watch_preload },
	{ 40, probe_watch_gpus }, /* NVML */
	{ 200, probe_watch_available },
	{ 1000, probe_watch_scratch },
	{ 2000, probe_watch_unhooked },
	{ LIFE_EVERY_MS, watch_life },
};

_Static_assert(sizeof(observers) / sizeof(*observers) <= PROBE_OBSERVERS_MAX,
	       "an observer without a time of its own");

uint64_t probe_retries(const struct probe *probe)
{
	uint64_t python = probe->reading.alloc_retries;
	uint64_t driver = probe->preload.recovered;

	return python > driver ? python : driver;
}

void probe_watch(struct probe *probe)
{
	int64_t now_ms = probe_now_ms(probe);
	enum steps_source source;
	int64_t steps;

	for (size_t i = 0; i < sizeof(observers) / sizeof(*observers); i++) {
		if (now_ms < probe->next_ms[i])
			continue;
		probe->next_ms[i] = now_ms + observers[i].every_ms;
		observers[i].look(probe);
	}
	steps = probe_steps(probe, &source);
	step_peaks_note(&probe->peaks, steps, probe_peak(probe), now_ms);
	/* What came since the last look may have come in its first step. */
	if (!probe->warm_steps)
		probe->retries_at_warm_up = probe_retries(probe);
	if (steps <= WARM_UP_STEPS)
		probe->warm_steps = 0;
	else if (!probe->warm_steps)
		probe->warm_steps = steps;
	note_half_time(probe, now_ms);
}
