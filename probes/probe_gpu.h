/* The GPUs of a probe: exact from inside, checked from outside. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PROBE_GPU_H
#define AUTOFIT_PROBES_PROBE_GPU_H

#include "probes/observers/gpu/gpu_neighbours.h"
#include "probes/observers/gpu/preload.h"
#include "probes/probe.h"
#include "probes/verdict/reconcile.h"
#include "probes/verdict/verdict.h"

struct probe_gpus {
	const struct probe_devices *spec;
	int channel_fd;
	/* The probe's own processes; whoever looks at the host sets the pids.
	 */
	struct gpu_tree tree;
	char *mark; /* of the tree: "AUTOFIT_PROBE=<id>" */
	struct preload_reading preload;
	struct reconcile reconcile[GPU_MAX];
	struct gpu_neighbours neighbours;
	char neighbour_moved[NEIGHBOUR_TEXT_MAX]; /* the first; "": none */
	bool is_used;
	uint64_t used_places; /* of the list: see struct evidence_gpu */
	bool bytes_are_told;  /* NVML says what each process holds */
	bool is_bypassed;     /* by a process that did not load the library */
	bool is_filled;       /* a device did fill up, whoever did it */
	int extra_looks;      /* after it was decided, and not seen exactly */
};

/*
 * Before the probe's first process. The page of the preload library goes behind
 * the channel of channel_fd. Release it, whatever the result.
 */
int probe_gpus_open(struct probe_gpus *gpus, const struct probe_spec *spec,
		    int channel_fd, struct error *err);
void probe_gpus_release(struct probe_gpus *gpus);

/* Reads what the preload library counted: cheap, at every tick. */
void probe_gpus_read(struct probe_gpus *gpus);

/* Asks NVML as well: processes, memory, other tenants. */
void probe_gpus_look(struct probe_gpus *gpus);

/* The command ended by itself: did other tenants come or move? */
void probe_gpus_ask_neighbours(struct probe_gpus *gpus);

/* Bytes used of it by all, at NVML's last look. False: not known. */
bool probe_gpu_used(struct nvml *nvml, const struct probe_gpu *gpu,
		    uint64_t *bytes);

/* A kernel was launched since *launches, which is set to the count of now. */
bool probe_gpus_ran_kernel(struct probe_gpus *gpus, uint64_t *launches);

/* The largest peak of its GPUs; 0: not known, or a pool of its own. */
uint64_t probe_gpus_peak(const struct probe_gpus *gpus);

/* The coverage of the GPU that was seen least exactly, of those used. */
enum coverage probe_gpus_coverage(const struct probe_gpus *gpus);

void probe_gpus_evidence(const struct probe_gpus *gpus,
			 struct evidence_gpu *evidence);

#endif
