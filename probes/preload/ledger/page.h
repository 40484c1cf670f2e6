/* The page that the preload library writes and autofit reads; one per probe. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PRELOAD_LEDGER_PAGE_H
#define AUTOFIT_PROBES_PRELOAD_LEDGER_PAGE_H

#include <stdint.h>

/*
 * The second part of the channel's file (probes/channel/channel.h), from
 * PRELOAD_PAGE_OFFSET on: little-endian as the machine, fixed size. autofit
 * writes the header and the known devices before the probe starts, and from
 * then on only reads; the library maps it shared in every process that makes a
 * CUDA call. All counters are stored and read whole (aligned 64 bits, atomic);
 * every "peak" only rises. Nothing of it is trusted by autofit.
 *
 * Bytes are those a program asked the driver for (pools: what they hold from
 * it). What the driver rounds up and takes for itself (contexts, code, local
 * memory) is in none of them: see probes/verdict/reconcile.h.
 */
#define PRELOAD_PAGE_OFFSET 40960
#define PRELOAD_MAGIC UINT64_C(0x4d544946545541) /* "AUTFITM" */
#define PRELOAD_VERSION 1
#define PRELOAD_DEVICES 16
#define PRELOAD_SLOTS 128
#define PRELOAD_EVENTS 256

/* Environment of the library: the file, and a descriptor of the same file for
 * processes that do not see the path; "0" in the third switches it off. */
#define PRELOAD_PATH_VARIABLE "AUTOFIT_CHANNEL"
#define PRELOAD_FD_VARIABLE "AUTOFIT_CHANNEL_FD"
#define PRELOAD_SWITCH_VARIABLE "AUTOFIT_HOOK"

struct preload_header {
	uint64_t magic;
	uint32_t version;
	uint32_t slots;       /* PRELOAD_SLOTS */
	uint64_t size;        /* sizeof(struct preload_page) */
	uint64_t event_count; /* all so far; number n is in events[n % size] */
	uint32_t slots_used;  /* none beyond was ever claimed */
	uint32_t devices_used;
	/* Raised before and after every change of any byte count. */
	uint64_t changes;
	uint64_t reserved[2];
};

enum preload_device_state {
	PRELOAD_DEVICE_FREE,
	PRELOAD_DEVICE_CLAIMED, /* uuid is being written */
	PRELOAD_DEVICE_READY,
};

/* One device, all processes together. */
struct preload_device {
	unsigned char uuid[16]; /* as the driver API gives it; MIG: its own */
	uint32_t state;         /* enum preload_device_state */
	uint32_t reserved;
	/* By autofit, before the start. cap 0: none. See cap.h. */
	uint64_t cap_bytes;
	uint64_t baseline_bytes; /* used by others, by the system */
	/* By the library. */
	uint64_t current_bytes;      /* now, of live processes */
	uint64_t peak_bytes;         /* largest current - pending bytes */
	uint64_t managed_peak_bytes; /* apart: its pages move */
	/* With a cap only: used - baseline - current_bytes, at the last
	 * moment when nothing else was under way. */
	uint64_t overhead_bytes;
	uint64_t managed_bytes;
	uint64_t total_bytes; /* real, of the device; 0: not asked */
	uint64_t reserved2[3];
};

/* One process on one device. */
struct preload_use {
	uint64_t current_bytes, peak_bytes;
	uint64_t managed_bytes;
	uint64_t pool_bytes;    /* within current_bytes: pools and graphs */
	uint64_t largest_bytes; /* of one allocation, before any launch */
	uint64_t pending_bytes; /* within current_bytes: not yet granted */
	uint32_t contexts;      /* ever made */
	uint32_t reserved;
};

enum preload_slot_flag {
	PRELOAD_CUDA = 1,    /* made a call of the driver API */
	PRELOAD_CONTEXT = 2, /* has or had a context: it used a device */
	PRELOAD_NVML = 4,    /* asked NVML for the memory of a device */
	PRELOAD_CROWDED = 8, /* a table was full: some bytes are not counted */
};

