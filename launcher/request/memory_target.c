/* The memory that is tuned for: device, budget, headroom, limit. */
/* SPDX-License-Identifier: MIT */
#include "launcher/request/memory_target.h"

#include "base/log.h"
#include "base/units.h"
#include "launcher/request/end_signals.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Host memory that is the user's to divide needs less air than a machine. What
 * malloc keeps of freed memory creeps up for longer than a probe lasts: from
 * the 32nd backward pass to the 200th by up to 7.5% of the peak (a transformer
 * of tests/bench/peers, torch 2.9).
 */
static uint64_t host_headroom(const struct host_budget *host)
{
	if (host->source == HOST_BUDGET_AVAILABLE)
		return bytes_max(512 * MIB, host->total_bytes / 10);
	return bytes_max(64 * MIB, host->budget_bytes / 100 * 8);
}

static uint64_t gpu_headroom(const struct memory_target *target)
{
	uint64_t whole =
		target->cap_bytes ? target->cap_bytes : target->total_bytes;
	/* Readings of a whole device miss short peaks. */
	uint64_t bytes = target->assumes_exact
				 ? bytes_max(512 * MIB, whole / 100 * 4)
				 : bytes_max(1 * GIB, whole / 100 * 8);

	/* On unified memory nothing refuses: the machine stands still. */
	if (target->is_unified)
		bytes = bytes_max(bytes, whole / 10);
	return target->world_size > 1 ? bytes + 256 * MIB : bytes;
}

/* A limit of 0 would read as none: then there is nothing to tune in. */
static int check_limit(uint64_t limit, uint64_t budget, uint64_t headroom,
		       struct error *err)
{
	char budget_text[BYTES_TEXT_MAX];
	char headroom_text[BYTES_TEXT_MAX];

	if (limit)
		return 0;
	return error_set(err, -ENOMEM,
			 "a budget of %s leaves nothing beside a headroom of "
			 "%s: free memory, or see --memory and --headroom",
			 bytes_format(budget_text, budget),
			 bytes_format(headroom_text, headroom));
}

static int set_host_limits(struct memory_target *target,
			   const struct options *options, struct error *err)
{
	/* With a GPU, --memory speaks of the GPU. */
	uint64_t memory =
		target->device == PROBE_HOST ? options->target.memory_bytes : 0;
	int result =
		host_budget_read(&target->host, memory, &host_roots_here, err);

	if (result < 0)
		return result;
	target->host_headroom_bytes =
		options->target.has_headroom && target->device == PROBE_HOST
			? amount_of(&options->target.headroom,
				    target->host.budget_bytes)
			: host_headroom(&target->host);
	target->host_limit_bytes = bytes_minus(target->host.budget_bytes,
					       target->host_headroom_bytes);
	return check_limit(target->host_limit_bytes, target->host.budget_bytes,
			   target->host_headroom_bytes, err);
}

/* What the options leave of a GPU; UINT64_MAX: all of it. */
static uint64_t allowed(const struct options *options)
{
	uint64_t bytes = options->target.model.usable_bytes
				 ? options->target.model.usable_bytes
				 : UINT64_MAX;

	return options->target.memory_bytes
		       ? bytes_min(bytes, options->target.memory_bytes)
		       : bytes;
}

static void divide(struct memory_target *target, const struct options *options)
{
	target->headroom_bytes = options->target.has_headroom
					 ? amount_of(&options->target.headroom,
						     target->budget_bytes)
					 : gpu_headroom(target);
	target->limit_bytes =
		bytes_minus(target->budget_bytes, target->headroom_bytes);
}

uint64_t memory_target_usable(const struct memory_target *target,
			      const struct gpu_device *gpu)
{
	/* One pool with the host: what the host lacks it lacks too. */
	if (gpu->is_integrated)
		return bytes_min(gpu->total_bytes, target->host.budget_bytes);
	return gpu->free_source == GPU_FREE_UNKNOWN ? gpu->total_bytes
						    : gpu->free_bytes;
}

