/* GPUs: what there is, what is free, who uses it. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OBSERVERS_GPU_GPU_H
#define AUTOFIT_PROBES_OBSERVERS_GPU_GPU_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Ranks, identity, budget, tenants and the reuse of records all ask here, so
 * that they speak of the same cards. The driver is only ever asked in child
 * processes, for it may hang, crash, or print: a short-lived one makes the list
 * (cuda_devices_list), another reads NVML as long as it is wanted (nvml_open).
 */
#define GPU_MAX 64
#define GPU_PROCESSES_MAX 256
#define GPU_UUID_MAX 80

/* Where the bytes that are free on a device are known from. */
enum gpu_free_source {
	GPU_FREE_UNKNOWN,
	GPU_FREE_NVML,
	GPU_FREE_DRIVER, /* cuMemGetInfo, beside a context of our own */
	GPU_FREE_KERNEL, /* AMD, Intel: the kernel's files */
};

/* Whose runtime a program uses there; PyTorch calls the first two "cuda". */
enum gpu_vendor { GPU_NVIDIA, GPU_AMD, GPU_INTEL };

/* "cuda", "rocm", "xpu": as JSON calls its devices. */
const char *gpu_kind_name(enum gpu_vendor vendor);

struct gpu_device {
	enum gpu_vendor vendor;
	char uuid[GPU_UUID_MAX]; /* "GPU-...", "MIG-...", "INTEL-..." */
	char name[96];
	int index; /* ordinal under the user's own CUDA_VISIBLE_DEVICES */
	uint64_t total_bytes;    /* by the driver API: what a program can see */
	uint64_t free_bytes;     /* at most that; 0 when not known */
	uint64_t board_bytes;    /* by NVML: what the driver keeps counts too */
	uint64_t reserved_bytes; /* by NVML: what the driver keeps */
	enum gpu_free_source free_source;
	bool is_integrated; /* its memory is the host's */
	bool is_mig;        /* a slice of a card */
};

/* For how long a list is worth waiting, beyond the driver's own 90 s. */
struct gpu_patience {
	/* A signal that waits, or 0; NULL: signals strike by themselves. */
	int (*interrupted)(void);
	int64_t limit_ms; /* of the whole tuning; 0: none */
};

/*
 * The devices the command will see (CUDA_VISIBLE_DEVICES holds), by the driver
 * API in a short-lived child, with their memory by NVML or else by the driver.
 * A driver that takes more than 3 s is told about. Returns their number, 0
 * when there is no driver or no device; -ETIMEDOUT after 90 s, -ETIME at the
 * limit of the patience (NULL: there is none), -EINTR when that says so,
 * another negative errno when the driver is broken.
 */
int cuda_devices_list(struct gpu_device devices[GPU_MAX],
		      const struct gpu_patience *patience, struct error *err);

/* The same, or where there is none AMD's devices or else Intel's, which the
 * kernel tells (kfd.h, intel.h); -EIO: there is one, and its memory is not
 * told. */
int gpu_devices_list(struct gpu_device devices[GPU_MAX],
		     const struct gpu_patience *patience, struct error *err);

/* By NVML, of a whole device. */
struct gpu_memory {
	uint64_t total_bytes, free_bytes, reserved_bytes;
};

struct gpu_process {
	uint64_t used_bytes; /* 0: the driver does not say */
	pid_t pid;
	int is_compute; /* 0: graphics only, counts as base load */
};

#define GPU_PROBLEM_MAX 200

/* One device at one look of NVML. */
struct gpu_look {
	char uuid[GPU_UUID_MAX];
	bool has_memory;
	int process_count; /* -1: not known */
	struct gpu_memory memory;
	struct gpu_process processes[GPU_PROCESSES_MAX];
	char problem[GPU_PROBLEM_MAX]; /* what is missing and why, or "" */
};

/* NVML, asked in a process of its own that may hang or die. Of AMD's and
 * Intel's devices that process reads the kernel's files. */
struct nvml;

/*
 * For these devices, whose UUIDs it copies. nvml_prepare starts no process yet;
 * nvml_open has a first look, for which a driver that nobody else uses starts
 * all its GPUs: -ENOENT when there is no NVML, -ETIMEDOUT, -ETIME and -EINTR as
 * above. The caller closes.
 */
int nvml_prepare(struct nvml **nvml, const struct gpu_device *devices,
		 size_t count, struct error *err);
int nvml_open(struct nvml **nvml, const struct gpu_device *devices,
	      size_t count, const struct gpu_patience *patience,
	      struct error *err);
void nvml_close(struct nvml *nvml);

/*
 * Look at all the devices anew. Waits for a second at most; one that takes
 * longer is not waited for again before it came (-EAGAIN), and a slow one is
 * asked less often, so that four fifths of the caller's time are its own. Until
 * the next look that succeeds nothing is known of any device.
 */
int nvml_look(struct nvml *nvml, struct error *err);

/* The same, also where a slow one was just asked: for the look before a probe,
 * without which all who are there already would be newcomers. */
int nvml_look_anyway(struct nvml *nvml, struct error *err);

/* The device at the last look, which succeeded; NULL: not known. */
const struct gpu_look *nvml_seen(const struct nvml *nvml, const char *uuid);

/*
 * The same in steps, for who has more to wait for: ask, and take the answer
 * once the descriptor is readable (-1: nothing was asked). -EIO when the
 * process died, of what the driver does in it; the next asking starts another.
 */
int nvml_ask(struct nvml *nvml, struct error *err);
int nvml_fd(const struct nvml *nvml);
int nvml_take(struct nvml *nvml, struct error *err);

/* Device names and UUIDs from /proc/driver/nvidia, without any library: what
 * a record's identity rests on. proc_root is "/proc" but in tests. */
int gpu_identities(const char *proc_root, struct gpu_device devices[GPU_MAX]);

#endif
