/* One GPU used as a training uses it, by a small process, step by step. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OBSERVERS_SELFTEST_SELFTEST_H
#define AUTOFIT_PROBES_OBSERVERS_SELFTEST_SELFTEST_H

#include "base/error.h"
#include "base/strlist.h"
#include "base/units.h"
#include "probes/observers/gpu/gpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * autofit starts its own program once more, with the preload library in
 * LD_PRELOAD as a probe's command has it, and the word below as its first
 * argument. That process makes a context and one allocation of each kind;
 * under a cap as many blocks as it is granted. After each step it waits, and
 * autofit notes what the driver told it beside what the library counted and
 * what NVML says. Nothing is computed on the GPU, and nothing written to it.
 */
#define SELFTEST_WORD "--gpu-selftest"

/* Of each allocation. */
#define SELFTEST_BLOCK_BYTES (64 * MIB)
/* Under a cap; so many would fill the largest that is ever asked for. */
#define SELFTEST_BLOCKS_MAX 64

enum selftest_kind {
	SELFTEST_LINEAR,  /* cuMemAlloc, by dlsym */
	SELFTEST_LOOKED,  /* the same, by cuGetProcAddress */
	SELFTEST_FORKED,  /* cuMemAlloc, while a copy of the process runs */
	SELFTEST_POOL,    /* cuMemAllocAsync */
	SELFTEST_VIRTUAL, /* cuMemCreate */
	SELFTEST_ARRAY,   /* cuArrayCreate */
	SELFTEST_MANAGED, /* cuMemAllocManaged: counted apart */
	SELFTEST_HOST,    /* cuMemHostAlloc: memory of the host */
	SELFTEST_KINDS,
};

enum selftest_stage {
	SELFTEST_STARTED = 1, /* cuInit has answered */
	SELFTEST_CONTEXT,     /* there is a context, or the driver's answer */
	SELFTEST_TAKEN,       /* one block of a kind */
	SELFTEST_GIVEN,       /* and back */
	SELFTEST_REFUSED,     /* asked for more than the whole GPU */
	SELFTEST_FILLED,      /* under a cap: blocks until one was refused */
	SELFTEST_OVER,        /* the last step */
};

/* The answer of a driver that has no such function. */
#define SELFTEST_NO_FUNCTION UINT32_MAX

/* The process's own words. Hostile, as the driver shares its memory. */
struct selftest_step {
	uint32_t stage;  /* enum selftest_stage */
	uint32_t kind;   /* enum selftest_kind, of TAKEN and GIVEN */
	uint32_t answer; /* the driver's: 0, 2 (out of memory), ... */
	int32_t driver_version;
	int64_t init_us;                  /* how long cuInit took */
	uint64_t asked_bytes;             /* of the last allocation */
	uint64_t granted_bytes;           /* FILLED: of all blocks */
	uint64_t free_bytes, total_bytes; /* cuMemGetInfo; 0: not known */
};

/* One step, and what was seen of it from outside. */
struct selftest_look {
	struct selftest_step step;
	bool is_counted; /* the library is in the process; else all 0: */
	uint64_t device_bytes, managed_peak_bytes, host_peak_bytes;
	uint64_t refused_count, capped_count;
	bool has_outside; /* NVML says what is used of the whole GPU: */
	uint64_t outside_bytes;
};

#define SELFTEST_LOOKS_MAX (2 * SELFTEST_KINDS + 5)

struct selftest {
	size_t count;
	struct selftest_look looks[SELFTEST_LOOKS_MAX];
};

/* What is to be done, and with what. */
struct selftest_plan {
	const struct gpu_device *gpu;
	uint64_t cap_bytes;  /* 0: one of each kind, without a cap */
	bool asks_too_much;  /* without a cap: more than the GPU has as well */
	struct nvml *nvml;   /* NULL: there is none */
	const char *folder;  /* for the page; private to this user */
	const char *library; /* the preload library, as a file */
	/* For each step; and since when the limit of the patience counts. */
	int64_t deadline_ms, started_ms;
	const struct gpu_patience *patience; /* NULL: there is none */
	const struct strlist *environment;   /* of the user */
};

/*
 * 0: the process came to its end. Else negative, with what was seen until
 * then: -ETIMEDOUT, -ETIME and -EINTR as cuda_devices_list, -EIO when the
 * process ended on its own.
 */
int selftest_run(struct selftest *test, const struct selftest_plan *plan,
		 struct error *err);

/* The look after that step; kind counts for TAKEN and GIVEN; NULL: none. */
const struct selftest_look *selftest_find(const struct selftest *test,
					  enum selftest_stage stage,
					  enum selftest_kind kind);

/* "cuMemAlloc"; for the user. */
const char *selftest_kind_name(enum selftest_kind kind);

/* The process itself: its arguments behind the word. Its exit code. */
int selftest_serve(const char *const arguments[], size_t count);

#endif
