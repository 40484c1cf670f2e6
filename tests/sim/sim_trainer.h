/* What the files of the simulated trainer share. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_SIM_TRAINER_H
#define AUTOFIT_TESTS_SIM_TRAINER_H

#include "sim_trainer_calls.h"
#include "sim_trainer_options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GRANULE_BYTES (2 * MIB) /* of physical memory, as with cuMemCreate */
#define PIECE_BYTES (20 * MIB)  /* as PyTorch asks for in one go */
#define OUT_OF_MEMORY 2
#define BAD_USAGE 2 /* exit status */

/* Bytes as asked for: what a page of the preload library should show. */
struct count {
	uint64_t current, peak, managed, managed_peak, host, host_peak;
	uint64_t rounded, rounded_peak; /* each block to whole granules */
	uint64_t granted, refused;
};

enum block_use { BLOCK_CACHED, BLOCK_STEP, BLOCK_WEIGHTS, BLOCK_STATE };

struct block {
	enum memory memory;
	enum block_use use;
	uint64_t bytes, asked_bytes;
	unsigned long long pointer, handle;
	void *object; /* array or graph */
};

struct trainer {
	struct options options;
	struct api api;
	struct count count;
	bool is_dry; /* nothing but counting */
	int device, rank;
	void *context, *second_context, *function, *default_pool, *pool;
	uint64_t pool_used[2]; /* bytes of blocks in the two of them */
	struct block *blocks;  /* all that the driver gave */
	size_t block_count, block_room;
	uint64_t taken;         /* blocks so far, for the mixed kinds */
	uint64_t refused_bytes; /* the last one */
	/* Addresses of the expandable pieces; which of them are mapped. */
	unsigned long long segment;
	unsigned char *segment_used;
	struct block preallocated; /* one piece that is divided here */
	void *host;                /* of the process itself */
	struct barrier *barrier;   /* of the ranks; NULL: there are none */
	char **argv;
};

/* sim_trainer_driver.c: how the driver is reached. Ends the program when its
 * functions are not there. */
void driver_load(struct trainer *trainer);
/* Ends the program unless result is 0. */
void driver_require(const struct trainer *trainer, int result,
		    const char *what);
void driver_ask_nvml(const struct trainer *trainer);

/* sim_trainer_memory.c: every kind of memory of the driver, counted. */
void memory_open(struct trainer *trainer);
/* 0 or OUT_OF_MEMORY. */
int memory_take(struct trainer *trainer, uint64_t bytes, struct block *block);
void memory_give(struct trainer *trainer, struct block *block);
void *memory_take_host(struct trainer *trainer, uint64_t bytes);
void memory_give_host(struct trainer *trainer, void *host, uint64_t bytes);
void memory_close(struct trainer *trainer);

/* sim_trainer_virtual.c: the kinds of it that are mapped. */
void virtual_open(struct trainer *trainer);
void virtual_close(struct trainer *trainer);
int virtual_take(const struct trainer *trainer, struct block *block);
int virtual_take_piece(const struct trainer *trainer, struct block *block);
int virtual_give(const struct trainer *trainer, const struct block *block);

/* sim_trainer_blocks.c: the allocator above it. 0 or OUT_OF_MEMORY. */
int blocks_take(struct trainer *trainer, uint64_t bytes, enum block_use use);
/* Into the cache; a plain allocator has none and gives it to the driver. */
void blocks_give(struct trainer *trainer, enum block_use use);
void blocks_empty_cache(struct trainer *trainer);
/* As PyTorch does when it raises: asks what is free, and prints its text. */
void blocks_raise(struct trainer *trainer, bool is_silent);

/* sim_trainer_ranks.c: this program, several times. */
int ranks_launch(struct trainer *trainer, int (*run)(struct trainer *));
/* In a rank: finds the others. */
void ranks_join(struct trainer *trainer);
void ranks_meet(const struct trainer *trainer);
/* All ranks call it; the one that options name ends here. */
void ranks_kill(const struct trainer *trainer);

/* sim_trainer_start.c: what comes before the first step. */
void train_start(struct trainer *trainer);
void train_start_workers(const struct trainer *trainer);
void train_threads(struct trainer *trainer);
/* What the process itself holds, until its end. */
void train_touch_host(struct trainer *trainer);
uint64_t train_activation_bytes(const struct options *options, long step);

/* sim_trainer_train.c: from the first call of the driver to the last. Returns
 * the exit status. */
int train(struct trainer *trainer);
int train_on_host(struct trainer *trainer);
/* For so many microseconds at least; where it only counts, not at all. */
void train_pause(const struct trainer *trainer, long us);

#endif
