/* Device memory of processes, as the kernel tells it of their open files. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/gpu/drm_fdinfo.h"

#include "base/alloc.h"
#include "base/units.h"
#include "probes/observers/gpu/kernel_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DRM_FOLDER "/dev/dri/"
#define KFD_DEVICE "/dev/kfd"
#define VALUE_MAX 32
/* Of one process on one device: each a context of its own. */
#define DRM_CLIENTS_MAX 64

/* What is in the device's memory now: amdgpu, older and newer; xe; i915. */
static const char *const vram_keys[] = {
	"drm-memory-vram:", "drm-resident-vram:", "drm-resident-vram0:",
	"drm-resident-local0:"
};
/* Time of the engine that only computes, ever: xe, i915. */
static const char *const work_keys[] = { "drm-cycles-ccs:",
					 "drm-engine-compute:" };

/* "1024 KiB"; bytes without a unit. */
static uint64_t usage_bytes(const char *text, const char *key)
{
	char value[VALUE_MAX];
	uint64_t bytes = 0;

	if (!kernel_line_value(value, sizeof(value), text, key) ||
	    bytes_parse(value, &bytes, NULL) < 0)
		return 0;
	return bytes;
}

bool drm_usage_read(const char *text, struct drm_usage *usage)
{
	char value[VALUE_MAX];

	memset(usage, 0, sizeof(*usage));
	if (!kernel_line_value(usage->device, sizeof(usage->device), text,
			       "drm-pdev:") ||
	    !kernel_line_value(value, sizeof(value), text, "drm-client-id:"))
		return false;
	usage->client_id = strtoull(value, NULL, 10);
	for (size_t i = 0; i < sizeof(vram_keys) / sizeof(*vram_keys); i++)
		usage->vram_bytes = bytes_max(usage->vram_bytes,
					      usage_bytes(text, vram_keys[i]));
	for (size_t i = 0; i < sizeof(work_keys) / sizeof(*work_keys); i++)
		usage->computes = usage->computes ||
				  (kernel_line_value(value, sizeof(value), text,
						     work_keys[i]) &&
				   strtoull(value, NULL, 10) > 0);
	return true;
}

/* Where the descriptor leads, as far as it fits; "" where nobody may see it. */
static void fd_target(char target[VALUE_MAX], const char *process,
		      const char *fd)
{
	char *path = xasprintf("%s/fd/%s", process, fd);
	ssize_t length = readlink(path, target, VALUE_MAX - 1);

	target[length > 0 ? length : 0] = '\0';
	free(path);
}

/* Those of one process that were counted. */
struct drm_clients {
	uint64_t ids[DRM_CLIENTS_MAX];
	size_t count;
};

static bool is_known_client(const struct drm_clients *clients, uint64_t client)
{
	for (size_t i = 0; i < clients->count; i++)
		if (clients->ids[i] == client)
			return true;
	return false;
}

/* Adds what one descriptor says; of each client once. */
static void add_client(const char *process, const char *fd, const char *device,
		       struct drm_clients *clients, struct gpu_process *found)
{
	struct strbuf text = STRBUF_INIT;
	struct drm_usage usage;

	if (clients->count < DRM_CLIENTS_MAX &&
	    kernel_file_read(&text, process, "fdinfo", fd) &&
	    drm_usage_read(strbuf_text(&text), &usage) &&
	    strcmp(usage.device, device) == 0 &&
	    !is_known_client(clients, usage.client_id)) {
		clients->ids[clients->count++] = usage.client_id;
		found->used_bytes += usage.vram_bytes;
		found->is_compute = found->is_compute || usage.computes;
	}
	strbuf_release(&text);
}

/* What one process has of the device. */
static struct gpu_process look_at_process(const char *process,
					  const char *device)
{
	char *folder = xasprintf("%s/fdinfo", process);
	struct strlist fds = STRLIST_INIT;
	struct drm_clients clients = { .count = 0 };
	struct gpu_process found = { .used_bytes = 0 };
	char target[VALUE_MAX];

	kernel_folder_names(&fds, folder);
	for (size_t i = 0; i < fds.count; i++) {
		fd_target(target, process, fds.items[i]);
		if (strcmp(target, KFD_DEVICE) == 0)
			found.is_compute = 1;
		else if (strncmp(target, DRM_FOLDER, strlen(DRM_FOLDER)) == 0)
			add_client(process, fds.items[i], device, &clients,
				   &found);
	}
	strlist_release(&fds);
	free(folder);
	return found;
}

static bool is_listed_process(const struct gpu_process *processes, int count,
			      pid_t pid)
{
	for (int i = 0; i < count; i++)
		if (processes[i].pid == pid)
			return true;
	return false;
}

int drm_fdinfo_processes(const char *proc_root, const char *device,
			 struct gpu_process processes[GPU_PROCESSES_MAX],
			 int count)
{
	struct strlist pids = STRLIST_INIT;

	kernel_folder_numbers(&pids, proc_root);
	for (size_t i = 0; i < pids.count && count < GPU_PROCESSES_MAX; i++) {
		char *process = xasprintf("%s/%s", proc_root, pids.items[i]);
		pid_t pid = (pid_t)strtol(pids.items[i], NULL, 10);
		struct gpu_process found = look_at_process(process, device);

		found.pid = pid;
		if (found.used_bytes &&
		    !is_listed_process(processes, count, pid))
			processes[count++] = found;
		free(process);
	}
	strlist_release(&pids);
	return count;
}
