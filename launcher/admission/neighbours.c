/* Other people's work on a device: nothing starts beside it unasked. */
/* SPDX-License-Identifier: MIT */
#include "launcher/admission/neighbours.h"

#include "base/log.h"
#include "base/units.h"
#include "launcher/command/text/text.h"
#include "probes/observers/gpu/gpu_neighbours.h"
#include "probes/observers/gpu/gpu_tenants.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* As many are named; of the others only their number. */
#define NAMED_MAX 3

/* "alice, python", with what of it can be told from here. */
static void add_who(struct strbuf *out, pid_t pid)
{
	char name[GPU_TENANT_NAME_MAX];
	const struct passwd *entry;
	struct stat info;
	char path[32];

	if (!gpu_tenant_is_visible(pid)) {
		strbuf_adds(out, "not visible from here");
		return;
	}
	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &info) < 0) {
		strbuf_adds(out, "of another user");
		return;
	}
	entry = getpwuid(info.st_uid);
	if (entry)
		text_add_safe(out, entry->pw_name, false);
	else
		strbuf_addf(out, "user %u", (unsigned int)info.st_uid);
	gpu_tenant_name(pid, name);
	if (!*name)
		return;
	strbuf_adds(out, ", ");
	text_add_safe(out, name, false);
}

static void neighbours_add_process(struct strbuf *out,
				   const struct gpu_process *process)
{
	char bytes[BYTES_TEXT_MAX];

	strbuf_addf(out, "pid %d (", (int)process->pid);
	add_who(out, process->pid);
	strbuf_addf(out, ") %s",
		    process->used_bytes
			    ? bytes_format(bytes, process->used_bytes)
			    : "of memory not known");
}

/* A desktop's small helper: what it holds is missing anyway, and it stays. */
static bool is_base_load(const struct gpu_process *process)
{
	return process->used_bytes &&
	       process->used_bytes <= GPU_NEIGHBOUR_BASE_BYTES;
}

static bool is_tenant(const struct gpu_process *process)
{
	return process->is_compute && !gpu_tenant_is_server(process->pid) &&
	       !is_base_load(process);
}

/*
 * Used by processes that are not listed: in a container NVML leaves out those
 * of others. 0 where a listed one may have it.
 */
static uint64_t unseen_bytes(const struct gpu_device *gpu,
			     const struct gpu_look *look)
{
	uint64_t explained = GPU_NEIGHBOUR_BASE_BYTES;
	uint64_t used;

	if (gpu->is_integrated || !look->has_memory || look->process_count < 0)
		return 0;
	for (int i = 0; i < look->process_count; i++) {
		if (!look->processes[i].used_bytes)
			return 0;
		explained += look->processes[i].used_bytes;
	}
	used = bytes_minus(gpu->total_bytes, look->memory.free_bytes);
	return used > explained ? used - explained + GPU_NEIGHBOUR_BASE_BYTES
				: 0;
}

/* Without NVML, beside the context by which the driver was asked. */
static uint64_t unlisted_bytes(const struct gpu_device *gpu)
{
	uint64_t used = bytes_minus(gpu->total_bytes, gpu->free_bytes);

	if (gpu->is_integrated || gpu->free_source != GPU_FREE_DRIVER)
		return 0;
	return used > 2 * GPU_NEIGHBOUR_BASE_BYTES ? used : 0;
}

static void add_unseen(struct strbuf *out, uint64_t unseen)
{
	char bytes[BYTES_TEXT_MAX];

	strbuf_addf(out,
		    "%s of it are used by nobody who is listed here: in a "
		    "container, or without NVML, others are not seen",
		    bytes_format(bytes, unseen));
}

/* How many compute there; the first of them appended to out. */
static size_t find_tenants(const struct nvml *nvml,
			   const struct gpu_device *gpu, struct strbuf *out)
{
	const struct gpu_look *look = nvml_seen(nvml, gpu->uuid);
	int count = look ? look->process_count : 0;
	uint64_t unseen = look ? unseen_bytes(gpu, look) : unlisted_bytes(gpu);
	size_t found = 0;

	if (look && count < 0)
		log_verbose("other users of a GPU are not known: %s",
			    look->problem);
	for (int i = 0; i < count; i++) {
		if (!is_tenant(&look->processes[i]))
			continue;
		if (found++ >= NAMED_MAX)
			continue;
		strbuf_adds(out, found > 1 ? ", " : "");
		neighbours_add_process(out, &look->processes[i]);
	}
	if (found > NAMED_MAX)
		strbuf_addf(out, " and %zu more", found - NAMED_MAX);
	if (found || !unseen)
		return found;
	add_unseen(out, unseen);
	return 1;
}

/* Probes begin beside it, and end when it grows. */
static void tell_base_load(const struct nvml *nvml,
			   const struct gpu_device *gpu)
{
	const struct gpu_look *look = nvml_seen(nvml, gpu->uuid);

	for (int i = 0; look && i < look->process_count; i++) {
		const struct gpu_process *process = &look->processes[i];
		struct strbuf who = STRBUF_INIT;

		if (!process->is_compute || !is_base_load(process) ||
		    gpu_tenant_is_server(process->pid))
			continue;
		neighbours_add_process(&who, process);
		log_warning("GPU %d has a small user: %s; that is taken as "
			    "base load",
			    gpu->index, strbuf_text(&who));
		strbuf_release(&who);
	}
}

