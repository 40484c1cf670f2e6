/* Who else computes on a GPU, as far as that can be told from here. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/gpu/gpu_tenants.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool gpu_tenant_is_visible(pid_t pid)
{
	return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
}

void gpu_tenant_name(pid_t pid, char name[GPU_TENANT_NAME_MAX])
{
	char path[32];
	ssize_t length = 0;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		length = read(fd, name, GPU_TENANT_NAME_MAX - 1);
		(void)close(fd);
	}
	name[length > 0 ? length : 0] = '\0';
	/* The kernel ends it with one; it may hold others. */
	length = (ssize_t)strlen(name);
	if (length > 0 && name[length - 1] == '\n')
		name[length - 1] = '\0';
}

bool gpu_tenant_is_server(pid_t pid)
{
	/* nvidia-cuda-mps-server, cut to 15 bytes by the kernel */
	static const char server[] = "nvidia-cuda-mps";
	char name[GPU_TENANT_NAME_MAX];

	gpu_tenant_name(pid, name);
	return strcmp(name, server) == 0;
}
