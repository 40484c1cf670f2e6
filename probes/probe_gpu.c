/* What a probe does on its GPUs: exact from inside, checked from outside. */
/* SPDX-License-Identifier: MIT */
#include "probes/probe_internal.h"

#include "base/units.h"

#include <string.h>

/* On a device that the tree does not use: this much more is somebody's. */
#define ELSEWHERE_BYTES (128 * MIB)

/* Of the shortest programs NVML has seen nothing when they are decided. */
#define LOOKS_AGAIN_MAX 10

/* What is seen of one GPU from outside. */
struct outside {
	bool is_known;
	bool is_listed; /* a process of the tree is */
	uint64_t bytes;
};

int probe_open_gpus(struct probe *probe, struct error *err)
{
	const struct probe_spec *spec = &probe->spec;
	struct preload_target targets[GPU_MAX];

	if (!spec->has_preload)
		return 0;
	for (size_t i = 0; i < spec->gpu_count; i++)
		targets[i] = (struct preload_target){
			.uuid = spec->gpus[i].uuid,
			.cap_bytes = spec->cap_bytes,
			.baseline_bytes = spec->gpus[i].baseline_used_bytes,
		};
	return preload_page_write(probe->channel.fd, targets, spec->gpu_count,
				  err);
}

static bool is_of_tree(pid_t pid, const pid_t *tree, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (tree[i] == pid)
			return true;
	return false;
}

/* It has a context, and the library saw no call of it. */
static bool is_bypassing(struct probe *probe, pid_t pid)
{
	if (!probe->spec.has_preload)
		return true;
	if (preload_process(&probe->preload, pid))
		return false;
	/* It may have come since the page was read. */
	preload_read(probe->channel.fd, &probe->preload);
	return !preload_process(&probe->preload, pid);
}

/* Bytes that the probe's own processes hold on one GPU, if NVML tells. */
static uint64_t tree_bytes(struct probe *probe,
			   const struct gpu_listing *listing,
			   struct outside *outside)
{
	size_t tree_count;
	const pid_t *tree = host_observer_pids(probe->host, &tree_count);
	uint64_t bytes = 0;

	for (int i = 0; i < listing->count; i++) {
		const struct gpu_process *process = &listing->processes[i];

		if (!is_of_tree(process->pid, tree, tree_count))
			continue;
		outside->is_listed = true;
		bytes += process->used_bytes;
		probe->gpu_bypassed = probe->gpu_bypassed ||
				      is_bypassing(probe, process->pid);
	}
	return bytes;
}

/*
 * Per process where the driver tells whose bytes they are; else, as in a
 * container that hides pids, by how much the whole device filled up.
 */
static void look_outside(struct probe *probe, size_t index,
			 struct outside *outside)
{
	const struct probe_gpu *gpu = &probe->spec.gpus[index];
	struct gpu_process processes[GPU_PROCESSES_MAX];
	const struct gpu_listing listing = {
		.gpu = index,
		.processes = processes,
		.count = nvml_processes(probe->spec.nvml, gpu->uuid, processes,
					NULL),
	};
	uint64_t total = 0;
	uint64_t free_bytes = 0;

	outside->bytes = tree_bytes(probe, &listing, outside);
	probe_watch_neighbours(probe, &listing);
	if (outside->bytes)
		probe->gpu_bytes_told = true;
	outside->is_known = probe->gpu_bytes_told;
	if (nvml_memory(probe->spec.nvml, gpu->uuid, &total, &free_bytes,
			NULL) < 0 ||
	    total - free_bytes <= gpu->baseline_used_bytes)
		return;
	if (!probe->gpu_bytes_told) {
		outside->bytes = total - free_bytes - gpu->baseline_used_bytes;
		outside->is_known = true;
	}
	if (total - free_bytes - gpu->baseline_used_bytes > ELSEWHERE_BYTES)
		probe->gpu_filled = true;
}

/* Nothing moved in the page while the world outside was looked at. */
static bool is_quiet(const struct preload_reading *before,
		     const struct preload_reading *after)
{
	return before->is_quiet && after->is_quiet &&
	       before->allocations == after->allocations &&
	       before->frees == after->frees;
}

static void note(struct probe *probe, size_t index,
		 const struct outside *outside, bool quiet)
{
	const struct preload_reading *reading = &probe->preload;
	const struct preload_device_reading *device =
		preload_device(reading, probe->spec.gpus[index].uuid);
	struct reconcile_look look = {
		.has_tracked = probe->spec.has_preload && reading->is_there,
		.is_quiet = quiet,
		.has_outside = outside->is_known,
		.outside_bytes = outside->bytes,
		.is_bypassed = probe->gpu_bypassed || reading->is_crowded,
	};

	if (device) {
		look.tracked_bytes = device->current_bytes;
		look.tracked_peak_bytes = device->peak_bytes;
	}
	/* Under a cap the library asks the driver what is used in all: by
	 * others as well, where NVML cannot tell them apart. */
	if (device && !look.has_outside && !probe->gpu_bytes_told &&
	    device->overhead_bytes) {
		look.has_outside = true;
		look.outside_bytes =
			device->current_bytes + device->overhead_bytes;
		look.told_overhead_bytes = device->overhead_bytes;
	}
	reconcile_note(&probe->reconcile[index], &look);
}

