/* A memory pool of the simulated driver. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PHANTOM_DEVICE_SIM_POOL_H
#define AUTOFIT_PROBES_PHANTOM_DEVICE_SIM_POOL_H

#include "probes/phantom/device/sim_objects.h"

struct sim_pool {
	struct sim_object object;
	struct sim_pool *next;
	uint32_t device;
	bool is_charged;    /* not imported, not of host or managed memory */
	bool is_dead;       /* destroyed; some of its memory is in use */
	uint64_t max_bytes; /* 0: no limit */
	uint64_t threshold; /* a wait leaves it so much */
	uint64_t reserved, reserved_high;
	uint64_t used, used_high;
	int reuse[3];
};

/* All of it for who entered. NULL: no room. */
struct sim_pool *sim_pool_make(uint32_t device, bool is_charged);
struct sim_pool *sim_pool_default(uint32_t device);
struct sim_pool *sim_pool_current(uint32_t device);
void sim_pool_set_current(uint32_t device, struct sim_pool *pool);
void sim_pool_trim(struct sim_pool *pool, uint64_t keep_bytes);
void sim_pool_destroy(struct sim_pool *pool);

#endif
