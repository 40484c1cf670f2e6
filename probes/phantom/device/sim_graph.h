/* A graph of the simulated driver, and the memory its launches hold. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PHANTOM_DEVICE_SIM_GRAPH_H
#define AUTOFIT_PROBES_PHANTOM_DEVICE_SIM_GRAPH_H

#include "probes/phantom/device/sim_owners.h"

/* What a node of allocation gives; kept by the graph and what was made of it.
 */
struct sim_graph_memory {
	struct sim_graph_memory *next;
	struct sim_block *block;
	uint64_t bytes; /* whole granules */
	uint32_t device;
	unsigned int references;
	bool is_live; /* a launch took it, and nobody freed it */
};

/* As the driver numbers them. */
enum sim_node_type {
	SIM_NODE_KERNEL = 0,
	SIM_NODE_EMPTY = 5,
	SIM_NODE_ALLOCATION = 10,
	SIM_NODE_FREE = 11,
};

struct sim_node {
	struct sim_object object;
	struct sim_node *next;
	enum sim_node_type type;
	struct sim_graph_memory *memory; /* of the last two */
};

struct sim_graph {
	struct sim_object object;
	struct sim_node *nodes, **last;
	size_t count;
};

struct sim_step {
	enum sim_node_type type;
	struct sim_graph_memory *memory;
};

struct sim_exec {
	struct sim_object object;
	struct sim_step *steps;
	size_t count;
	uint64_t flags;
};

/* All of it for who entered. NULL, OUT_OF_MEMORY: no room. */
struct sim_node *sim_graph_add_node(struct sim_graph *graph,
				    enum sim_node_type type,
				    struct sim_graph_memory *memory);
void sim_graph_free(struct sim_graph *graph);

int sim_graph_memory_make(uint32_t device, uint64_t bytes,
			  struct sim_graph_memory **made);
void sim_graph_memory_release(struct sim_graph_memory *memory); /* or NULL */

/* The bytes a launch needs are there; and the launch takes and frees them. */
int sim_graph_reserve(const struct sim_exec *exec);
int sim_graph_run(const struct sim_exec *exec);

#endif
