/* One shared page per probe: what runs inside it tells autofit its steps. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_CHANNEL_CHANNEL_H
#define AUTOFIT_PROBES_CHANNEL_CHANNEL_H

#include "base/error.h"
#include "base/trial.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Autofit must learn from inside a foreign program how many optimizer steps it
 * has done. It shares one file with everything that the command starts:
 *
 *	header 64 bytes | CHANNEL_SLOTS slots of 128 bytes | preload's page
 *
 * Who writes: autofit makes the file (0600), zeroed, and names it in
 * AUTOFIT_CHANNEL. After that it only reads. Each Python
 * interpreter with the step hook (probes/python/sitecustomize.py) maps the file
 * and claims one slot by writing its pid; only that process writes the slot
 * again. What follows the slots belongs to the preload library, see
 * probes/preload/ledger/page.h.
 *
 * Where it is: a page of it that a file system cannot give (a server that is
 * gone, a quota) is SIGBUS in the middle of a foreign program, and some cannot
 * map it at all. So it is in memory, in CHANNEL_MEMORY_FOLDER, where GPUs are
 * tuned for and that can be. Else it is in the probe's 0700 scratch folder:
 * also where host memory is tuned for, as shared memory would count as the
 * command's. It needs a name: a descriptor alone is lost in whatever closes
 * those it does not know, as each subprocess of Python does.
 *
 * How it is read: by descriptor, never mapped, for a process of the probe may
 * shorten the file, and reading a mapped page that is gone is SIGBUS. There is
 * no lock: a reading can catch a slot between two stores. The page is read
 * twice, and of each counter the lower value counts; counters only rise, so
 * that nothing is lost but a moment.
 *
 * What is believed: nothing that is absurd. The command runs as the same user
 * and could write anything. Pids beyond the kernel's limit, impossible counts
 * and unknown flags count as nothing; a lie can at worst end its own probe.
 *
 * Numbers are as the machine has them. tests/unit/test_channel.c holds the
 * layout here against the one in Python.
 */
#define CHANNEL_MAGIC UINT64_C(0x31544946545541) /* "AUTFIT1" */
#define CHANNEL_SLOTS 256
#define CHANNEL_SIZE (64 + CHANNEL_SLOTS * 144)

/* The command has the file open under this number, for those of its processes
 * that do not see the path: high, where no script puts its own. */
#define CHANNEL_COMMAND_FD 927

enum channel_flag {
	CHANNEL_PYTHON = 1, /* an interpreter said hello */
	/* It imported torch.optim: the step hook is installed. Or fit() of
	 * Keras trained on a batch. */
	CHANNEL_TORCH = 2,
	CHANNEL_CUDA = 4,     /* torch initialised CUDA in it */
	CHANNEL_COMPILED = 8, /* torch.compile was used */
	CHANNEL_HOOK_FAILED =
		16, /* torch is there, the hook could not be set */
	CHANNEL_COUNTS_OOMS = 32, /* each error of torch's own class is seen */
	/* At its end: it had made an optimizer, and never stepped. */
	CHANNEL_NEVER_STEPPED = 64,
	/* As many rows of other sizes went into the module that is trained. */
	CHANNEL_SIZES_DIFFER = 128,
	/* The data loaders at work do not shuffle, and have many more batches
	 * than a probe sees. */
	CHANNEL_IN_ORDER = 256,
	/* Its first steps found no gradient. */
	CHANNEL_IDLE = 512,
	/* Between the last two of its first steps more was held than between
	 * those before, by what is no noise: see Rest of the hook. */
	CHANNEL_HOLDS_MORE = 1024,
	/* Much of what its optimizer holds is frozen. */
	CHANNEL_FROZEN = 2048,
	/* The module that is trained takes statistics of its batch. */
	CHANNEL_BATCH_NORM = 4096,
	/* Its loss compares the samples of a batch with each other. */
	CHANNEL_COMPARES = 8192,
	CHANNEL_FLAGS = 2 * CHANNEL_COMPARES - 1, /* all of them */
};

