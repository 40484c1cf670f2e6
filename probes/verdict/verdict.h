/* The verdict of a probe: a pure function of the evidence. Pure. */
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
	STOP_RANK_LOST,       /* a rank ended, and the others wait for it */
	STOP_STARTUP_TIMEOUT, /* no sign of life */
	STOP_TIMEOUT,
	STOP_CANCELLED,    /* a signal, the time limit of the tuning */
	STOP_NEIGHBOUR,    /* others came onto the GPU, or moved on it */
	STOP_MEMORY_TAKEN, /* the machine's memory, by others */
	STOP_SCRATCH_FULL, /* no room where probes write */
};

/* How the command ended, and who ended it. */
struct evidence_end {
	enum stop_reason stopped;
	int lost_rank; /* of STOP_RANK_LOST */
	bool keeper_lost;
	int exec_errno;      /* 0: it was started */
	int isolation_errno; /* not 0: autofit failed, the command never ran */
	bool ended;          /* the command itself, before it was stopped */
	int wait_status;     /* of the command, when ended */
	bool left_behind;    /* its processes ran on: the work may be theirs */
	int64_t foreign_kills; /* deaths by a SIGKILL that was not ours */
	uint64_t oom_kills;    /* the kernel's count rose by this */
	int64_t unseen_ranks;  /* of srun, that reported nothing */
};

/* What it printed before autofit's own first signal; NULL: no such line. */
struct evidence_output {
	const struct signature *memory_line; /* the first; not if it is usual */
	const struct signature *killed_line; /* a report of SIGKILL */
	const struct signature *too_big_line; /* a limit that is not memory */
	const struct signature *cause_line;   /* a known cause of failures */
	/* No whole batch in its data, or no data; others say the same for
	 * other reasons. */
	const struct signature *no_batch_line;
	/* A probe of the smallest size printed the same memory line and did
	 * its steps: the line says nothing. */
	bool text_is_usual;
	/* As the memory line says; 0: it does not say how many. */
	uint64_t asked_bytes;
	bool text_is_fragmented; /* PyTorch's words tell of fragmentation */
};

#define EVIDENCE_DEVICE_MAX 48

/* The GPU that took the most, beside the others that were used. */
struct gpu_spread {
	size_t place;                           /* in the list of devices */
	int rank;                               /* negative: not known */
	uint64_t peak_bytes, others_peak_bytes; /* 0: there was no other */
};

struct evidence_gpu {
	bool device_used; /* the tree was seen on a device */
	/* Of the devices it was given, by their place in the list, those that
	 * it was seen on; 0: not known. */
	uint64_t used_places;
	/* One that it was not given, and used; "": none. */
	char foreign_device[EVIDENCE_DEVICE_MAX];
	/* It was not, and something else used one meanwhile: a container, a
	 * process on another host. */
	bool used_elsewhere;
	struct gpu_spread spread;
	bool is_pool; /* it divides a pool by itself: the peak is no need */
	/* The driver's refusals, by the preload library; all zero: there were
	 * none, or the library was not loaded. */
	struct allocation_findings allocations;
	/* Memory whose pages move between host and device, at its peak. */
	uint64_t managed_peak_bytes;
};

/* What others did meanwhile. */
struct evidence_outside {
	char neighbour_moved[NEIGHBOUR_TEXT_MAX]; /* on the GPU; "": nothing */
	const char *scratch_full; /* the folder without room; NULL: none */
};

struct evidence_memory {
	enum probe_device device;
	uint64_t peak_bytes, limit_bytes; /* of the device; limit 0: none */
	uint64_t host_peak_bytes, host_limit_bytes;
	uint64_t swap_bytes;
	/* Host memory is what is tuned: of a GPU nothing was asked. */
	bool is_host_tuning;
	/* The address space is limited: memory is refused at any peak. */
	bool has_address_limit;
	uint64_t retries_warm_up, retries_later; /* of the allocator */
	uint64_t ooms;    /* out-of-memory errors that torch raised in Python */
	bool counts_ooms; /* a process with torch had the hook that counts them
			   */
};

struct evidence_progress {
	int64_t steps, steps_needed;
	/* Backward passes after the first step, where they count as steps do;
	 * 0: they do not. */
	int64_t later_passes;
	/* With those of a confirmation, which it may have run on to. */
	int64_t steps_asked;
	/* At its end a program had made an optimizer that it never stepped. */
	bool never_stepped;
	/* How the steps of a smaller size were seen in this tuning; STEPS_NONE:
	 * no smaller size made any. */
	enum steps_source smaller_steps;
	/* Steps were made when it had ended: by what it left running. */
	bool goes_on;
	bool decided;      /* it had fitted, and ran on to be confirmed */
	bool fits_by_time; /* no step source: long enough without growth */
};

/* Each part is filled in by the file of probes/ that observes it. */
struct evidence {
	struct evidence_end end;
	struct evidence_output output;
	struct evidence_gpu gpu;
	struct evidence_outside outside;
	struct evidence_memory memory;
	struct evidence_progress progress;
};

struct judgement {
	enum verdict verdict;
	int rank;          /* the first that ran out of memory; -1: not known */
	char why[WHY_MAX]; /* one line for the user */
};

/* Without evidence of memory a failure is VERDICT_FAILED, never a misfit. */
struct judgement verdict_judge(const struct evidence *evidence);

#endif
