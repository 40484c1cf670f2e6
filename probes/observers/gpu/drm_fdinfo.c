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
#define VALUE_MAX 32
/* Of one process on one device: each a context of its own. */
#define DRM_CLIENTS_MAX 64

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
	/* The first is older; both tell what is in the device's memory now. */
	usage->vram_bytes = bytes_max(usage_bytes(text, "drm-memory-vram:"),
				      usage_bytes(text, "drm-resident-vram:"));
	return true;
}

/* Is the descriptor of a graphics device? Others are not read. */
static bool is_of_drm(const char *process, const char *fd)
{
	char *path = xasprintf("%s/fd/%s", process, fd);
	char target[sizeof(DRM_FOLDER)];
	ssize_t length = readlink(path, target, sizeof(target) - 1);

	free(path);
	return length == (ssize_t)sizeof(target) - 1 &&
	       memcmp(target, DRM_FOLDER, sizeof(target) - 1) == 0;
}

static bool is_known_client(const uint64_t clients[DRM_CLIENTS_MAX],
			    size_t count, uint64_t client)
{
	for (size_t i = 0; i < count; i++)
		if (clients[i] == client)
			return true;
	return false;
}

/* What one process has of the device: of each client once. */
static uint64_t drm_process_bytes(const char *process, const char *device)
{
	char *folder = xasprintf("%s/fdinfo", process);
	struct strlist fds = STRLIST_INIT;
	struct strbuf text = STRBUF_INIT;
	uint64_t clients[DRM_CLIENTS_MAX];
	size_t count = 0;
	uint64_t bytes = 0;
	struct drm_usage usage;

	kernel_folder_names(&fds, folder);
	for (size_t i = 0; i < fds.count && count < DRM_CLIENTS_MAX; i++) {
		if (!is_of_drm(process, fds.items[i]) ||
		    !kernel_file_read(&text, process, "fdinfo", fds.items[i]) ||
		    !drm_usage_read(strbuf_text(&text), &usage) ||
		    strcmp(usage.device, device) != 0 ||
		    is_known_client(clients, count, usage.client_id))
			continue;
		clients[count++] = usage.client_id;
		bytes += usage.vram_bytes;
	}
	strbuf_release(&text);
	strlist_release(&fds);
	free(folder);
	return bytes;
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
		uint64_t bytes = is_listed_process(processes, count, pid)
					 ? 0
					 : drm_process_bytes(process, device);

		if (bytes)
			processes[count++] = (struct gpu_process){
				.used_bytes = bytes,
				.pid = pid,
				.is_compute = 1,
			};
		free(process);
	}
	strlist_release(&pids);
	return count;
}