/* The index of a GPU that nobody computes on, or -1. */
static int free_gpu(const struct memory_target *target)
{
	struct strbuf ignored = STRBUF_INIT;
	int index = -1;

	for (size_t i = 0; i < target->gpu_count && index < 0; i++)
		if (!find_tenants(target->nvml, &target->gpus[i], &ignored))
			index = target->gpus[i].index;
	strbuf_release(&ignored);
	return index;
}

static int in_use(const struct memory_target *target,
		  const struct gpu_device *gpu, const struct strbuf *tenants,
		  struct error *err)
{
	struct strbuf name = STRBUF_INIT;
	int other = free_gpu(target);
	char choice[16] = "N";
	int result;

	if (other >= 0)
		(void)snprintf(choice, sizeof(choice), "%d", other);
	text_add_safe(&name, gpu->name, false);
	result = error_set(err, -EBUSY,
			   "GPU %d (%s, %s) is in use: %s; probing beside it "
			   "would not be safe: wait, choose another with "
			   "--device cuda:%s, or share it with --shared%s",
			   gpu->index, strbuf_text(&name), gpu->uuid,
			   strbuf_text(tenants), choice,
			   target->may_be_host
				   ? "; for a training without a GPU: --device "
				     "host"
				   : "");
	strbuf_release(&name);
	return result;
}

static int refuse_tenants(const struct memory_target *target, struct error *err)
{
	int result = 0;

	for (size_t i = 0; i < target->gpu_count && result == 0; i++) {
		const struct gpu_device *gpu = &target->gpus[i];
		struct strbuf tenants = STRBUF_INIT;

		if (find_tenants(target->nvml, gpu, &tenants))
			result = in_use(target, gpu, &tenants, err);
		else
			tell_base_load(target->nvml, gpu);
		strbuf_release(&tenants);
	}
	return result;
}

/* What may be had of one GPU without a hold on what others may yet need. */
static uint64_t share_of(const struct memory_target *target,
			 const struct gpu_device *gpu)
{
	const struct gpu_look *look = nvml_seen(target->nvml, gpu->uuid);
	uint64_t free_bytes = gpu->free_bytes;

	if (gpu->is_integrated)
		free_bytes = memory_target_usable(target, gpu);
	/* Read anew: what was free when the target was opened may be gone. */
	else if (look && look->has_memory)
		free_bytes = look->memory.free_bytes;
	return bytes_minus(free_bytes, gpu->total_bytes / 10 > GIB
					       ? gpu->total_bytes / 10
					       : GIB);
}

static int share(struct memory_target *target, const struct options *options,
		 struct error *err)
{
	uint64_t budget = UINT64_MAX;
	char budget_text[BYTES_TEXT_MAX];
	char headroom_text[BYTES_TEXT_MAX];

	for (size_t i = 0; i < target->gpu_count; i++) {
		uint64_t bytes = share_of(target, &target->gpus[i]);

		if (bytes < budget)
			budget = bytes;
	}
	memory_target_share(target, options, budget);
	/* A limit of 0 would be none; the command may use no GPU at all. */
	if (!target->limit_bytes && target->may_be_host)
		target->limit_bytes = 1;
	if (target->limit_bytes)
		return 0;
	return error_set(err, -ENOMEM,
			 "a share of %s leaves nothing beside a headroom of "
			 "%s: wait, or see --headroom",
			 bytes_format(budget_text, target->budget_bytes),
			 bytes_format(headroom_text, target->headroom_bytes));
}

int neighbours_share_again(struct memory_target *target,
			   const struct options *options, bool *moved,
			   struct error *err)
{
	*moved = false;
	if (!target->nvml || nvml_look(target->nvml, NULL) < 0)
		return 0;
	for (size_t i = 0; i < target->gpu_count; i++) {
		struct gpu_device *gpu = &target->gpus[i];
		struct probe_gpu *before = &target->probe_gpus[i];
		const struct gpu_look *look =
			nvml_seen(target->nvml, gpu->uuid);
		uint64_t used;

		if (!look || !look->has_memory)
			continue;
		used = bytes_minus(gpu->total_bytes, look->memory.free_bytes);
		if (bytes_apart(used, before->baseline_used_bytes) <=
		    GPU_NEIGHBOUR_NOISE_BYTES)
			continue;
		gpu->free_bytes = gpu->total_bytes - used;
		before->baseline_used_bytes = used;
		*moved = true;
	}
	return *moved ? share(target, options, err) : 0;
}

/* What they do nobody tells: no reading of the device is exact beside them. */
static void note_unseen(struct memory_target *target,
			const struct options *options)
{
	for (size_t i = 0; i < target->gpu_count; i++) {
		const struct gpu_device *gpu = &target->gpus[i];
		const struct gpu_look *look =
			nvml_seen(target->nvml, gpu->uuid);

		if (look ? unseen_bytes(gpu, look) : unlisted_bytes(gpu))
			(void)memory_target_lose_exact(target, options,
						       target->world_size);
	}
}

int neighbours_check(struct memory_target *target,
		     const struct options *options, struct error *err)
{
	struct error why = ERROR_INIT;

	if (target->device == PROBE_HOST || !target->gpu_count)
		return 0;
	if (target->nvml && nvml_look(target->nvml, &why) < 0)
		log_verbose("other users of the GPUs are not known: %s",
			    why.message);
	if (options->probe.shared) {
		note_unseen(target, options);
		return share(target, options, err);
	}
	return refuse_tenants(target, err);
}
