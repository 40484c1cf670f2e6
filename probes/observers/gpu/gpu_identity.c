/* Which GPUs the kernel drivers know, without loading any library. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/gpu/gpu.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/strlist.h"
#include "probes/observers/gpu/kernel_files.h"

#include <stdlib.h>
#include <string.h>

int gpu_identities(const char *proc_root, struct gpu_device devices[GPU_MAX])
{
	char *folder = xasprintf("%s/driver/nvidia/gpus", proc_root);
	struct strlist names = STRLIST_INIT;
	struct strbuf text = STRBUF_INIT;
	int count = 0;

	kernel_folder_names(&names, folder);
	for (size_t i = 0; i < names.count && count < GPU_MAX; i++) {
		struct gpu_device *device = &devices[count];

		memset(device, 0, sizeof(*device));
		if (!kernel_file_read(&text, folder, names.items[i],
				      "information"))
			continue;
		if (!kernel_line_value(device->name, sizeof(device->name),
				       strbuf_text(&text), "Model:"))
			continue;
		/* A GPU nobody initialised yet has a UUID of '?'. */
		if (!kernel_line_value(device->uuid, sizeof(device->uuid),
				       strbuf_text(&text), "GPU UUID:") ||
		    strchr(device->uuid, '?'))
			device->uuid[0] = '\0';
		device->index = count++;
	}
	strbuf_release(&text);
	strlist_release(&names);
	free(folder);
	return count;
}