static bool made_a_context(const struct preload_reading *reading)
{
	for (size_t i = 0; i < reading->process_count; i++)
		if (reading->processes[i].flags & PRELOAD_CONTEXT)
			return true;
	return false;
}

void probe_watch_preload(struct probe *probe)
{
	const struct outside nothing = { .is_known = false };

	if (!probe->spec.has_preload)
		return;
	preload_read(probe->channel.fd, &probe->preload);
	/* Without room for a context it used the device all the same. */
	if (made_a_context(&probe->preload) || probe->preload.failed_device)
		probe->gpu_used = true;
	for (size_t i = 0; i < probe->spec.gpu_count; i++)
		note(probe, i, &nothing, false);
}

void probe_watch_gpus(struct probe *probe)
{
	struct outside outside[GPU_MAX] = { { .is_known = false } };
	struct preload_reading *before = &probe->preload_before;
	bool quiet;

	if (!probe->spec.nvml)
		return;
	*before = probe->preload;
	for (size_t i = 0; i < probe->spec.gpu_count; i++) {
		look_outside(probe, i, &outside[i]);
		if (outside[i].is_listed)
			probe->gpu_used = true;
	}
	if (probe->spec.has_preload)
		preload_read(probe->channel.fd, &probe->preload);
	quiet = is_quiet(before, &probe->preload);
	for (size_t i = 0; i < probe->spec.gpu_count; i++)
		note(probe, i, &outside[i], quiet);
	if (probe->reading.flags & CHANNEL_CUDA)
		probe->gpu_used = true;
}

/* Its own allocator took all there is: what is used of it nobody sees. */
static bool is_a_pool(const struct probe *probe)
{
	for (size_t i = 0; i < probe->preload.device_count; i++)
		if (allocations_are_a_pool(&probe->preload.devices[i]))
			return true;
	return false;
}

uint64_t probe_gpu_peak(const struct probe *probe)
{
	uint64_t peak = 0;

	if (is_a_pool(probe))
		return 0;
	for (size_t i = 0; i < probe->spec.gpu_count; i++) {
		uint64_t bytes = reconcile_peak(&probe->reconcile[i]);

		if (bytes > peak)
			peak = bytes;
	}
	return peak;
}

/* That of the GPU which was seen least exactly, of those that were used. */
enum coverage probe_gpu_coverage(const struct probe *probe)
{
	enum coverage least = COVERAGE_EXACT;
	bool is_used = false;

	for (size_t i = 0; i < probe->spec.gpu_count; i++) {
		enum coverage coverage;

		if (!reconcile_peak(&probe->reconcile[i]))
			continue;
		is_used = true;
		coverage = reconcile_coverage(&probe->reconcile[i]);
		if (coverage < least)
			least = coverage;
	}
	return is_used ? least : COVERAGE_NONE;
}

bool probe_looks_again(struct probe *probe)
{
	if (!probe_is_cuda(probe) || !probe->spec.has_preload)
		return false;
	/* What is decided rests on it, and was looked for now and then. */
	if (!probe->gpu_looks_again)
		probe_watch_unhooked(probe);
	if (probe->gpu_bypassed || probe->gpu_looks_again >= LOOKS_AGAIN_MAX ||
	    probe_gpu_coverage(probe) == COVERAGE_EXACT)
		return false;
	probe->gpu_looks_again++;
	probe_watch_gpus(probe);
	return probe_gpu_coverage(probe) != COVERAGE_EXACT;
}

static uint64_t managed_peak(const struct preload_reading *reading)
{
	uint64_t peak = 0;

	for (size_t i = 0; i < reading->device_count; i++)
		if (reading->devices[i].managed_peak_bytes > peak)
			peak = reading->devices[i].managed_peak_bytes;
	return peak;
}

void probe_gpu_evidence(struct probe *probe)
{
	struct evidence *evidence = &probe->evidence;

	/* What its end takes is no part of it. */
	if (evidence->end.stopped == STOP_NONE)
		probe_watch_preload(probe);
	evidence->gpu.device_used = probe->gpu_used;
	evidence->gpu.used_elsewhere = probe->gpu_filled && !probe->gpu_used;
	evidence->gpu.allocations = allocations_judge(&probe->preload);
	evidence->gpu.managed_peak_bytes = managed_peak(&probe->preload);
	evidence->gpu.is_pool = is_a_pool(probe);
}
