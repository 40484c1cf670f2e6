/* Whether the preload library is in a process that uses the driver. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/gpu/preload.h"

#include "probes/observers/host/host_process.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* Twice the kernel's vm.max_map_count. */
#define MAPPINGS_MAX 131072

/* "7f00-7f10 r-xp 00000000 08:01 42    /usr/lib/libcuda.so.1" */
static bool maps_file(const char *line, const char *start)
{
	const char *slash = strrchr(line, '/');

	return slash && strncmp(slash + 1, start, strlen(start)) == 0;
}

enum preload_presence preload_presence(const char *proc_root, pid_t pid)
{
	struct host_lines lines;
	const char *line;
	char path[128];
	bool has_driver = false;
	bool has_library = false;
	int length = snprintf(path, sizeof(path), "%s/%ld/maps", proc_root,
			      (long)pid);

	if (length < 0 || (size_t)length >= sizeof(path) ||
	    host_lines_open(&lines, AT_FDCWD, path) < 0)
		return PRELOAD_NO_DRIVER;
	for (int i = 0; i < MAPPINGS_MAX && !(has_driver && has_library); i++) {
		line = host_lines_next(&lines);
		if (!line)
			break;
		has_driver |= maps_file(line, "libcuda.so");
		has_library |= maps_file(line, "libautofit_preload.so");
	}
	host_lines_close(&lines);
	if (!has_driver)
		return PRELOAD_NO_DRIVER;
	return has_library ? PRELOAD_HOOKED : PRELOAD_BYPASSED;
}
