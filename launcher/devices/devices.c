/* `autofit devices`: look at GPUs and host memory, and say what is there. */
/* SPDX-License-Identifier: MIT */
#include "launcher/devices/devices.h"

#include "base/alloc.h"
#include "base/log.h"
#include "launcher/options/exitcode.h"
#include "launcher/report/report_answer.h"
#include "launcher/report/report_style.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char *devices_user_of(const char *proc_root, pid_t pid)
{
	char *path = xasprintf("%s/%d", proc_root, (int)pid);
	const struct passwd *entry = NULL;
	char *user = NULL;
	struct stat info;

	if (stat(path, &info) == 0) {
		entry = getpwuid(info.st_uid);
		user = entry ? xstrdup(entry->pw_name)
			     : xasprintf("%u", (unsigned int)info.st_uid);
	}
	free(path);
	return user;
}

static void look_at_processes(struct devices_gpu *gpu,
			      const struct gpu_look *look,
			      const char *proc_root)
{
	int count = look->process_count;

	gpu->process_count = count;
	if (count <= 0)
		return;
	gpu->processes = xcalloc((size_t)count, sizeof(*gpu->processes));
	for (int i = 0; i < count; i++) {
		gpu->processes[i].process = look->processes[i];
		gpu->processes[i].user =
			devices_user_of(proc_root, look->processes[i].pid);
	}
}

/* Free memory was read with the list already; here is who has the rest. */
static void look_by_nvml(struct devices *devices, const char *proc_root)
{
	struct gpu_device *gpus = xcalloc(devices->gpu_count, sizeof(*gpus));
	struct error err = ERROR_INIT;
	struct nvml *nvml = NULL;

	for (size_t i = 0; i < devices->gpu_count; i++)
		gpus[i] = devices->gpus[i].gpu;
	if (nvml_open(&nvml, gpus, devices->gpu_count, NULL, &err) < 0)
		devices->nvml_problem = xstrdup(err.message);
	free(gpus);
	for (size_t i = 0; i < devices->gpu_count; i++) {
		struct devices_gpu *gpu = &devices->gpus[i];
		const struct gpu_look *look = nvml_seen(nvml, gpu->gpu.uuid);

		if (!look)
			continue;
		look_at_processes(gpu, look, proc_root);
		if (look->problem[0] && !devices->nvml_problem)
			devices->nvml_problem = xstrdup(look->problem);
	}
	nvml_close(nvml);
}

static void look_at_gpus(struct devices *devices, const struct options *options,
			 const struct host_roots *roots)
{
	struct gpu_device *found = xcalloc(GPU_MAX, sizeof(*found));
	struct error err = ERROR_INIT;
	int count;

	devices->has_looked_at_gpus = true;
	devices->known_gpu_count = gpu_identities(roots->proc, found);
	count = gpu_devices_list(found, NULL, &err);
	if (count < 0)
		devices->gpu_problem = xstrdup(err.message);
	devices->gpus = xcalloc(GPU_MAX, sizeof(*devices->gpus));
	for (int i = 0; i < count; i++) {
		struct devices_gpu *gpu = &devices->gpus[devices->gpu_count];

		if (options->target.device == DEVICE_CUDA &&
		    options->target.cuda_index >= 0 &&
		    options->target.cuda_index != i)
			continue;
		gpu->gpu = found[i];
		gpu->process_count = -1;
		devices->gpu_count++;
	}
	if (count >= 0 && options->target.device == DEVICE_CUDA &&
	    !devices->gpu_count)
		devices->gpu_problem =
			options->target.cuda_index >= 0 && count
				? xasprintf("there is no GPU %d; the visible "
					    "ones are 0 to %d",
					    options->target.cuda_index,
					    count - 1)
				: xstrdup("there is no visible GPU");
	free(found);
}

void devices_list(struct devices *devices, const struct options *options,
		  const struct strlist *environment,
		  const struct host_roots *roots)
{
	const char *visible =
		strlist_env_get(environment, "CUDA_VISIBLE_DEVICES");
	/* --memory bounds the GPU where there is one, else the host. */
	uint64_t host_memory_bytes = options->target.memory_bytes;
	struct error err = ERROR_INIT;

	memset(devices, 0, sizeof(*devices));
	devices->visible = visible ? xstrdup(visible) : NULL;
	if (options->target.device != DEVICE_HOST)
		look_at_gpus(devices, options, roots);
	if (devices->gpu_count)
		host_memory_bytes = 0;
	if (host_budget_read(&devices->host, host_memory_bytes, roots, &err) <
	    0) {
		memset(&devices->host, 0, sizeof(devices->host));
		devices->host_problem = xstrdup(err.message);
	}
}

void devices_look(struct devices *devices, const struct options *options,
		  const struct strlist *environment,
		  const struct host_roots *roots)
{
	devices_list(devices, options, environment, roots);
	if (devices->gpu_count)
		look_by_nvml(devices, roots->proc);
}

void devices_release(struct devices *devices)
{
	for (size_t i = 0; i < devices->gpu_count; i++) {
		struct devices_gpu *gpu = &devices->gpus[i];

		for (int j = 0; j < gpu->process_count; j++)
			free(gpu->processes[j].user);
		free(gpu->processes);
	}
	free(devices->gpus);
	free(devices->gpu_problem);
	free(devices->nvml_problem);
	free(devices->host_problem);
	free(devices->visible);
	memset(devices, 0, sizeof(*devices));
}

static int write_all(const struct devices *devices,
		     const struct options *options)
{
	struct strbuf table = STRBUF_INIT;
	struct strbuf json = STRBUF_INIT;
	int code;

	devices_table(devices, report_width(), &table);
	devices_json(devices, &json);
	code = report_answer(options, &table, &json);
	strbuf_release(&json);
	strbuf_release(&table);
	return code;
}

static void log_problems(const struct devices *devices)
{
	if (devices->gpu_problem)
		log_error("%s", devices->gpu_problem);
	if (devices->host_problem)
		log_error("%s", devices->host_problem);
	if (devices->nvml_problem)
		log_warning("%s", devices->nvml_problem);
}

int devices_command(const struct options *options,
		    const struct strlist *environment)
{
	struct devices devices;
	int code;

	devices_look(&devices, options, environment, &host_roots_here);
	code = write_all(&devices, options);
	if (devices.gpu_problem || devices.host_problem)
		code = EXIT_AUTOFIT_FAILED;
	/* The table has them; the object is for a program, these for people. */
	if (options->output.json && strcmp(options->output.json, "-") == 0)
		log_problems(&devices);
	devices_release(&devices);
	return code;
}
