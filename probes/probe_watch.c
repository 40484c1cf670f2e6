/* One look at a running probe: host memory, GPUs, steps, signs of life. */
/* SPDX-License-Identifier: MIT */
#include "probes/probe_internal.h"

#include <stdio.h>
#include <string.h>

#define GPU_EVERY_MS 40
#define LIFE_EVERY_MS 1000
/* Less CPU than this in LIFE_EVERY_MS is a process that waits. */
#define LIFE_CPU_TICKS 5
#define LIFE_GROWTH_BYTES (UINT64_C(1) << 20)
#define UNHOOKED_EVERY_MS 2000
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
	return probe->gpu_used || !probe->spec.may_be_host;
}

uint64_t probe_peak(const struct probe *probe)
{
	return probe_is_cuda(probe) ? probe->gpu_peak_bytes
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

static bool is_of_tree(pid_t pid, const pid_t *tree, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (tree[i] == pid)
			return true;
	return false;
}

/* Bytes that the probe's own processes hold on one GPU, if NVML tells. */
static uint64_t tree_bytes(const struct probe *probe,
			   const struct gpu_listing *listing, bool *seen)
{
	size_t tree_count;
	const pid_t *tree = host_observer_pids(probe->host, &tree_count);
	uint64_t bytes = 0;

	for (int i = 0; i < listing->count; i++) {
		const struct gpu_process *process = &listing->processes[i];

		if (!is_of_tree(process->pid, tree, tree_count))
			continue;
		*seen = true;
		bytes += process->used_bytes;
	}
	return bytes;
}

/*
 * Per process where the driver tells whose bytes they are; else, as in a
 * container that hides pids, by how much the whole device filled up.
 */
static void watch_gpu(struct probe *probe, size_t index)
{
	const struct probe_gpu *gpu = &probe->spec.gpus[index];
	struct gpu_process processes[GPU_PROCESSES_MAX];
	const struct gpu_listing listing = {
		.gpu = index,
		.processes = processes,
		.count = nvml_processes(probe->spec.nvml, gpu->uuid, processes,
					NULL),
	};
	bool seen = false;
	uint64_t total;
	uint64_t free_bytes;
	uint64_t bytes = tree_bytes(probe, &listing, &seen);

	probe_watch_neighbours(probe, &listing);
	if (bytes)
		probe->gpu_bytes_told = true;
	if (!probe->gpu_bytes_told &&
	    nvml_memory(probe->spec.nvml, gpu->uuid, &total, &free_bytes,
			NULL) == 0) {
		uint64_t used = total - free_bytes;

		if (used > gpu->baseline_used_bytes)
			bytes = used - gpu->baseline_used_bytes;
	}
	if (seen || (probe->reading.flags & CHANNEL_CUDA))
		probe->gpu_used = true;
	if (bytes > probe->gpu_peak_bytes)
		probe->gpu_peak_bytes = bytes;
}

static void watch_gpus(struct probe *probe, int64_t now_ms)
{
	if (!probe->spec.nvml || now_ms < probe->gpu_next_ms)
		return;
	probe->gpu_next_ms = now_ms + GPU_EVERY_MS;
	for (size_t i = 0; i < probe->spec.gpu_count; i++)
		watch_gpu(probe, i);
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

/* Interpreters with torch in them that never said hello: -I, -S, env -i. */
static void watch_unhooked(struct probe *probe, int64_t now_ms)
{
	size_t count;
	const pid_t *tree = host_observer_pids(probe->host, &count);
	size_t found = 0;

	if (now_ms < probe->unhooked_next_ms || probe->reading.steps)
		return;
	probe->unhooked_next_ms = now_ms + UNHOOKED_EVERY_MS;
	for (size_t i = 0; i < count; i++)
		if (!channel_has(&probe->channel, (uint32_t)tree[i]) &&
		    maps_libtorch(tree[i]))
			found++;
	if (found > probe->unhooked)
		probe->unhooked = found;
}

static void watch_life(struct probe *probe, int64_t now_ms)
{
	const struct host_reading *host = &probe->host_reading;
	enum steps_source source;
	uint64_t steps = (uint64_t)probe_steps(probe, &source);
	uint64_t bytes = host->peak_bytes + probe->gpu_peak_bytes;

	if (now_ms < probe->life_next_ms)
		return;
	probe->life_next_ms = now_ms + LIFE_EVERY_MS;
	if (host->cpu_ticks >= probe->life_cpu_ticks + LIFE_CPU_TICKS ||
	    host->io_bytes > probe->life_io_bytes ||
	    probe->output_bytes > probe->life_output_bytes ||
	    bytes >= probe->life_bytes + LIFE_GROWTH_BYTES ||
	    steps > probe->life_steps)
		probe->last_life_ms = now_ms;
	probe->life_cpu_ticks = host->cpu_ticks;
	probe->life_io_bytes = host->io_bytes;
	probe->life_output_bytes = probe->output_bytes;
	probe->life_bytes = bytes;
	probe->life_steps = steps;
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
	facts.steps_will_come = (probe->reading.flags & CHANNEL_TORCH) != 0;
	facts.available_bytes = probe->available.available_bytes;
	facts.neighbour_moved = probe->evidence.neighbour_moved[0] != '\0';
	facts.scratch_full = probe->evidence.scratch_full != NULL;
	return facts;
}

void probe_watch(struct probe *probe)
{
	int64_t now_ms = probe_now_ms(probe);
	enum steps_source source;
	int64_t steps;

	host_observer_sample(probe->host, (int64_t)(uv_hrtime() / 1000000),
			     probe->spec.host_limit_bytes,
			     &probe->host_reading);
	probe->reading = channel_read(&probe->channel);
	watch_gpus(probe, now_ms);
	probe_watch_surroundings(probe, now_ms);
	watch_unhooked(probe, now_ms);
	steps = probe_steps(probe, &source);
	step_peaks_note(&probe->peaks, steps, probe_peak(probe), now_ms);
	if (steps <= WARM_UP_STEPS)
		probe->retries_at_warm_up = probe->reading.alloc_retries;
	watch_life(probe, now_ms);
	note_half_time(probe, now_ms);
}
