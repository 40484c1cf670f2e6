/* Readings of the preload library: exact, per device. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OBSERVERS_GPU_PRELOAD_H
#define AUTOFIT_PROBES_OBSERVERS_GPU_PRELOAD_H

#include "base/error.h"
#include "probes/preload/ledger/page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A device that the probe may use, told to the library before the start. */
struct preload_target {
	const char *uuid;        /* "GPU-..." or "MIG-..." */
	uint64_t cap_bytes;      /* 0: none */
	uint64_t baseline_bytes; /* used before the probe */
};

/*
 * Write the empty page behind the channel in the file of descriptor fd, its
 * blocks allocated. A uuid that is no uuid is left out. 0, -errno with err.
 */
int preload_page_write(int fd, const struct preload_target *targets,
		       size_t count, struct error *err);

/*
 * Write the library into folder, which is absolute; path receives its own,
 * which the caller frees. -ENOEXEC: nothing can be loaded from that folder; err
 * says why, and nothing was written.
 */
int preload_library_write(const char *folder, char **path, struct error *err);

struct preload_device_reading {
	unsigned char uuid[16];
	uint64_t current_bytes, peak_bytes, managed_peak_bytes;
	uint64_t total_bytes;    /* 0: not known */
	uint64_t overhead_bytes; /* with a cap: see page.h; 0: not known */
	uint64_t largest_bytes;  /* of one allocation of any process, made
				  * before it launched a kernel */
	int rank; /* whose memory it is; negative: of none, or of several */
	size_t holders; /* living processes that hold bytes of it */
};

struct preload_process {
	pid_t pid;
	uint32_t flags; /* enum preload_slot_flag; known bits only */
	int rank;       /* -1: not known */
	uint64_t launches;
};

/* All zero: nothing was seen. About 40 KiB: not for the stack. */
struct preload_reading {
	bool is_there;   /* the page is one, and some process opened it */
	bool is_quiet;   /* no byte count changed while it was read */
	bool is_crowded; /* some bytes were not counted, somewhere */
	size_t process_count;
	struct preload_process processes[PRELOAD_SLOTS];
	size_t holders; /* of them, living ones that hold bytes of a device */
	size_t device_count;
	struct preload_device_reading devices[PRELOAD_DEVICES];
	uint64_t launches, allocations, frees, synchronizations;
	uint64_t failed_device, failed_host, recovered, capped;
	uint64_t host_peak_bytes; /* pinned, of one process */
	/* The last events, oldest first; lost: how many older ones there were.
	 */
	size_t event_count;
	struct preload_event events[PRELOAD_EVENTS];
	uint64_t events_lost;
};

/*
 * By descriptor, never mapped (see channel.h). Never fails: what is missing,
 * torn or absurd counts as nothing; counts are bounded; events that were being
 * written are left out; times are never in the future.
 */
void preload_read(int fd, struct preload_reading *reading);

/* The device of this uuid text in it, or NULL. */
const struct preload_device_reading *
preload_device(const struct preload_reading *reading, const char *uuid);

/* The process in it, or NULL. */
const struct preload_process *
preload_process(const struct preload_reading *reading, pid_t pid);

/* "GPU-..." or "MIG-..." into its 16 bytes; -EINVAL. */
int preload_uuid_parse(unsigned char bytes[16], const char *text);

/* "cuMemAlloc", "cuMemCreate": as shown to the user; "a call" when absurd. */
const char *preload_call_name(uint16_t call);

/*
 * How a process reaches the driver, by its /proc/<pid>/maps: bypassed means
 * that libcuda is mapped in it and the library is not (sudo, a static program,
 * an environment that was wiped).
 */
enum preload_presence {
	PRELOAD_NO_DRIVER,
	PRELOAD_HOOKED,
	PRELOAD_BYPASSED,
};
enum preload_presence preload_presence(const char *proc_root, pid_t pid);

#endif
