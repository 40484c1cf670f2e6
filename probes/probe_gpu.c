/* The GPUs of a probe: exact from inside, checked from outside. */
/* SPDX-License-Identifier: MIT */
#include "probes/probe_gpu.h"

#include "base/alloc.h"
#include "base/units.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static_assert(NEIGHBOUR_TEXT_MAX == GPU_NEIGHBOUR_TEXT_MAX,
	      "a text that is cut on its way into the evidence");

/* On a device that the tree does not use: this much more is somebody's. */
#define ELSEWHERE_BYTES (128 * MIB)

/* What is seen of one GPU from outside. */
struct outside {
	bool is_known;
	bool is_listed; /* a process of the tree is */
	uint64_t bytes;
};

static struct gpu_listing list_processes(const struct probe_gpus *gpus,
					 size_t gpu)
{
	const struct gpu_look *look =
		nvml_seen(gpus->spec->nvml, gpus->spec->gpus[gpu].uuid);

	assert(gpu < gpus->spec->count);
	return (struct gpu_listing){
		.gpu = gpu,
		.processes = look ? look->processes : NULL,
		.count = look ? look->process_count : -1,
	};
}

/* How many GPUs NVML tells of now. */
static size_t look_at_watched(const struct probe_gpus *gpus)
{
	if (!gpus->spec->nvml || nvml_look(gpus->spec->nvml, NULL) < 0)
		return 0;
	return gpus->spec->count;
}

bool probe_gpu_used(struct nvml *nvml, const struct probe_gpu *gpu,
		    uint64_t *bytes)
{
	const struct gpu_look *look = nvml_seen(nvml, gpu->uuid);

	if (!look || !look->has_memory)
		return false;
	*bytes = gpu->total_bytes > look->memory.free_bytes
			 ? gpu->total_bytes - look->memory.free_bytes
			 : 0;
	return true;
}

int probe_gpus_open(struct probe_gpus *gpus, const struct probe_spec *spec,
		    int channel_fd, struct error *err)
{
	const struct probe_devices *devices = &spec->devices;
	struct preload_target targets[GPU_MAX];
	size_t watched;

	assert(devices->count <= GPU_MAX);
	gpus->spec = devices;
	gpus->channel_fd = channel_fd;
	gpus->mark = xasprintf("AUTOFIT_PROBE=%s", spec->id);
	gpus->tree.mark = gpus->mark;
	gpus->neighbours.shared = devices->shared;
	watched = devices->nvml && nvml_look_anyway(devices->nvml, NULL) == 0
			  ? devices->count
			  : 0;
	for (size_t i = 0; i < watched; i++) {
		struct gpu_listing listing = list_processes(gpus, i);

		gpu_neighbours_begin(&gpus->neighbours, &listing);
	}
	if (!devices->has_preload)
		return 0;
	for (size_t i = 0; i < devices->count; i++)
		targets[i] = (struct preload_target){
			.uuid = devices->gpus[i].uuid,
			.cap_bytes = devices->cap_bytes,
			.baseline_bytes = devices->gpus[i].baseline_used_bytes,
		};
	return preload_page_write(channel_fd, targets, devices->count, err);
}

void probe_gpus_release(struct probe_gpus *gpus)
{
	gpu_neighbours_release(&gpus->neighbours);
	free(gpus->mark);
}

static void look_at_neighbours(struct probe_gpus *gpus,
			       const struct gpu_listing *listing)
{
	char text[GPU_NEIGHBOUR_TEXT_MAX];

	/* The first that came is the one that is named. */
	if (gpu_neighbours_look(&gpus->neighbours, listing, &gpus->tree,
				text) &&
	    !gpus->neighbour_moved[0])
		memcpy(gpus->neighbour_moved, text, sizeof(text));
}

void probe_gpus_ask_neighbours(struct probe_gpus *gpus)
{
	size_t watched = look_at_watched(gpus);

	for (size_t i = 0; i < watched; i++) {
		struct gpu_listing listing = list_processes(gpus, i);

		look_at_neighbours(gpus, &listing);
	}
}

static bool is_of_tree(const struct gpu_tree *tree, pid_t pid)
{
	for (size_t i = 0; i < tree->count; i++)
		if (tree->pids[i] == pid)
			return true;
	return false;
}

/* It has a context, and the library saw no call of it. */
static bool is_bypassing(struct probe_gpus *gpus, pid_t pid)
{
	if (!gpus->spec->has_preload)
		return true;
	if (preload_process(&gpus->preload, pid))
		return false;
	/* It may have come since the page was read. */
	preload_read(gpus->channel_fd, &gpus->preload);
	return !preload_process(&gpus->preload, pid);
}

