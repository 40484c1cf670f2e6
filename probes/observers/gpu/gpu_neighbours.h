/* Others that come onto a GPU, or move on it, while a probe runs there. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OBSERVERS_GPU_GPU_NEIGHBOURS_H
#define AUTOFIT_PROBES_OBSERVERS_GPU_GPU_NEIGHBOURS_H

#include "probes/observers/gpu/gpu.h"
#include "probes/process/pid_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Memory of others that moves by less disturbs no probe beside them. */
#define GPU_NEIGHBOUR_NOISE_BYTES (UINT64_C(64) << 20)
/* One that has no more may stay: a helper of the desktop, an idle notebook. */
#define GPU_NEIGHBOUR_BASE_BYTES (UINT64_C(512) << 20)
#define GPU_NEIGHBOUR_TEXT_MAX 128

struct gpu_neighbours {
	/* Others may be there: only newcomers and what moves count. */
	bool shared;
	/* Some process of the probe was listed: the pids are of this place. */
	bool tree_was_listed;
	struct pid_list known;          /* there at the start, and may stay */
	struct pid_list tree;           /* of the probe, once listed */
	uint64_t others_bytes[GPU_MAX]; /* at the start, per GPU */
};

/* What NVML lists on one of the probe's GPUs. */
struct gpu_listing {
	size_t gpu;
	const struct gpu_process *processes;
	int count; /* negative: not known */
};

/* The probe's own processes, at the last look, and how others are told. */
struct gpu_tree {
	const pid_t *pids;
	size_t count;
	pid_t keeper;     /* the root of them all */
	const char *mark; /* "AUTOFIT_PROBE=<id>": started through a server */
};

/* Before the probe's first process, once for every GPU. */
void gpu_neighbours_begin(struct gpu_neighbours *neighbours,
			  const struct gpu_listing *listing);

/*
 * One look. True when a process that computes there is not the probe's own
 * and was not there at the start as one that may stay (a small one, or any with
 * shared), or when the memory of those moved; text says which. Nothing is
 * claimed before a process of the probe was listed, nor of pids that are none
 * here: in a container they may be the host's. MPS's server is nobody.
 */
bool gpu_neighbours_look(struct gpu_neighbours *neighbours,
			 const struct gpu_listing *listing,
			 const struct gpu_tree *tree,
			 char text[GPU_NEIGHBOUR_TEXT_MAX]);

void gpu_neighbours_release(struct gpu_neighbours *neighbours);

#endif
