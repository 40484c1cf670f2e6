/* The GPU models autofit knows: what a program can use of their memory. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_MODELS_GPUS_H
#define AUTOFIT_CONFIGS_MODELS_GPUS_H

#include "base/error.h"
#include "base/strlist.h"

#include <stddef.h>
#include <stdint.h>

#define GPU_MODEL_NAME_MAX 96

struct gpu_model {
	char name[GPU_MODEL_NAME_MAX]; /* as the driver calls it */
	uint64_t total_bytes;          /* of the board */
	uint64_t usable_bytes;         /* what CUDA gives to programs */
	int compute_major;             /* of 8.6: 8; 0: not known, not CUDA */
	int compute_minor;
	int multiprocessors;    /* 0: not known */
	uint64_t context_bytes; /* beside a process's allocations */
};

/* All zero: empty. */
struct gpu_catalogue {
	struct gpu_model *items;
	size_t count, capacity;
};

/*
 * The built-in models (configs/gpus.csv), then those of the user's file of the
 * same format, which add to them or replace one of the same name; path NULL,
 * or no such file: none. A line that cannot be used is passed over with
 * "path:line: ..." in warnings. The caller releases the catalogue.
 */
void gpu_catalogue_load(struct gpu_catalogue *catalogue, const char *path,
			struct strlist *warnings);
void gpu_catalogue_release(struct gpu_catalogue *catalogue);

/*
 * The model that is meant by name, in any case, without blanks and dashes, and
 * without words that say nothing of its memory (NVIDIA, GeForce, RTX, PCIe):
 * "rtx4090", "4090", "a100-40gb", "T4". Models of the same memory are one. NULL
 * with -ENOTUNIQ when it could be several, or leaves out a word that counts
 * ("a100"): err names them; with -ENOENT and the nearest when it is none.
 */
const struct gpu_model *
gpu_catalogue_find(const struct gpu_catalogue *catalogue, const char *name,
		   struct error *err);

#endif