/* Bytes that the probe's own processes hold on one GPU, if NVML tells. */
static uint64_t tree_bytes(struct probe_gpus *gpus,
			   const struct gpu_listing *listing,
			   struct outside *outside)
{
	uint64_t bytes = 0;

	for (int i = 0; i < listing->count; i++) {
		const struct gpu_process *process = &listing->processes[i];

		if (!is_of_tree(&gpus->tree, process->pid))
			continue;
		outside->is_listed = true;
		bytes += process->used_bytes;
		gpus->is_bypassed =
			gpus->is_bypassed || is_bypassing(gpus, process->pid);
	}
	return bytes;
}

/*
 * Per process where the driver tells whose bytes they are; else, as in a
 * container that hides pids, by how much the whole device filled up.
 */
static void look_outside(struct probe_gpus *gpus, size_t index,
			 struct outside *outside)
{
	const struct probe_gpu *gpu = &gpus->spec->gpus[index];
	const struct gpu_listing listing = list_processes(gpus, index);
	uint64_t used = 0;
	uint64_t filled;

	outside->bytes = tree_bytes(gpus, &listing, outside);
	look_at_neighbours(gpus, &listing);
	if (outside->bytes)
		gpus->bytes_are_told = true;
	outside->is_known = gpus->bytes_are_told;
	if (!probe_gpu_used(gpus->spec->nvml, gpu, &used) ||
	    used <= gpu->baseline_used_bytes)
		return;
	filled = used - gpu->baseline_used_bytes;
	if (!gpus->bytes_are_told)
		*outside = (struct outside){ true, outside->is_listed, filled };
	if (filled > ELSEWHERE_BYTES)
		gpus->is_filled = true;
}

static void note_device(struct probe_gpus *gpus, size_t index,
			const struct outside *outside, bool quiet)
{
	const struct preload_reading *reading = &gpus->preload;
	const struct preload_device_reading *device =
		preload_device(reading, gpus->spec->gpus[index].uuid);
	struct reconcile_look look = {
		.has_tracked = gpus->spec->has_preload && reading->is_there,
		.is_quiet = quiet,
		.has_outside = outside->is_known,
		.outside_bytes = outside->bytes,
		.is_bypassed = gpus->is_bypassed || reading->is_crowded,
	};

	if (outside->is_listed || (device && device->peak_bytes))
		gpus->used_places |= UINT64_C(1) << index;
	if (device) {
		look.tracked_bytes = device->current_bytes;
		look.tracked_peak_bytes = device->peak_bytes;
		look.holders = device->holders;
	}
	/* Under a cap the library asks the driver what is used in all: by
	 * others as well, where NVML cannot tell them apart. */
	if (device && !look.has_outside && !gpus->bytes_are_told &&
	    device->overhead_bytes) {
		look.has_outside = true;
		look.outside_bytes =
			device->current_bytes + device->overhead_bytes;
		look.told_overhead_bytes = device->overhead_bytes;
	}
	assert(index < gpus->spec->count && index < 64);
	reconcile_note(&gpus->reconcile[index], &look);
}

static bool made_a_context(const struct preload_reading *reading)
{
	for (size_t i = 0; i < reading->process_count; i++)
		if (reading->processes[i].flags & PRELOAD_CONTEXT)
			return true;
	return false;
}

void probe_gpus_read(struct probe_gpus *gpus)
{
	const struct outside nothing = { .is_known = false };

	if (!gpus->spec->has_preload)
		return;
	preload_read(gpus->channel_fd, &gpus->preload);
	/* Without room for a context it used the device all the same. */
	if (made_a_context(&gpus->preload) || gpus->preload.failed_device)
		gpus->is_used = true;
	for (size_t i = 0; i < gpus->spec->count; i++)
		note_device(gpus, i, &nothing, false);
}

void probe_gpus_look(struct probe_gpus *gpus)
{
	struct preload_reading *reading = &gpus->preload;
	struct outside outside[GPU_MAX] = { { .is_known = false } };
	uint64_t moves = reading->allocations + reading->frees;
	size_t holders = reading->holders;
	size_t count = look_at_watched(gpus);
	bool quiet = reading->is_quiet;

	for (size_t i = 0; i < count; i++) {
		look_outside(gpus, i, &outside[i]);
		gpus->is_used = gpus->is_used || outside[i].is_listed;
	}
	if (count && gpus->spec->has_preload)
		preload_read(gpus->channel_fd, reading);
	/* Nothing moved in the page while the world outside was looked at. The
	 * end of a process frees all it holds without a call. */
	quiet = quiet && reading->is_quiet && holders == reading->holders &&
		moves == reading->allocations + reading->frees;
	for (size_t i = 0; i < count; i++)
		note_device(gpus, i, &outside[i], quiet);
}

