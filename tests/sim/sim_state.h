/* The simulated devices: one mapped file that all processes share. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_SIM_STATE_H
#define AUTOFIT_TESTS_SIM_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A test fixture, never installed. The environment says what there is:
 *
 * AUTOFIT_SIM_STATE=FILE      the shared state; made by whoever comes first,
 *                             then fixed. Without it there is no device.
 * AUTOFIT_SIM_DEVICES="name:total:base_used[:context];..."
 *                             sizes in bytes or with K, M, G (powers of 1024);
 *                             base_used: held by somebody unseen; context:
 *                             charged to a process with its first context.
 * AUTOFIT_SIM_FAULT=WORDS     separated by commas, read at each start:
 *     crash, hang, exit       in cuInit
 *     noise                   cuInit writes to stdout and stderr
 *     init=N                  cuInit answers N
 *     mig                     devices are MIG instances, by their UUID
 *     name=crash              in cuDeviceGetName
 *     nvml=missing            nvmlInit_v2 answers "library not found"
 *     nvml=hang               in nvmlInit_v2
 *     nvml=old                only the first version of each function works
 *     nvml=wide               processes of _v3 take 32 bytes, as with 535.43
 *     nvml=hidden             no process is listed, as in a container
 *     nvml=host_pids          their pids are another namespace's: these here
 *                             and SIM_HOST_PIDS
 *     display=PID             a graphics process whose memory is not known
 *     tenant=PID              a compute process on every device, with
 *     tenant_bytes=N          bytes; not known without this word
 */
#define SIM_DEVICES 16
#define SIM_PROCESSES 128
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
};

struct sim_process {
	int32_t pid; /* 0: free slot */
	uint64_t start_time;
	uint64_t used_bytes[SIM_DEVICES];
	uint32_t contexts[SIM_DEVICES]; /* how often retained */
};

struct sim_state {
	pthread_mutex_t lock; /* robust and shared by processes */
	uint32_t device_count;
	struct sim_device devices[SIM_DEVICES];
	struct sim_process processes[SIM_PROCESSES];
};

/*
 * The state with its lock held and the memory of dead processes released, as
 * the real driver does when a process ends. NULL: there is no device.
 */
struct sim_state *sim_lock(void);
void sim_unlock(struct sim_state *state);

/* Under the lock. The slot of this process, made if need be; NULL: full. */
struct sim_process *sim_self(struct sim_state *state);
uint64_t sim_free_bytes(const struct sim_state *state, uint32_t device);

/* A word of AUTOFIT_SIM_FAULT: "hang", or "init=" with its number. */
bool sim_fault(const char *word);
bool sim_fault_number(const char *key, uint64_t *number);
/* For ever, until a signal ends the process. */
void sim_hang(void);

/* "GPU-" and the bytes, as the driver writes them. */
#define SIM_UUID_TEXT_MAX 48
void sim_uuid_text(char text[SIM_UUID_TEXT_MAX], const unsigned char uuid[16]);

#endif
