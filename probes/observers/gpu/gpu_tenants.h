/* Who else computes on a GPU, as far as that can be told from here. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OBSERVERS_GPU_GPU_TENANTS_H
#define AUTOFIT_PROBES_OBSERVERS_GPU_GPU_TENANTS_H

#include "probes/observers/gpu/gpu.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * Is there a process of this number here? In a container NVML may give the
 * host's numbers. True for one of another user that /proc hides.
 */
bool gpu_tenant_is_visible(pid_t pid);

/*
 * MPS's server, which the driver starts on behalf of its clients: base load,
 * for its clients are listed as well.
 */
bool gpu_tenant_is_server(pid_t pid);

#define GPU_TENANT_NAME_MAX 32
/* Its command name without the newline, as it is; "" when it cannot be read. */
void gpu_tenant_name(pid_t pid, char name[GPU_TENANT_NAME_MAX]);

#endif