bool probe_gpus_ran_kernel(struct probe_gpus *gpus, uint64_t *launches)
{
	uint64_t before = *launches;

	/* What a process launched that the library is not in nobody sees. */
	if (!gpus->spec->has_preload || gpus->is_bypassed)
		return true;
	preload_read(gpus->channel_fd, &gpus->preload);
	*launches = gpus->preload.launches;
	return !*launches || *launches > before;
}

/* Its own allocator took all there is: what is used of it nobody sees. */
static bool is_a_pool(const struct preload_reading *reading)
{
	for (size_t i = 0; i < reading->device_count; i++)
		if (allocations_are_a_pool(&reading->devices[i]))
			return true;
	return false;
}

uint64_t probe_gpus_peak(const struct probe_gpus *gpus)
{
	uint64_t peak = 0;

	if (is_a_pool(&gpus->preload))
		return 0;
	for (size_t i = 0; i < gpus->spec->count; i++) {
		uint64_t bytes = reconcile_peak(&gpus->reconcile[i]);

		if (bytes > peak)
			peak = bytes;
	}
	return peak;
}

enum coverage probe_gpus_coverage(const struct probe_gpus *gpus)
{
	enum coverage least = COVERAGE_EXACT;
	bool is_used = false;

	for (size_t i = 0; i < gpus->spec->count; i++) {
		enum coverage coverage;

		if (!reconcile_peak(&gpus->reconcile[i]))
			continue;
		is_used = true;
		coverage = reconcile_coverage(&gpus->reconcile[i]);
		if (coverage < least)
			least = coverage;
	}
	assert(least > COVERAGE_NONE || !is_used);
	return is_used ? least : COVERAGE_NONE;
}

static bool was_given(const struct probe_gpus *gpus,
		      const unsigned char uuid[16])
{
	unsigned char given[16];

	for (size_t i = 0; i < gpus->spec->count; i++)
		if (preload_uuid_parse(given, gpus->spec->gpus[i].uuid) < 0 ||
		    memcmp(given, uuid, sizeof(given)) == 0)
			return true;
	return false;
}

/* Whoever sets CUDA_VISIBLE_DEVICES in the command gets what nobody looked at:
 * who uses it, and how much of it is free. */
static void note_foreign(const struct probe_gpus *gpus,
			 char text[EVIDENCE_DEVICE_MAX])
{
	const struct preload_reading *reading = &gpus->preload;

	for (size_t i = 0; i < reading->device_count; i++) {
		const unsigned char *uuid = reading->devices[i].uuid;
		size_t used = sizeof("GPU-") - 1;

		if (!reading->devices[i].peak_bytes || was_given(gpus, uuid))
			continue;
		memcpy(text, "GPU-", sizeof("GPU-"));
		for (size_t byte = 0; byte < 16; byte++)
			used += (size_t)snprintf(
				text + used, EVIDENCE_DEVICE_MAX - used,
				"%s%02x",
				byte >= 4 && byte <= 10 && byte % 2 == 0 ? "-"
									 : "",
				uuid[byte]);
		assert(used < EVIDENCE_DEVICE_MAX);
		return;
	}
}

static struct gpu_spread probe_gpu_spread(const struct probe_gpus *gpus)
{
	struct gpu_spread spread = { .rank = -1 };
	const struct preload_device_reading *device;

	for (size_t i = 0; i < gpus->spec->count; i++) {
		uint64_t bytes = reconcile_peak(&gpus->reconcile[i]);

		if (bytes <= spread.peak_bytes) {
			spread.others_peak_bytes =
				bytes_max(spread.others_peak_bytes, bytes);
			continue;
		}
		spread.others_peak_bytes = spread.peak_bytes;
		spread.peak_bytes = bytes;
		spread.place = i;
	}
	assert(spread.others_peak_bytes <= spread.peak_bytes);
	device = gpus->spec->count
			 ? preload_device(&gpus->preload,
					  gpus->spec->gpus[spread.place].uuid)
			 : NULL;
	if (device)
		spread.rank = device->rank;
	return spread;
}

void probe_gpus_evidence(const struct probe_gpus *gpus,
			 struct evidence_gpu *evidence)
{
	const struct preload_reading *reading = &gpus->preload;

	evidence->device_used = gpus->is_used;
	evidence->used_places = gpus->used_places;
	if (gpus->spec->device == PROBE_CUDA)
		note_foreign(gpus, evidence->foreign_device);
	evidence->used_elsewhere = gpus->is_filled && !gpus->is_used;
	evidence->allocations = allocations_judge(reading);
	evidence->is_pool = is_a_pool(reading);
	evidence->spread = probe_gpu_spread(gpus);
	for (size_t i = 0; i < reading->device_count; i++)
		if (reading->devices[i].managed_peak_bytes >
		    evidence->managed_peak_bytes)
			evidence->managed_peak_bytes =
				reading->devices[i].managed_peak_bytes;
}
