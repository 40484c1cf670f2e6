/* The GPUs a command would see, and what is free on them: no CUDA driver. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REQUEST_VISIBLE_GPUS_H
#define AUTOFIT_LAUNCHER_REQUEST_VISIBLE_GPUS_H

#include "base/strlist.h"
#include "probes/observers/gpu/gpu.h"

#include <stdint.h>

/*
 * From /proc and CUDA_VISIBLE_DEVICES, cuda_index (--device cuda:N) being one
 * of those; -1: all. Indexes count in the order of the bus, which is the
 * driver's for cards of one model. Their number; slices of a card and what is
 * not listed are left out.
 */
int visible_gpus_find(struct gpu_device gpus[GPU_MAX],
		      const struct strlist *environment, int cuda_index);

/* Bytes free on the fullest of them, by NVML; UINT64_MAX: not known. */
uint64_t visible_gpus_free_bytes(const struct gpu_device *gpus, int count);

#endif
