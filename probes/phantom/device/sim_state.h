/* The simulated devices: one mapped file that all processes share. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PHANTOM_DEVICE_SIM_STATE_H
#define AUTOFIT_PROBES_PHANTOM_DEVICE_SIM_STATE_H

#include "probes/phantom/device/sim_notes.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Memory is accounting here. A probe on a phantom card loads these libraries,
 * and so do the tests. The environment says what there is; sizes are bytes, or
 * with K, M, G (powers of 1024):
 *
 * AUTOFIT_SIM_STATE=FILE      the shared state; made by whoever comes first,
 *                             then fixed. Without it there is no device.
 * AUTOFIT_SIM_SERIAL=HEX      32 bits of each UUID; 0
 * AUTOFIT_SIM_DEVICES="name:total:base_used[:context];..."
 *                             base_used: held by somebody unseen; context:
 *                             charged to a process for each of its contexts.
 *                             Behind it may stand ":8.9:128", the compute
 *                             capability and the multiprocessors.
 */
#define SIM_DEVICES 16
#define SIM_PROCESSES 128
#define SIM_USAGES 256
#define SIM_NAME_MAX 64
/* More than any kernel counts to: what is beyond is no process here. */
#define SIM_HOST_PIDS 5000000
/* What cuMemAlloc rounds up to. */
#define SIM_GRANULARITY (UINT64_C(2) << 20)

struct sim_device {
	char name[SIM_NAME_MAX];
	unsigned char uuid[16];
	uint64_t total_bytes;
	uint64_t base_bytes;
	uint64_t context_bytes;
	int major, minor; /* compute capability; 0: 9.0 */
	int multiprocessors;
};

/* Calls that the script counts. */
struct sim_counts {
	uint64_t allocations, launches, host_allocations, modules;
	uint64_t calls;     /* allocations and launches */
	uint64_t over_done; /* fail_over had its allocation */
};

struct sim_process {
	int32_t pid; /* 0: free slot */
	uint64_t start_time;
	uint64_t used_bytes[SIM_DEVICES];
	uint32_t contexts[SIM_DEVICES]; /* live ones */
	struct sim_counts counts;
};

struct sim_state {
	pthread_mutex_t lock; /* robust and shared by processes */
	uint32_t device_count;
	struct sim_device devices[SIM_DEVICES];
	struct sim_process processes[SIM_PROCESSES];
	struct sim_counts counts;
	/* Of all processes, also those that ended; the last one is shared by
	 * those for whom there was no room. */
	struct sim_usage usages[SIM_USAGES];
	struct sim_note notes[SIM_NOTE_KINDS];
};

/*
 * The state with its lock held and the memory of dead processes released, as
 * the real driver does when a process ends. NULL: there is no device.
 */
struct sim_state *sim_lock(void);
/* The same, and the dead stay until sim_release_dead: where it is not seen. */
struct sim_state *sim_lock_quick(void);
void sim_unlock(struct sim_state *state);

/* Under the lock. */
void sim_release_dead(struct sim_state *state);
/* The slot of this process, made if need be; NULL: full. */
struct sim_process *sim_self(struct sim_state *state);
uint64_t sim_free_bytes(const struct sim_state *state, uint32_t device);

/*
 * The process takes so many bytes of a device, or gives them back. False: there
 * are not so many. is_context: they are a context's.
 */
bool sim_take(struct sim_state *state, struct sim_process *self,
	      uint32_t device, uint64_t bytes, bool is_context);
void sim_give(struct sim_state *state, struct sim_process *self,
	      uint32_t device, uint64_t bytes);

/* "20M": the bytes; end may be NULL. */
uint64_t sim_size(const char *text, char **end);

/* "GPU-" or "MIG-" and the bytes, as the driver writes them. */
#define SIM_UUID_TEXT_MAX 48
void sim_uuid_text(char text[SIM_UUID_TEXT_MAX], const unsigned char uuid[16]);

#endif