bool memory_target_is_bound_by(const struct memory_target *target, size_t place)
{
	assert(place < target->gpu_count);
	return !target->used_places ||
	       (target->used_places & UINT64_C(1) << place);
}

static void set_gpu_limits(struct memory_target *target,
			   const struct options *options)
{
	uint64_t free_bytes = UINT64_MAX;

	target->total_bytes = UINT64_MAX;
	for (size_t i = 0; i < target->gpu_count; i++) {
		const struct gpu_device *gpu = &target->gpus[i];
		uint64_t usable = memory_target_usable(target, gpu);

		if (!memory_target_is_bound_by(target, i))
			continue;
		if (usable < free_bytes)
			target->limiting = i;
		free_bytes = bytes_min(free_bytes, usable);
		target->total_bytes =
			bytes_min(target->total_bytes, gpu->total_bytes);
	}
	target->budget_bytes = bytes_min(free_bytes, allowed(options));
	/* --memory of more than is free bounds nothing. */
	if (target->budget_bytes < free_bytes || target->emulated_as ||
	    target->is_unified)
		target->cap_bytes = target->budget_bytes;
	divide(target, options);
}

/* A card cannot show what would happen on a larger one. */
static int check_model(const struct memory_target *target,
		       const struct options *options, struct error *err)
{
	const struct gpu_model *model = &options->target.model;
	char total[BYTES_TEXT_MAX];
	char usable[BYTES_TEXT_MAX];

	for (size_t i = 0; target->emulated_as && i < target->gpu_count; i++) {
		const struct gpu_device *gpu = &target->gpus[i];

		/* Cards of one model differ by a little. */
		if (model->usable_bytes <= gpu->total_bytes ||
		    strcmp(model->name, gpu->name) == 0)
			continue;
		return error_set(err, -EINVAL,
				 "--as: GPU %d (%.95s, %s) cannot emulate a "
				 "larger card: programs have %s on %s",
				 gpu->index, gpu->name,
				 bytes_format(total, gpu->total_bytes),
				 bytes_format(usable, model->usable_bytes),
				 model->name);
	}
	return 0;
}

/*
 * How it was before the first probe. Only what the driver's own list counts is
 * compared: NVML's total holds what the driver keeps for itself as well.
 */
static void note_baselines(struct memory_target *target)
{
	for (size_t i = 0; i < target->gpu_count; i++) {
		const struct gpu_device *gpu = &target->gpus[i];
		struct probe_gpu *before = &target->probe_gpus[i];

		memcpy(before->uuid, gpu->uuid, sizeof(gpu->uuid));
		before->total_bytes = gpu->total_bytes;
		before->baseline_used_bytes =
			gpu->free_source == GPU_FREE_NVML ||
					gpu->free_source == GPU_FREE_KERNEL
				? gpu->total_bytes - gpu->free_bytes
				: 0;
		target->is_unified = target->is_unified || gpu->is_integrated;
	}
}

static void keep_one_gpu(struct memory_target *target, int index)
{
	if (index < 0)
		return;
	for (size_t i = 0; i < target->gpu_count; i++)
		if (target->gpus[i].index == index) {
			target->gpus[0] = target->gpus[i];
			target->gpu_count = 1;
			return;
		}
	target->gpu_count = 0;
}

/* CUDA_VISIBLE_DEVICES says that there is to be none. */
static bool hides_all(void)
{
	const char *list = getenv("CUDA_VISIBLE_DEVICES");

	return list && (!*list || strcmp(list, "-1") == 0);
}

/*
 * A GPU is there, and it cannot be asked: a tuning for host memory would say
 * nothing of the run on that GPU.
 */
static int refuse_to_guess(int result, const char *why, struct error *err)
{
	return error_set(err, result,
			 "%s; to train on the CPU on purpose: --device host",
			 why);
}

