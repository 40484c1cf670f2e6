/* Idle GPUs like the command's own, on which probes may run as well. */
/* SPDX-License-Identifier: MIT */
#include "launcher/admission/spare_gpus.h"

#include "base/alloc.h"
#include "base/units.h"
#include "launcher/request/end_signals.h"
#include "launcher/request/visible_gpus.h"
#include "probes/observers/gpu/gpu_neighbours.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* All that the user's own CUDA_VISIBLE_DEVICES lets be seen. With --device
 * cuda:N the target is one of them, else it is them all. */
static size_t list_visible(const struct request *request,
			   const struct memory_target *target,
			   const struct gpu_device **devices, struct error *why)
{
	int count;

	*devices = target->gpus;
	if (request->options->target.cuda_index < 0)
		return target->gpu_count;
	count = visible_gpus_ask(request->gpus, why);
	*devices = request->gpus->seen;
	return count > 0 ? (size_t)count : 0;
}

static bool is_alike(const struct gpu_device *gpu, const struct gpu_device *own)
{
	return strcmp(gpu->uuid, own->uuid) != 0 &&
	       strcmp(gpu->name, own->name) == 0 &&
	       gpu->total_bytes == own->total_bytes && !gpu->is_mig &&
	       !gpu->is_integrated && gpu->vendor == own->vendor;
}

/* Those like the first one of the target, as many as are of use. */
static void keep_alike(struct spare_gpus *spare, const struct request *request,
		       const struct memory_target *target, struct error *why)
{
	const struct gpu_device *own = &target->gpus[0];
	const struct gpu_device *devices;
	size_t count = list_visible(request, target, &devices, why);

	for (size_t i = 0; i < count && spare->count < SPARE_GPUS_MAX; i++) {
		struct spare_gpu *gpu = &spare->gpus[spare->count];

		if (own->is_mig || !is_alike(&devices[i], own))
			continue;
		gpu->device = devices[i];
		gpu->before.total_bytes = devices[i].total_bytes;
		memcpy(gpu->before.uuid, devices[i].uuid,
		       sizeof(gpu->before.uuid));
		gpu->only = visible_gpus_only(request->gpus, devices[i].index,
					      devices[i].uuid);
		spare->count++;
	}
	if (!spare->count && !why->code)
		(void)error_set(why, -ENODEV,
				count > 1 ? "no other GPU that is visible here "
					    "is of the same model and size"
					  : "no other GPU is visible here");
}

static int watch_them(struct spare_gpus *spare, struct error *why)
{
	const struct gpu_patience patience = {
		.interrupted = end_signals_waiting,
	};
	struct gpu_device devices[SPARE_GPUS_MAX];

	for (size_t i = 0; i < spare->count; i++)
		devices[i] = spare->gpus[i].device;
	if (nvml_open(&spare->nvml, devices, spare->count, &patience, why) == 0)
		return 0;
	return error_prefix(why, "who uses the other GPUs is not known");
}

/* Nobody computes there, and what the target's own GPU gives can be had. */
static bool look_at_spare(const struct nvml *nvml, struct spare_gpu *gpu,
			  const struct memory_target *target)
{
	const struct gpu_look *look = nvml_seen(nvml, gpu->device.uuid);
	uint64_t total = gpu->device.total_bytes;
	uint64_t free_bytes;

	if (!look || !look->has_memory || look->process_count < 0)
		return false;
	for (int i = 0; i < look->process_count; i++)
		if (look->processes[i].is_compute)
			return false;
	free_bytes = bytes_min(look->memory.free_bytes, total);
	gpu->before.baseline_used_bytes = total - free_bytes;
	return free_bytes >= target->limit_bytes &&
	       free_bytes + GPU_NEIGHBOUR_NOISE_BYTES >= target->budget_bytes;
}

size_t spare_gpus_look(struct spare_gpus *spare,
		       const struct memory_target *target)
{
	bool is_seen = spare->nvml && nvml_look_anyway(spare->nvml, NULL) == 0;
	size_t idle = 0;

	for (size_t i = 0; i < spare->count; i++) {
		struct spare_gpu *gpu = &spare->gpus[i];

		gpu->is_idle =
			is_seen && look_at_spare(spare->nvml, gpu, target);
		idle += gpu->is_idle;
	}
	return idle;
}

static void drop_spare(struct spare_gpus *spare, size_t index)
{
	assert(index < spare->count);
	free(spare->gpus[index].only);
	spare->gpus[index] = spare->gpus[--spare->count];
}

/* Another tuning may hold what it does not use at this moment. */
static void take_locks(struct spare_gpus *spare, const struct request *request,
		       struct device_locks *guard, struct error *why)
{
	for (size_t i = spare->count; i-- > 0;)
		if (!spare->gpus[i].is_idle ||
		    device_locks_try(guard, request, spare->gpus[i].device.uuid,
				     why) < 0)
			drop_spare(spare, i);
}

size_t spare_gpus_find(struct spare_gpus *spare, const struct request *request,
		       const struct memory_target *target,
		       struct device_locks *guard, struct error *why)
{
	assert(!spare->count && target->gpu_count >= 1);
	keep_alike(spare, request, target, why);
	if (!spare->count || watch_them(spare, why) < 0) {
		spare_gpus_release(spare);
		return 0;
	}
	if (!spare_gpus_look(spare, target))
		(void)error_set(why, -EBUSY,
				"the other GPUs are in use, or have less free");
	take_locks(spare, request, guard, why);
	return spare->count;
}

void spare_gpus_release(struct spare_gpus *spare)
{
	while (spare->count)
		drop_spare(spare, 0);
	if (spare->nvml)
		nvml_close(spare->nvml);
	spare->nvml = NULL;
}
