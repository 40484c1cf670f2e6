/* Intel devices as the kernel shows them: no library is loaded. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OBSERVERS_GPU_INTEL_H
#define AUTOFIT_PROBES_OBSERVERS_GPU_INTEL_H

#include "base/error.h"
#include "probes/observers/gpu/gpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Level Zero's programs (torch.xpu) find their cards among the nodes of
 * <sys>/class/drm whose driver is xe or i915, by their places on the bus. The
 * one that is part of a processor has no memory of its own, and is none here.
 * How large a card's memory is some drivers tell in a file, the others when
 * they are asked. How much of it is used they tell only root: it is added up of
 * the open files of the processes that may be seen (drm_fdinfo.h). What other
 * users have there is not known.
 */
struct intel_roots {
	const char *sys, *proc, *dev; /* "/sys", "/proc", "/dev" but in tests */
};

/* As above, or below the folder that AUTOFIT_SYSFS of the environment names,
 * with "proc" and "dev" in it: for tests. */
struct intel_roots intel_roots_here(void);

/*
 * The cards that mask (ZE_AFFINITY_MASK) leaves, in the order of their numbers
 * whatever the mask's; NULL and "": all. Their number; -EIO where one is there
 * and the kernel does not tell its memory, or it is several in one.
 */
int intel_devices_list(const struct intel_roots *roots, const char *mask,
		       struct gpu_device devices[GPU_MAX], struct error *err);

/* The word of a mask that leaves only the card that is number index under this
 * mask; NULL: there is none. The caller frees it. */
char *intel_mask_word(const char *mask, int index);

/* Memory and processes of the device look->uuid: fills in the rest of it. */
void intel_look(const struct intel_roots *roots, struct gpu_look *look);

/* A card's own memory. */
struct intel_vram {
	uint64_t bytes; /* 0: it has none, or that is not told */
	int parts; /* each has an equal share of it, and its own programs */
};

/* Asks the driver of a node, "/dev/dri/renderD128". */
struct intel_vram intel_query(const char *node, bool is_xe);

/* Pure: what the driver's answer says. */
struct intel_vram intel_answer_read(const void *answer, size_t size,
				    bool is_xe);

#endif
