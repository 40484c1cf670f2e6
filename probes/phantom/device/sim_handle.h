/* Physical memory of the simulated driver, as virtual memory maps it. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PHANTOM_DEVICE_SIM_HANDLE_H
#define AUTOFIT_PROBES_PHANTOM_DEVICE_SIM_HANDLE_H

#include "probes/phantom/device/sim_objects.h"

struct sim_location {
	int type, id;
};

struct sim_properties {
	int type, handle_types;
	struct sim_location location;
	void *security;
	unsigned char flags[8];
};

/* Physical memory: it is freed when no reference and no mapping is left. */
struct sim_handle {
	struct sim_object object;
	struct sim_properties properties;
	uint64_t bytes, charged_bytes;
	uint32_t device;
	uint64_t references, mappings;
};

/* For who entered. */
struct sim_handle *sim_handle_find(uint64_t number);
void sim_handle_free_unused(struct sim_handle *handle);

#endif