struct channel_header {
	uint64_t magic;
	uint32_t slots;      /* CHANNEL_SLOTS */
	uint32_t slot_bytes; /* 144 */
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
	/* Of one optimizer step, as most of the first steps have it; 0: not
	 * seen. */
	uint32_t passes;      /* backward passes that reach the parameters */
	uint32_t batches;     /* taken from data loaders */
	uint32_t loader_rows; /* samples in a loader's batch, as it was told */
	uint32_t world;       /* of torch.distributed */
	uint32_t group;       /* ranks that share the gradients: DDP, FSDP */
	/* Backward passes before the first optimizer step, once it is made; of
	 * a program that makes no optimizer all, or the batches of Keras. */
	uint32_t first_passes;
	/* Held between two steps, gradients aside: what torch has allocated of
	 * the fullest GPU, else private memory of the process; 0: not known. */
	uint64_t rest_bytes;
	/* What a forward pass leaves for its backward pass, held as above; 0:
	 * not known, or the backward pass computes it anew. */
	uint64_t forward_bytes;
	/* Looks at what goes into the module, all of the same sizes; 0: they
	 * differ, or were not seen. */
	uint16_t same_sizes;
	/* Second dimension of what rows are the first of, where there are two
	 * or three; 0: not so, or not seen. */
	uint16_t columns;
	/* Backward passes since the first optimizer step; 0: none, or another
	 * optimizer steps as well. */
	uint32_t later_passes;
	uint64_t last_pass_ns; /* CLOCK_MONOTONIC of the last of those */
	/* At its end, of the fullest GPU: what torch.cuda.max_memory_reserved
	 * says; 0: not known. */
	uint64_t torch_reserved_bytes;
	/* What the first two passes took for a while above what is held behind
	 * them, where both are of one step; 0: not known. */
	uint64_t pass_bytes;
	/* Samples of a loader at work, the most of several; 0: not known. */
	uint32_t data_rows;
	uint32_t reserved;
};

#define CHANNEL_MEMORY_FOLDER "/dev/shm"
#define CHANNEL_MEMORY_PREFIX ".autofit-"

/* The file of this probe there; hidden, so that who removes all that he sees
 * passes it over. The caller frees it. */
char *channel_memory_path(const char *probe_id);

/* Is the folder in memory, with room for pages, and may files be made in it? */
bool channel_memory_has_room(const char *folder);

/* All bytes 0: closed. */
struct channel {
	bool is_open;
	int fd;
};

/* What all slots say together. */
struct channel_reading {
	uint64_t steps;        /* of the slowest rank that steps; 0: none yet */
	uint64_t last_step_ns; /* CLOCK_MONOTONIC, of the last of them */
	uint64_t alloc_retries;
	uint32_t flags;   /* all flags of all slots */
	size_t processes; /* slots in use */
	size_t stepping;  /* slots with at least one step */
	pid_t stepper;    /* a process that has one of those; 0: none */
	/* Of the ranks that have torch some have stepped, and one has not. */
	bool is_rank_behind;
	uint64_t ooms;    /* raised in Python, of all slots */
	uint64_t rows;    /* the largest of any slot that steps; 0: not seen */
	uint64_t columns; /* the same */
	/* The same of the slot's other fields of that name. */
	uint64_t passes, batches, loader_rows, data_rows, world, group;
	uint64_t torch_peak_bytes, rest_bytes;
	uint64_t forward_bytes, pass_bytes;
	/* Of all that step; 0: one does not say. */
	uint64_t rest_total_bytes, forward_total_bytes, pass_total_bytes;
	uint64_t same_sizes;   /* the fewest of those that step */
	uint64_t first_passes; /* the most */
	uint64_t later_passes; /* of the slowest rank, as its last_pass_ns */
	uint64_t last_pass_ns;
	uint64_t torch_reserved_bytes; /* the largest of all that ended */
	/* Backward passes of the slowest rank that makes any, where no rank
	 * steps an optimizer; 0: none. */
	uint64_t by_hand;
	/* The phase of the furthest process that steps; of any, while none
	 * steps. */
	enum phase phase;
};

/*
 * Makes the file at path (0600), with its blocks allocated, so that a full
 * disk is an error here and not SIGBUS there. An older file gives way.
 */
int channel_open(struct channel *channel, const char *path, struct error *err);

/* Never fails: what is missing or absurd counts as nothing. */
struct channel_reading channel_read(const struct channel *channel);

/*
 * The slots of a page as they are, what is absurd taken out: to be handed on to
 * another machine, and there to be put into its page.
 */
void channel_read_slots(const struct channel *channel,
			struct channel_slot slots[CHANNEL_SLOTS]);
void channel_write_slots(const struct channel *channel,
			 const struct channel_slot slots[CHANNEL_SLOTS]);

/* Has this process claimed a slot? Then *phase is what it does; may be NULL. */
bool channel_process(const struct channel *channel, pid_t pid,
		     enum phase *phase);

/*
 * Does this process have torch, and the hook never reached it (python -I, -S,
 * env -i)? A copy made by fork, as a data loader's workers are, has claimed no
 * slot yet but holds the page, which an exec gives back.
 */
bool channel_is_bypassed(const struct channel *channel, pid_t pid);

/* A process with torch that is one of several ranks. */
struct channel_rank {
	pid_t pid;
	uint64_t start_time; /* field 22 of /proc/<pid>/stat */
	int rank;
};

/* All that claimed a slot, also those that have ended. Their number. */
size_t channel_ranks(const struct channel *channel,
		     struct channel_rank ranks[CHANNEL_SLOTS]);

void channel_close(struct channel *channel);

#endif
