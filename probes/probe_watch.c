/* One look at a running probe: host memory, GPUs, steps, signs of life. */
/* SPDX-License-Identifier: MIT */
#include "probes/probe_internal.h"

#include "base/clock.h"
#include "base/units.h"
#include "probes/probe_ranks.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LIFE_EVERY_MS 1000
/* Less CPU than this in LIFE_EVERY_MS is a process that waits. */
#define LIFE_CPU_TICKS 5
#define LIFE_GROWTH_BYTES (UINT64_C(1) << 20)
#define WARM_UP_STEPS 2
/* NVML has seen nothing of the shortest programs when they are decided. */
#define EXTRA_LOOKS_MAX 10
/* For a rank that is behind, the least: one may never step. */
#define RANK_BEHIND_MS 5000

int probe_watch_open(struct probe *probe, struct error *err)
{
	struct probe_readings *readings = &probe->readings;
	const char *scratch = probe->spec.command.scratch;
	struct error why = ERROR_INIT;
	int result = 0;

	readings->lost_rank = -1;
	readings->steps_left = -1;
	/* Without a reading nothing is claimed of the machine's memory. */
	if (host_available_read(&readings->available, "/proc", NULL) == 0)
		probe->course.limits.available_floor_bytes =
			host_available_floor(&readings->available);
	if (scratch)
		result = scratch_space_check(scratch, &readings->scratch_start,
					     &why);
	/* A file system that cannot be asked may still have room. */
	if (result == -ENOSPC || result == -EROFS)
		return error_set(err, result, "%s", why.message);
	return 0;
}

static int64_t rounds_so_far(const struct probe *probe)
{
	enum steps_source source;
	int64_t steps = probe_steps(probe, &source);

	return trial_rounds_of(steps, probe_passes(probe));
}

/*
 * Processes that autofit's additions did not reach: interpreters with torch in
 * which the hook never started (-I, -S, env -i), and users of the driver that
 * did not load the library.
 */
static void watch_unhooked(struct probe *probe)
{
	struct probe_readings *readings = &probe->readings;
	const struct gpu_tree *tree = &probe->gpus.tree;
	size_t found = 0;

	for (size_t i = 0; i < tree->count; i++) {
		pid_t pid = tree->pids[i];

		/* A zygote's copy has torch before its hook says hello. */
		if (!readings->python.steps && !probe->spec.command.zygote &&
		    channel_is_bypassed(&readings->channel, pid))
			found++;
		if (probe->spec.devices.has_preload &&
		    !preload_process(&probe->gpus.preload, pid) &&
		    preload_presence("/proc", pid) == PRELOAD_BYPASSED)
			probe->gpus.is_bypassed = true;
	}
	if (found > readings->unhooked)
		readings->unhooked = found;
	/* A probe may end by this very look: its peak is not exact. */
	if (probe->gpus.is_bypassed)
		probe_gpus_read(&probe->gpus);
}

static void watch_life(struct probe *probe)
{
	struct probe_readings *readings = &probe->readings;
	const struct host_reading *host = &readings->host;
	const struct probe_life last = readings->life;
	struct probe_life *now = &readings->life;
	enum steps_source source;

	*now = (struct probe_life){
		.cpu_ticks = host->cpu_ticks,
		.io_bytes = host->io_bytes,
		.output_bytes = probe->output.bytes,
		.memory_bytes =
			host->peak_bytes + probe_gpus_peak(&probe->gpus),
		.steps = (uint64_t)probe_steps(probe, &source),
		.launches = probe->gpus.preload.launches,
	};
	if (now->cpu_ticks >= last.cpu_ticks + LIFE_CPU_TICKS ||
	    now->io_bytes > last.io_bytes ||
	    now->output_bytes > last.output_bytes ||
	    now->memory_bytes >= last.memory_bytes + LIFE_GROWTH_BYTES ||
	    now->steps > last.steps || now->launches > last.launches)
		readings->last_life_ms = probe_clock_ms(&probe->clock);
}

/* What the observer has just read into own. */
static void note_host_reading(struct probe *probe)
{
	struct probe_readings *readings = &probe->readings;

	readings->own.current_bytes += probe->spec.launcher_bytes;
	readings->own.peak_bytes += probe->spec.launcher_bytes;
	node_ranks_join(&readings->ranks, &readings->own, &readings->host);
	probe_ahead_note(probe);
}

static int64_t look_ms(void)
{
	return (int64_t)(uv_hrtime() / 1000000);
}

static void watch_host(struct probe *probe)
{
	struct probe_readings *readings = &probe->readings;
	struct gpu_tree *tree = &probe->gpus.tree;

	host_observer_sample(readings->observer, look_ms(),
			     probe->spec.limits.host_limit_bytes,
			     &readings->own);
	note_host_reading(probe);
	tree->pids = host_observer_pids(readings->observer, &tree->count);
	if (readings->python.stepping == 1)
		readings->launcher_bytes = bytes_max(
			readings->launcher_bytes,
			host_observer_launchers(readings->observer,
						readings->python.stepper));
}