/* A slot belongs to (pid, start_time); pid 0 is free, and written last. */
struct preload_slot {
	uint32_t pid;
	uint32_t flags;      /* enum preload_slot_flag */
	uint64_t start_time; /* field 22 of /proc/<pid>/stat */
	int32_t rank;        /* RANK, or as other launchers call it; -1 */
	uint32_t busy;       /* calls that change bytes, under way */
	uint64_t allocations, frees; /* calls that succeeded */
	uint64_t launches;           /* kernels and graphs */
	uint64_t synchronizations;   /* of streams, events, contexts */
	uint64_t to_device_bytes, to_host_bytes;
	uint64_t host_bytes, host_peak_bytes; /* pinned */
	uint64_t failed_device, failed_host; /* allocations that were refused */
	uint64_t recovered; /* refused, then granted on the same thread */
	uint64_t capped;    /* refused by the cap, within failed_device */
	uint64_t reserved;
	struct preload_use devices[PRELOAD_DEVICES];
};

/* What a refused call may be; names in preload_call_name(). */
enum preload_call {
	PRELOAD_CALL_NONE,
	PRELOAD_CALL_LINEAR,  /* cuMemAlloc, cuMemAllocPitch */
	PRELOAD_CALL_MANAGED, /* cuMemAllocManaged */
	PRELOAD_CALL_ASYNC,   /* cuMemAllocAsync, cuMemAllocFromPoolAsync */
	PRELOAD_CALL_VIRTUAL, /* cuMemCreate, cuMemMap, cuMemSetAccess */
	PRELOAD_CALL_ARRAY,   /* cuArrayCreate and its kin */
	PRELOAD_CALL_GRAPH, /* cuGraphInstantiate, -Upload, -AddMemAllocNode */
	PRELOAD_CALL_HOST,  /* cuMemHostAlloc, -Register: host memory */
	PRELOAD_CALL_CONTEXT, /* cuCtxCreate, cuDevicePrimaryCtxRetain */
	PRELOAD_CALL_MODULE,  /* cuModuleLoad, cuLibraryLoad */
	PRELOAD_CALL_LAUNCH,  /* cuLaunchKernel and its kin, cuGraphLaunch */
	PRELOAD_CALL_OTHER,   /* cuStreamCreate, cuCtxSetLimit */
	PRELOAD_CALL_COUNT,
};

enum preload_event_kind {
	PRELOAD_EVENT_NONE,
	PRELOAD_EVENT_REFUSED,   /* answered CUDA_ERROR_OUT_OF_MEMORY */
	PRELOAD_EVENT_RECOVERED, /* the thread's first grant after a refusal */
	/* After a refusal the thread's next allocation call was none: it asked
	 * how much is free, as PyTorch does to compose its message. */
	PRELOAD_EVENT_ASKED_FREE,
};

struct preload_event {
	uint64_t number; /* n + 1; written last; 0: being written */
	uint64_t ns;     /* CLOCK_MONOTONIC */
	uint64_t bytes;  /* asked for; 0: not known */
	uint64_t free_bytes, total_bytes; /* of the device then; 0: not known */
	uint64_t launches;                /* of the process until then */
	uint32_t pid, tid;
	uint16_t kind, call; /* enum preload_event_kind, enum preload_call */
	uint16_t device;     /* index into devices; 0xffff: none */
	uint16_t reserved;
};

struct preload_page {
	struct preload_header header;
	struct preload_device devices[PRELOAD_DEVICES];
	struct preload_event events[PRELOAD_EVENTS];
	struct preload_slot slots[PRELOAD_SLOTS];
};

_Static_assert(sizeof(struct preload_header) == 64, "layout");
_Static_assert(sizeof(struct preload_device) == 112, "layout");
_Static_assert(sizeof(struct preload_event) == 64, "layout");
_Static_assert(sizeof(struct preload_use) == 56, "layout");
_Static_assert(sizeof(struct preload_slot) == 128 + PRELOAD_DEVICES * 56,
	       "layout");

#endif