static int find_gpus(struct memory_target *target,
		     const struct options *options,
		     const struct gpu_patience *patience, struct error *err)
{
	bool is_auto = options->target.device == DEVICE_AUTO;
	int index = options->target.cuda_index;
	struct error why = ERROR_INIT;
	char number[16] = "";
	int count;

	if (options->target.device == DEVICE_HOST || (is_auto && hides_all()))
		return 0;
	count = gpu_devices_list(target->gpus, patience, &why);
	if (count == -EINTR || count == -ETIME || (count < 0 && !is_auto))
		return error_set(err, count, "%s", why.message);
	if (count < 0)
		return refuse_to_guess(count, why.message, err);
	target->gpu_count = (size_t)count;
	keep_one_gpu(target, index);
	if (index >= 0)
		(void)snprintf(number, sizeof(number), ":%d", index);
	if (target->gpu_count == 0 && !is_auto)
		return error_set(err, -ENODEV,
				 "--device cuda%s: no such GPU here; see "
				 "autofit devices",
				 number);
	return 0;
}

/* Who else is on the GPUs only NVML tells, as long as the target is open. */
static int memory_target_watch(struct memory_target *target,
			       const struct gpu_patience *patience,
			       struct error *err)
{
	struct error why = ERROR_INIT;
	int result = nvml_open(&target->nvml, target->gpus, target->gpu_count,
			       patience, &why);

	if (result == -EINTR || result == -ETIME)
		return error_set(err, result, "%s", why.message);
	if (result < 0)
		log_verbose("other users of the GPUs are not known: %s",
			    why.message);
	return 0;
}

static int open_gpus(struct memory_target *target,
		     const struct options *options,
		     const struct gpu_patience *patience, struct error *err)
{
	int result = memory_target_watch(target, patience, err);

	if (result < 0)
		return result;
	target->device = PROBE_CUDA;
	target->is_phantom = options->target.device == DEVICE_PHANTOM;
	target->may_be_host = options->target.device == DEVICE_AUTO;
	/* The library that counts every byte is for NVIDIA's driver. */
	target->assumes_exact = target->gpus[0].vendor == GPU_NVIDIA;
	note_baselines(target);
	result = set_host_limits(target, options, err);
	if (result < 0)
		return result;
	set_gpu_limits(target, options);
	result = check_model(target, options, err);
	if (result < 0)
		return result;
	/* --memory may speak of the host: on a GPU nothing is to fit then. */
	if (target->may_be_host && !target->limit_bytes)
		target->limit_bytes = 1;
	return check_limit(target->limit_bytes, target->budget_bytes,
			   target->headroom_bytes, err);
}

int memory_target_open(struct memory_target *target,
		       const struct options *options, int64_t world_size,
		       struct error *err)
{
	const struct gpu_patience patience = {
		.interrupted = end_signals_waiting,
		.limit_ms = options->times.time_limit_ms,
	};
	int result;

	memset(target, 0, sizeof(*target));
	target->world_size = world_size;
	if (options->target.model.usable_bytes)
		target->emulated_as = options->target.model.name;
	result = find_gpus(target, options, &patience, err);
	if (result < 0)
		return result;
	return target->gpu_count
		       ? open_gpus(target, options, &patience, err)
		       : memory_target_become_host(target, options, err);
}

int memory_target_reserve(struct memory_target *target, uint64_t bytes,
			  struct error *err)
{
	struct host_budget *host = &target->host;

	if (!bytes)
		return 0;
	host->budget_bytes = bytes_minus(host->budget_bytes, bytes);
	target->host_limit_bytes =
		bytes_minus(host->budget_bytes, target->host_headroom_bytes);
	if (target->device == PROBE_HOST) {
		target->budget_bytes = host->budget_bytes;
		target->limit_bytes = target->host_limit_bytes;
	} else if (target->is_unified) {
		target->limit_bytes = bytes_min(target->limit_bytes,
						target->host_limit_bytes);
	}
	return check_limit(target->host_limit_bytes, host->budget_bytes,
			   target->host_headroom_bytes, err);
}

