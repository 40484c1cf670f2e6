/* What one process of the simulated driver hands to another. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PHANTOM_DEVICE_SIM_SHARE_H
#define AUTOFIT_PROBES_PHANTOM_DEVICE_SIM_SHARE_H

#include "probes/phantom/device/sim_objects.h"

struct sim_shared {
	uint64_t magic; /* set by who shares it */
	uint32_t kind;  /* enum sim_object_kind, or SIM_SHARED_POINTER */
	uint32_t device;
	uint64_t bytes, address;
	int32_t pid;
};
#define SIM_SHARED_POINTER 1000
#define SIM_SHARED_BYTES 64

/* By handle type: a descriptor (1) or 64 bytes (8); else INVALID_VALUE. */
int sim_share(void *target, int type, const struct sim_shared *what);
/* what->kind says which kind is asked for; the descriptor is its number. */
int sim_take_shared(const void *source, int type, struct sim_shared *what);

/* As 64 bytes. */
void sim_share_bytes(void *target, const struct sim_shared *what);
bool sim_take_bytes(const void *source, struct sim_shared *what);

#endif
