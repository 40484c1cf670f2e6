/* The verdict of a probe: a pure function of the evidence. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_VERDICT_VERDICT_H
#define AUTOFIT_PROBES_VERDICT_VERDICT_H

#include "base/trial.h"
#include "configs/signatures/signature.h"
#include "probes/verdict/allocations.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WHY_MAX 256
#define NEIGHBOUR_TEXT_MAX 128

enum probe_device { PROBE_HOST, PROBE_CUDA };

/* Why autofit ended the probe; STOP_NONE: it ended by itself. */
enum stop_reason {
	STOP_NONE,
	STOP_ENOUGH,          /* all that was asked of it was seen */
	STOP_OVER_LIMIT,      /* the device's memory */
	STOP_OVER_HOST_LIMIT, /* host memory, while a GPU is tuned */
	STOP_SIGNATURE,       /* it said that it is out of memory */
	STOP_STARTUP_TIMEOUT, /* no sign of life */
	STOP_TIMEOUT,
	STOP_CANCELLED,    /* a signal, the time limit of the session */
	STOP_NEIGHBOUR,    /* others came onto the GPU, or moved on it */
	STOP_MEMORY_TAKEN, /* the machine's memory, by others */
	STOP_SCRATCH_FULL, /* no room where probes write */
};

struct evidence {
	enum probe_device device;
	bool device_used; /* CUDA: the tree was seen on a device */
	bool keeper_lost;
	int exec_errno; /* 0: it was started */
	enum stop_reason stopped;
	bool ended;      /* the command itself ended before it was stopped */
	int wait_status; /* of the command, when ended */
	/* Processes it had started ran on: the work may be theirs. */
	bool left_behind;
	/* First memory line before autofit's own first signal; NULL: none. */
	const struct signature *memory_line;
	/* A report of SIGKILL, a limit that is not memory, a known cause. */
	const struct signature *killed_line, *too_big_line, *cause_line;
	/* Words of a program that found no whole batch in its data, or none at
	 * all; others say the same for other reasons. */
	const struct signature *no_batch_line;
	int64_t foreign_kills; /* deaths by a SIGKILL that was not ours */
	uint64_t oom_kills;    /* the kernel's count rose by this */
	uint64_t peak_bytes, limit_bytes; /* of the device; limit 0: none */
	uint64_t host_peak_bytes, host_limit_bytes;
	uint64_t swap_bytes;
	uint64_t retries_warm_up, retries_later; /* of the allocator */
	/* The driver's refusals, by the preload library; zero: none, or it
	 * was not there. */
	struct allocation_findings allocations;
	/* Out-of-memory errors that torch raised in Python; counts_ooms: the
	 * hook that counts them was in place in a process with torch. */
	uint64_t ooms;
	bool counts_ooms;
	/* Memory whose pages move between host and device, at its peak. */
	uint64_t managed_peak_bytes;
	/* CUDA, and the tree used no device: something else did meanwhile (a
	 * container, another host). */
	bool used_elsewhere;
	/* It divides a pool by itself: its peak is not what it needs. */
	bool is_pool;
	/* The same memory line was printed by a probe of the smallest size that
	 * did its steps: it says nothing. */
	bool text_is_usual;
	/* The memory line is PyTorch's and speaks of fragmentation. */
	bool text_is_fragmented;
	int64_t steps, steps_needed;
	/* How the steps of a smaller size were seen in this session;
	 * STEPS_NONE: there was none that made any. */
	enum steps_source smaller_steps;
	/* What others did on the GPU meanwhile, in words; "": nothing. */
	char neighbour_moved[NEIGHBOUR_TEXT_MAX];
	const char *scratch_full; /* the folder without room; NULL: none */
	bool decided;      /* it had fitted, and ran on to be confirmed */
	bool fits_by_time; /* no step source: long enough without growth */
};

struct judgement {
	enum verdict verdict;
	int rank;          /* the first that ran out of memory; -1: not known */
	char why[WHY_MAX]; /* one line for the user */
};

/* Without evidence of memory a failure is VERDICT_FAILED, never a misfit. */
struct judgement verdict_judge(const struct evidence *evidence);

#endif
