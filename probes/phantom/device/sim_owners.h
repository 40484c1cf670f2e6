/* What the simulated driver's memory pools and contexts do for each other. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PHANTOM_DEVICE_SIM_OWNERS_H
#define AUTOFIT_PROBES_PHANTOM_DEVICE_SIM_OWNERS_H

#include "probes/phantom/device/sim_objects.h"

/* All of it for who entered. */

/* A block of a pool or a graph is freed: the pool has its bytes again. */
void sim_pool_give(struct sim_block *block);
int sim_graph_give(struct sim_block *block);

/* After a wait: pools keep what is used and what their threshold says. */
void sim_pools_settle(void);
/* The last context of the device ended: nothing of it is kept. */
void sim_pools_drop(uint32_t device);
void sim_graphs_drop(uint32_t device);

/* The graph that a stream is being captured into, or NULL. */
struct sim_graph;
struct sim_graph *sim_stream_graph(const void *handle);
bool sim_stream_is_known(const void *handle);

/* A graph's nodes, as a capture adds them. NULL, INVALID_VALUE: no room. */
struct sim_graph *sim_graph_make(void);
int sim_graph_add_kernel(struct sim_graph *graph);
int sim_graph_add_allocation(struct sim_graph *graph, uint32_t device,
			     uint64_t bytes, uint64_t *address);
int sim_graph_add_free(struct sim_graph *graph, uint64_t address);

/* A launch of a kernel or a graph: the script's answer, the code's bytes. */
int sim_launch(struct sim_context *context);

/* A kernel runs: no byte of the card is known from then on; see sim_kept.h. */
void sim_forget_kept(void);

#endif
