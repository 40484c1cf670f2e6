/* The GPUs a command would see, and what is free on them: no CUDA driver. */
/* SPDX-License-Identifier: MIT */
#include "launcher/request/visible_gpus.h"

#include "base/alloc.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

/* An entry is an index, or the beginning of a UUID. */
static int find(const struct gpu_device *all, int count, const char *entry)
{
	int64_t index;

	if (integer_parse(entry, &index, NULL) == 0)
		return index >= 0 && index < count ? (int)index : -1;
	for (int i = 0; i < count; i++)
		if (*entry && strncmp(all[i].uuid, entry, strlen(entry)) == 0)
			return i;
	return -1;
}

int visible_gpus_find(struct gpu_device gpus[GPU_MAX],
		      const struct strlist *environment, int cuda_index)
{
	const char *list = strlist_env_get(environment, "CUDA_VISIBLE_DEVICES");
	struct gpu_device all[GPU_MAX];
	int count = gpu_identities("/proc", all);
	int used = 0;

	for (int i = 0; !list && i < count; i++)
		gpus[used++] = all[i];
	while (list && *list && used < GPU_MAX) {
		size_t length = strcspn(list, ",");
		char *entry = xstrndup(list, length);
		int found = find(all, count, entry);

		free(entry);
		/* As CUDA does: what follows a wrong entry is not seen. */
		if (found < 0)
			break;
		gpus[used++] = all[found];
		list += length;
		list += *list == ',';
	}
	if (cuda_index < 0)
		return used;
	if (cuda_index >= used)
		return 0;
	gpus[0] = gpus[cuda_index];
	return 1;
}

uint64_t visible_gpus_free_bytes(const struct gpu_device *gpus, int count)
{
	uint64_t least = UINT64_MAX;
	struct nvml *nvml;

	if (count == 0 || nvml_open(&nvml, NULL) < 0)
		return least;
	for (int i = 0; i < count; i++) {
		uint64_t total;
		uint64_t free_bytes;

		if (gpus[i].uuid[0] &&
		    nvml_memory(nvml, gpus[i].uuid, &total, &free_bytes,
				NULL) == 0 &&
		    free_bytes < least)
			least = free_bytes;
	}
	nvml_close(nvml);
	return least;
}