static void watch_nodes(struct probe *probe)
{
	struct probe_readings *readings = &probe->readings;

	node_ranks_look(&readings->ranks, &readings->channel);
}

/* As long again as the first of them took. */
static bool rank_will_come(struct probe_readings *readings, int64_t now_ms)
{
	if (!readings->python.is_rank_behind)
		return false;
	if (!readings->rank_behind_ms)
		readings->rank_behind_ms = now_ms;
	return now_ms - readings->rank_behind_ms <=
	       (readings->rank_behind_ms > RANK_BEHIND_MS
			? readings->rank_behind_ms
			: RANK_BEHIND_MS);
}

static void watch_python(struct probe *probe)
{
	struct probe_readings *readings = &probe->readings;

	readings->python = channel_read(&readings->channel);
	readings->awaits_rank =
		rank_will_come(readings, probe_clock_ms(&probe->clock));
	if (readings->python.phase > readings->furthest_phase)
		readings->furthest_phase = readings->python.phase;
	if (readings->python.phase == PHASE_EVAL && readings->python.steps)
		readings->has_evaluated = true;
}

static void watch_preload(struct probe *probe)
{
	probe_gpus_read(&probe->gpus);
}

static void watch_gpus(struct probe *probe)
{
	probe_gpus_look(&probe->gpus);
	if (probe->spec.devices.nvml &&
	    (probe->readings.python.flags & CHANNEL_CUDA))
		probe->gpus.is_used = true;
}

static void watch_available(struct probe *probe)
{
	struct host_available *available = &probe->readings.available;
	uint64_t elsewhere = node_ranks_available(&probe->readings.ranks);

	/* What was read last stands when this one fails. */
	(void)host_available_read(available, "/proc", NULL);
	if (elsewhere)
		available->available_bytes =
			bytes_min(available->available_bytes, elsewhere);
}

static void watch_scratch(struct probe *probe)
{
	const char *scratch = probe->spec.command.scratch;

	if (scratch &&
	    scratch_space_is_full(scratch, &probe->readings.scratch_start,
				  probe->spec.scratch_reserve_bytes))
		probe->readings.scratch_full = scratch;
}

static void watch_leaving(struct probe *probe)
{
	const struct shims *shims = probe->spec.shims;
	const struct gpu_tree *tree = &probe->gpus.tree;
	bool *would_leave = &probe->readings.would_leave;

	if (!shims)
		return;
	*would_leave = shims_look(shims, 0);
	for (size_t i = 0; i < tree->count && !*would_leave; i++)
		*would_leave = shims_look(shims, tree->pids[i]);
}

static void watch_ranks(struct probe *probe)
{
	struct probe_readings *readings = &probe->readings;
	struct allocation_findings findings;

	if (readings->lost_rank >= 0)
		return;
	findings = allocations_judge(&probe->gpus.preload);
	readings->lost_rank =
		readings->ranks.folder
			? node_ranks_lost(&readings->ranks)
			: probe_ranks_lost(&readings->channel,
					   probe->spec.command.scratch,
					   &findings);
	readings->rank_lost_ms = probe_clock_ms(&probe->clock);
}

/*
 * The observers, in the order in which they look: steps are counted before the
 * memory is read that they took. The driver API's child, which lists the
 * devices (observers/gpu/cuda.c), ran before any probe.
 */
static const struct observer {
	int64_t every_ms; /* 0: at every tick */
	void (*look)(struct probe *probe);
} observers[] = {
	{ 100, watch_nodes },
	{ 0, watch_python },
	{ 0, watch_host },
	{ 0, watch_leaving },
	{ 0, watch_preload },
	{ 40, watch_gpus }, /* NVML */
	{ 200, watch_available },
	{ 500, watch_ranks },
	{ 1000, watch_scratch },
	{ 2000, watch_unhooked },
	{ LIFE_EVERY_MS, watch_life },
};

static_assert(sizeof(observers) / sizeof(*observers) <= PROBE_OBSERVERS_MAX,
	      "an observer without a time of its own");

/* When the last of the steps was done, or its line was read; else now. */
static int64_t last_step_us(const struct probe *probe, enum steps_source source)
{
	uint64_t ns = source == STEPS_HOOK ? probe->readings.python.last_step_ns
		      : source == STEPS_LOG ? probe->output.last_counter_ns
					    : uv_hrtime();

	return (int64_t)(ns / 1000);
}