void memory_target_share(struct memory_target *target,
			 const struct options *options, uint64_t bytes)
{
	target->budget_bytes = bytes_min(bytes, allowed(options));
	/* A cap of 0 would be none. */
	target->cap_bytes = bytes_max(target->budget_bytes, 1);
	divide(target, options);
}

/* A limit of 0 would be none. */
static uint64_t less_by(uint64_t bytes, int64_t less)
{
	int64_t rest = (int64_t)bytes - less;

	return rest > 0 ? (uint64_t)rest : 1;
}

void memory_target_stand_for(struct memory_target *target,
			     const struct options *options,
			     uint64_t usable_bytes, int64_t more_bytes)
{
	target->budget_bytes = bytes_min(usable_bytes, allowed(options));
	target->total_bytes = target->budget_bytes;
	target->cap_bytes = 0;
	divide(target, options);
	target->stands_for = true;
	target->limit_bytes = less_by(target->limit_bytes, more_bytes);
	target->budget_bytes = less_by(target->budget_bytes, more_bytes);
}

bool memory_target_lose_exact(struct memory_target *target,
			      const struct options *options, int64_t world_size)
{
	uint64_t before = target->limit_bytes;

	if (target->device != PROBE_CUDA || !target->assumes_exact)
		return false;
	target->assumes_exact = false;
	target->world_size = world_size;
	divide(target, options);
	/* 0 would be none: nothing fits beside this headroom. */
	target->limit_bytes = bytes_max(target->limit_bytes, 1);
	return target->limit_bytes != before;
}

bool memory_target_note_used(struct memory_target *target,
			     const struct options *options, uint64_t places)
{
	uint64_t before = target->limit_bytes;

	if (target->device != PROBE_CUDA || options->probe.shared || !places ||
	    target->stands_for)
		return false;
	target->used_places |= places;
	set_gpu_limits(target, options);
	/* 0 would be none: nothing fits beside this headroom. */
	target->limit_bytes = bytes_max(target->limit_bytes, 1);
	return target->limit_bytes != before;
}

/* One of these was to be a GPU, and it is host memory. */
static int refuse_host_as(const struct memory_target *target,
			  const struct options *options, struct error *err)
{
	return error_set(err, -ENODEV,
			 "--as %s: host memory cannot emulate a GPU%s",
			 target->emulated_as,
			 target->gpu_count ? ", and the first probe used none"
			 : options->target.device == DEVICE_HOST
				 ? ": leave out --device host"
				 : ", and there is none here");
}

int memory_target_become_host(struct memory_target *target,
			      const struct options *options, struct error *err)
{
	int result;

	if (target->emulated_as)
		return refuse_host_as(target, options, err);
	target->device = PROBE_HOST;
	target->may_be_host = false;
	target->assumes_exact = false;
	target->cap_bytes = 0;
	result = set_host_limits(target, options, err);
	target->budget_bytes = target->host.budget_bytes;
	target->headroom_bytes = target->host_headroom_bytes;
	target->limit_bytes = target->host_limit_bytes;
	return result;
}

void memory_target_release(struct memory_target *target)
{
	if (target->nvml)
		nvml_close(target->nvml);
	target->nvml = NULL;
}

uint64_t memory_target_headroom_for(const struct memory_target *target,
				    const struct options *options,
				    const struct trial *trial)
{
	if (options->target.has_headroom)
		return target->headroom_bytes;
	if (trial->peak_varying)
		return bytes_max(target->headroom_bytes,
				 target->budget_bytes / 5);
	/* The floors of small budgets are not for what still grows. */
	if (trial->peak_rising)
		return target->headroom_bytes +
		       bytes_min(target->headroom_bytes,
				 target->budget_bytes / 8);
	return target->headroom_bytes;
}
