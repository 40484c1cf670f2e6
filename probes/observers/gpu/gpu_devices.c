/* The devices of whichever maker there are. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/gpu/gpu.h"

#include "probes/observers/gpu/intel.h"
#include "probes/observers/gpu/kfd.h"

#include <stdlib.h>

#include <unistd.h>

const char *gpu_kind_name(enum gpu_vendor vendor)
{
	static const char *const names[] = {
		[GPU_NVIDIA] = "cuda",
		[GPU_AMD] = "rocm",
		[GPU_INTEL] = "xpu",
	};

	return names[vendor];
}

int gpu_devices_list(struct gpu_device devices[GPU_MAX],
		     const struct gpu_patience *patience, struct error *err)
{
	const struct kfd_roots roots = kfd_roots_here();
	const struct intel_roots intel = intel_roots_here();
	struct strlist environment = STRLIST_INIT;
	struct kfd_visible visible;
	int count = cuda_devices_list(devices, patience, err);

	if (count != 0)
		return count;
	for (char **item = environ; item && *item; item++)
		strlist_add(&environment, *item);
	visible = kfd_visible_of(&environment);
	count = kfd_devices_list(&roots, &visible, devices, err);
	strlist_release(&environment);
	if (count == 0)
		count = intel_devices_list(&intel, getenv("ZE_AFFINITY_MASK"),
					   devices, err);
	return count;
}
