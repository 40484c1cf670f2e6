/* The simulated devices: one mapped file that all processes share. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_SIM_STATE_H
#define AUTOFIT_TESTS_SIM_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A test fixture, never installed. The environment says what there is; sizes
 * are bytes, or with K, M, G (powers of 1024):
 *
 * AUTOFIT_SIM_STATE=FILE      the shared state; made by whoever comes first,
 *                             then fixed. Without it there is no device.
 * AUTOFIT_SIM_DEVICES="name:total:base_used[:context];..."
 *                             base_used: held by somebody unseen; context:
 *                             charged to a process for each of its contexts.
 * AUTOFIT_SIM_HANGS=FIFO      opened for writing by each process that hangs:
 *                             a reader knows when it does, and when it is gone
 * AUTOFIT_SIM_FAULT=WORDS     separated by commas:
 *     crash, hang, exit       in cuInit
 *     noise                   cuInit writes to stdout and stderr
 *     init=N                  cuInit answers N
 *     mig                     devices are MIG instances, by their UUID
 *     name=crash              in cuDeviceGetName
 *     nvml=missing            nvmlInit_v2 answers "library not found"
 *     init_ms=N               cuInit takes so long
 *     nvml=hang               in nvmlInit_v2
 *     nvml_hang_after=K       in the K-th nvmlDeviceGetMemoryInfo of a process
 *     nvml_ms=N               each call for a device's memory takes so long
 *     nvml=unsupported        memory is not supported, as where it is shared
 *     integrated              the devices have the host's memory
 *     reserved=N              NVML's total has so much more, used by nobody
 *     nvml=old                only the first version of each function works
 *     nvml=wide               processes of _v3 take 32 bytes, as with 535.43
 *     nvml=hidden             no process is listed, as in a container
 *     nvml=host_pids          their pids are another namespace's: these here
 *                             and SIM_HOST_PIDS
 *     module=N                code that is loaded late: charged to a context
 *                             with its first launch
 *     grow=N@K                charged to it once more with its K-th launch
 *     display=PID             a graphics process whose memory is not known
 *     tenant=PID              a compute process on every device, with
 *     tenant_bytes=N          bytes; not known without this word
 *     tenant_on=N             on the N-th device alone, from 0
 *
 * The rest is a script, read at cuInit. Calls are counted from 1 over all
 * processes that use the state file, also those that ended; "allocation" is
 * any call that takes device memory (managed, pool and graph ones too), also
 * one that fails.
 *     fail_alloc=K            allocation K answers 2 (may be given repeatedly)
 *     fail_from=K             all from K on answer 2
 *     fail_over=N             the first of more than N bytes answers 2
 *     random=SEED,RATE        each answers 2 by that chance (0.05), and the
 *                             same thread's next allocation does not
 *     tenant_grows=N@K        with allocation K somebody unseen takes N bytes
 *                             of its device
 *     latency_us=N            each takes so long
 *     oom_launch=K            launch K (kernel or graph) answers 2
 *     oom_host=K              pinned host allocation or registration K does
 *     oom_module=K            module or library K does
 *     oom_function            every function does that is looked up, as
 *                             where code is loaded when it is asked for
 *     oom_context             every new context does
 *     lost=K                  from the K-th allocation or launch on the device
 *                             is lost: 999, for launches and waits 719
 *     only_rank=R             the script and cuInit's words are for the
 *                             process with RANK=R alone, and count its calls
 *     per_process             calls are counted from each process's start
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

/* "GPU-" or "MIG-" and the bytes, as the driver writes them. */
#define SIM_UUID_TEXT_MAX 48
void sim_uuid_text(char text[SIM_UUID_TEXT_MAX], const unsigned char uuid[16]);

#endif