void probe_watch(struct probe *probe)
{
	struct probe_readings *readings = &probe->readings;
	int64_t now_ms = probe_clock_ms(&probe->clock);
	uint64_t peak;
	enum steps_source source;
	int64_t steps, rounds;

	for (size_t i = 0; i < sizeof(observers) / sizeof(*observers); i++) {
		if (now_ms < readings->next_ms[i])
			continue;
		readings->next_ms[i] = now_ms + observers[i].every_ms;
		observers[i].look(probe);
	}
	steps = probe_steps(probe, &source);
	rounds = rounds_so_far(probe);
	peak = probe_peak(probe);
	step_peaks_note(&readings->peaks, rounds, peak, now_ms);
	readings->times.are_heard = source != STEPS_HOOK;
	step_times_note(&readings->times, steps, last_step_us(probe, source));
	step_times_note(&readings->pass_times,
			(int64_t)readings->python.later_passes,
			(int64_t)(readings->python.last_pass_ns / 1000));
	if (now_ms / 1000 < HALF_TIME_SLOTS)
		readings->half_time[now_ms / 1000] = peak;
	/* What came since the last look may have come in its first step. */
	if (!readings->warm_steps)
		readings->warm_retries = probe_retries(probe);
	if (rounds <= WARM_UP_STEPS)
		readings->warm_steps = 0;
	else if (!readings->warm_steps)
		readings->warm_steps = rounds;
}

static bool reports_are_owed(struct probe *probe)
{
	struct probe_readings *readings = &probe->readings;

	if (!readings->ranks.folder)
		return false;
	if (!readings->ranks_asked_ms)
		readings->ranks_asked_ms = clock_ms() + 1;
	return !node_ranks_have_told(&readings->ranks,
				     readings->ranks_asked_ms);
}

/* Who went on without what was refused (a helper that ended) ends steps. */
static bool refusal_is_open(struct probe *probe)
{
	const struct preload_reading *reading = &probe->gpus.preload;
	struct open_refusal *open = &probe->readings.open_refusal;
	uint64_t refusals = reading->failed_device + reading->failed_host;
	int64_t rounds = rounds_so_far(probe);

	if (!allocations_judge(reading).is_open)
		return false;
	if (refusals != open->refusals)
		*open = (struct open_refusal){ refusals, rounds };
	return open->rounds == rounds;
}

bool probe_watch_awaits(struct probe *probe)
{
	return reports_are_owed(probe) || refusal_is_open(probe);
}

/* What is decided rests on the peak, which may become exact so. */
static bool peak_wants_a_look(struct probe *probe)
{
	struct probe_gpus *gpus = &probe->gpus;

	if (!probe_is_cuda(probe) || !probe->spec.devices.has_preload)
		return false;
	/* This was looked for now and then. */
	if (!gpus->extra_looks)
		watch_unhooked(probe);
	if (gpus->is_bypassed || gpus->extra_looks >= EXTRA_LOOKS_MAX ||
	    probe_gpus_coverage(gpus) == COVERAGE_EXACT)
		return false;
	gpus->extra_looks++;
	watch_gpus(probe);
	return probe_gpus_coverage(gpus) != COVERAGE_EXACT;
}

/* The look at the GPUs may be the one that finds a refusal. */
bool probe_watch_more(struct probe *probe)
{
	return reports_are_owed(probe) || peak_wants_a_look(probe) ||
	       refusal_is_open(probe);
}

bool probe_watch_catches_up(struct probe *probe)
{
	struct probe_readings *readings = &probe->readings;

	if (!host_observer_catch_up(readings->observer, look_ms(),
				    &readings->own))
		return false;
	note_host_reading(probe);
	return true;
}

void probe_watch_command_ended(struct probe *probe, uint64_t max_resident_bytes)
{
	struct probe_readings *readings = &probe->readings;

	host_observer_command_ended(readings->observer, max_resident_bytes,
				    &readings->own);
	note_host_reading(probe);
}

void probe_watch_end(struct probe *probe)
{
	probe->readings.awaits_rank = false;
	if (probe->evidence.end.wait_status == 0)
		return;
	probe_gpus_ask_neighbours(&probe->gpus);
	watch_scratch(probe);
}

struct lifecycle_facts probe_watch_facts(const struct probe *probe)
{
	const struct probe_readings *readings = &probe->readings;
	int64_t now_ms = probe_clock_ms(&probe->clock);
	int64_t half = now_ms / 2000;

	if (half >= HALF_TIME_SLOTS)
		half = HALF_TIME_SLOTS - 1;
	return (struct lifecycle_facts){
		.now_ms = now_ms,
		.last_life_ms = readings->last_life_ms,
		.memory_line_ms = probe->output.memory_line_ms,
		.peak_bytes = probe_peak(probe),
		.host_peak_bytes = readings->host.peak_bytes,
		.half_time_peak_bytes = readings->half_time[half],
		.available_bytes = readings->available.available_bytes,
		.steps = rounds_so_far(probe),
		.retried_steps =
			readings->warm_retries ? readings->warm_steps : 0,
		.steps_will_come =
			(readings->python.flags & CHANNEL_TORCH) != 0,
		.rank_lost_for_ms =
			readings->lost_rank < 0
				? 0
				: 1 + now_ms - readings->rank_lost_ms,
		.neighbour_moved = probe->gpus.neighbour_moved[0] != '\0',
		.scratch_full = readings->scratch_full != NULL,
	};
}
