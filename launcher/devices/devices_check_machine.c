/* The surroundings of a self-test: the machine, and how fast NVML is. */
/* SPDX-License-Identifier: MIT */
#include "launcher/devices/devices_check_machine.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/textfile.h"
#include "launcher/request/versions.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NVML_LOOKS 100
#define NVML_LOOKS_MS 2000
#define SHORT_FILE_MAX ((size_t)4096)

static bool is_in_container(const struct strlist *environment)
{
	static const char *const files[] = { "/.dockerenv",
					     "/run/.containerenv" };
	static const char *const variables[] = { "container",
						 "APPTAINER_CONTAINER",
						 "SINGULARITY_CONTAINER",
						 "KUBERNETES_SERVICE_HOST" };

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (access(files[i], F_OK) == 0)
			return true;
	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
		if (strlist_env_get(environment, variables[i]))
			return true;
	return false;
}

/* Its kernels are called "5.15.90.1-microsoft-standard-WSL2". */
static bool is_on_wsl(const char *proc_root)
{
	char *path = xasprintf("%s/sys/kernel/osrelease", proc_root);
	struct strbuf text = STRBUF_INIT;
	bool found = textfile_read(path, SHORT_FILE_MAX, &text, NULL) >= 0 &&
		     strcasestr(strbuf_text(&text), "microsoft");

	strbuf_release(&text);
	free(path);
	return found;
}

static char *module_version(const char *proc_root)
{
	char *path = xasprintf("%s/driver/nvidia/version", proc_root);
	struct strbuf text = STRBUF_INIT;
	char *version = NULL;

	if (textfile_read(path, SHORT_FILE_MAX, &text, NULL) >= 0)
		version = versions_of_driver(strbuf_text(&text));
	strbuf_release(&text);
	free(path);
	return version;
}

/* By PCI address, as the kernel has them; the driver puts the fastest first. */
static bool order_differs(const struct devices *devices, const char *proc_root)
{
	struct gpu_device *listed = xcalloc(GPU_MAX, sizeof(*listed));
	int count = gpu_identities(proc_root, listed);
	bool differs = false;

	for (size_t i = 0; i < devices->gpu_count && (int)i < count; i++)
		differs = differs || strcmp(devices->gpus[i].gpu.uuid,
					    listed[i].uuid) != 0;
	free(listed);
	return differs;
}

void devices_check_machine(struct devices_checked *checked,
			   const struct strlist *environment,
			   const struct host_roots *roots)
{
	checked->driver_version = module_version(roots->proc);
	checked->is_container = is_in_container(environment);
	checked->is_wsl = is_on_wsl(roots->proc);
	checked->kernel_count = checked->devices.known_gpu_count;
	checked->kernel_order_differs =
		order_differs(&checked->devices, roots->proc);
}

static double seconds_now(void)
{
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* always there */
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int compare_seconds(const void *a, const void *b)
{
	double first = *(const double *)a;
	double second = *(const double *)b;

	return (first > second) - (first < second);
}

static struct check_latency time_looks(struct nvml *nvml)
{
	double seconds[NVML_LOOKS];
	struct check_latency latency = { .looks = 0 };
	int64_t end_ms = clock_ms() + NVML_LOOKS_MS;

	while (latency.looks < NVML_LOOKS && clock_ms() < end_ms) {
		double begun = seconds_now();

		if (nvml_look(nvml, NULL) < 0)
			break;
		seconds[latency.looks++] = seconds_now() - begun;
	}
	if (!latency.looks)
		return latency;
	qsort(seconds, latency.looks, sizeof(*seconds), compare_seconds);
	latency.median_seconds = seconds[latency.looks / 2];
	latency.slow_seconds = seconds[(latency.looks * 99 - 1) / 100];
	return latency;
}

struct nvml *devices_check_nvml(struct devices_checked *checked)
{
	const struct devices *devices = &checked->devices;
	struct gpu_device *gpus;
	struct nvml *nvml = NULL;

	if (!devices->gpu_count)
		return NULL;
	gpus = xcalloc(devices->gpu_count, sizeof(*gpus));
	for (size_t i = 0; i < devices->gpu_count; i++)
		gpus[i] = devices->gpus[i].gpu;
	if (nvml_open(&nvml, gpus, devices->gpu_count, NULL, NULL) == 0)
		checked->nvml = time_looks(nvml);
	free(gpus);
	return nvml;
}
