/* One shared page per probe: what runs inside it tells autofit its steps. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_CHANNEL_CHANNEL_H
#define AUTOFIT_PROBES_CHANNEL_CHANNEL_H

#include "base/error.h"
#include "base/trial.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A fixed-size file in the probe's 0700 scratch folder, mapped shared by path
 * (environment AUTOFIT_CHANNEL) in the probe's processes. autofit only reads
 * it, by descriptor: a page mapped here would be SIGBUS when one of them
 * shortens the file. Little-endian as the machine; the layout is mirrored in
 * probes/python/sitecustomize.py and checked by a test. Everything in it is
 * written by others: read once, check, never trust.
 */
#define CHANNEL_MAGIC UINT64_C(0x31544946545541) /* "AUTFIT1" */
#define CHANNEL_SLOTS 256
#define CHANNEL_SIZE (64 + CHANNEL_SLOTS * 64)
/* The preload library's part of the file follows: probes/preload/ledger/page.h.
 */

/* The command has the file open under this number, for those of its processes
 * that do not see the path: high, where no script puts its own. */
#define CHANNEL_COMMAND_FD 927

enum channel_flag {
	CHANNEL_PYTHON = 1,   /* an interpreter said hello */
	CHANNEL_TORCH = 2,    /* it imported torch.optim, hook in place */
	CHANNEL_CUDA = 4,     /* torch initialised CUDA in it */
	CHANNEL_COMPILED = 8, /* torch.compile was used */
	CHANNEL_HOOK_FAILED =
		16, /* torch is there, the hook could not be set */
	CHANNEL_COUNTS_OOMS = 32, /* each error of torch's own class is seen */
};

struct channel_header {
	uint64_t magic;
	uint32_t slots;      /* CHANNEL_SLOTS */
	uint32_t slot_bytes; /* 64 */
	unsigned char reserved[48];
};

/* A slot belongs to (pid, start_time); 0 is free; claimed by writing pid. */
struct channel_slot {
	uint32_t pid;
	uint32_t flags;      /* enum channel_flag */
	uint64_t start_time; /* field 22 of /proc/<pid>/stat */
	uint64_t steps;      /* optimizer steps, largest over its optimizers */
	uint64_t last_step_ns;     /* CLOCK_MONOTONIC of the last step */
	uint64_t alloc_retries;    /* torch.cuda num_alloc_retries */
	uint64_t torch_peak_bytes; /* torch.cuda.max_memory_allocated */
	int32_t rank;              /* RANK of the environment, -1 */
	uint32_t phase;            /* enum phase, what it is doing now */
	uint32_t ooms;             /* torch's out-of-memory errors raised */
	/* First dimension of what goes into the module that is trained, the
	 * largest of two looks; 0: not seen. */
	uint32_t rows;
};

/* All bytes 0: closed. */
struct channel {
	bool is_open;
	int fd;
};

/* What all slots say together. */
struct channel_reading {
	uint64_t steps; /* of the slowest rank that steps; 0: none yet */
	uint64_t last_step_ns;
	uint64_t alloc_retries;
	uint32_t flags;   /* all flags of all slots */
	size_t processes; /* slots in use */
	size_t stepping;  /* slots with at least one step */
	uint64_t ooms;    /* raised in Python, of all slots */
	uint64_t rows;    /* the largest of any slot that steps; 0: not seen */
	/* What the furthest of those that step does; of all, while none does.
	 */
	enum phase phase;
};

/*
 * Makes the file at path (0600), with its blocks allocated, so that a full
 * disk is an error here and not SIGBUS there. An older file gives way.
 */
int channel_open(struct channel *channel, const char *path, struct error *err);

/*
 * Never fails: what is missing or absurd counts as nothing. last_step_ns is
 * never in the future, flags hold known bits only.
 */
struct channel_reading channel_read(const struct channel *channel);

/* Has this process said hello? */
bool channel_has(const struct channel *channel, uint32_t pid);

/* What this process does, and its rank (-1); false when it is not there. */
bool channel_process(const struct channel *channel, uint32_t pid,
		     enum phase *phase, int *rank);
void channel_close(struct channel *channel);

#endif
