/* Tells refused allocations apart: retried, caught, or the end. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_VERDICT_ALLOCATIONS_H
#define AUTOFIT_PROBES_VERDICT_ALLOCATIONS_H

#include "probes/observers/gpu/preload.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Per thread, in the order of time:
 *   refused, granted            retried with success (PyTorch frees its cache)
 *   refused.., asked for free   raised: PyTorch composes its message
 *   refused..                   raised, if that process did nothing after it
 *   refused in a call that no allocator repeats (context, module, launch,
 *   graph, stream)              raised
 * A raise after which the process launched more than a handful of kernels, or
 * was granted memory, was survived: it lived on, and another failure is none
 * of memory (cuDNN tries algorithms; a script halves its batch).
 */
enum allocation_end {
	ALLOCATIONS_NONE,     /* none refused */
	ALLOCATIONS_RETRIED,  /* all of them were granted in the end */
	ALLOCATIONS_SURVIVED, /* raised, and that process went on */
	ALLOCATIONS_FATAL,    /* raised, and nothing came after it */
};

struct allocation_findings {
	enum allocation_end end; /* the worst over all threads */
	uint64_t retries;        /* granted after a refusal */
	uint64_t survived;       /* raises that were survived */
	/* The first raise of the kind that end names. */
	bool is_host; /* pinned memory: the host's, not the device's */
	pid_t pid;
	int rank; /* -1: not known */
	uint16_t call;
	uint64_t asked_bytes, free_bytes; /* 0: not known */
	/* More was free than asked for, rounded up to 2 MiB. */
	bool is_fragmented;
	/* A refusal was neither answered nor raised: while its process lives,
	 * it may be freeing what it cached, to ask again. */
	bool is_open;
};

struct allocation_findings
allocations_judge(const struct preload_reading *reading);

/*
 * PyTorch's message: true when what the device has free, or what it reserves
 * without using, is more than it tried to allocate: fragmentation; the latter
 * where it is a tenth of what is in use or more. Sizes as printed ("20.00 MiB",
 * "2.35 GiB", "512 bytes"); anything else is false.
 */
bool allocations_text_is_fragmented(const char *message);

/* The largest size that a message names; 0: it names none. */
uint64_t allocations_text_asked(const char *message);

/*
 * One allocation, before any kernel ran, took more than 60% of the device: a
 * pool that the program divides by itself (XLA takes 75%, TensorFlow all but a
 * little). Its peak says nothing about the need. False while the total is not
 * known.
 */
bool allocations_are_a_pool(const struct preload_device_reading *device);

#endif
