/* Graphs of the simulated driver, node by node. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_graph.h"

/* NOLINTBEGIN(readability-identifier-naming): the driver's names */
/* NOLINTBEGIN(readability-function-size): the driver's signatures */

enum graphs_location_type { LOCATION_DEVICE = 1 };

/* Of an allocation node; the first part is a pool's properties. */
struct allocation_parameters {
	int allocation_type, handle_types;
	int location_type, location_id;
	void *security;
	size_t max_bytes;
	unsigned short usage;
	unsigned char reserved[54];
	const void *accesses;
	size_t access_count;
	size_t bytes;
	uint64_t pointer;
};

struct node_parameters {
	int type;
	int reserved[3];
	union {
		long long room[29];
		struct allocation_parameters allocation;
		uint64_t free_pointer;
	} of;
	long long reserved_last;
};

struct sim_graph *sim_graph_make(void)
{
	struct sim_graph *graph =
		sim_object_make(SIM_GRAPH, sizeof(*graph), NULL);

	if (graph)
		graph->last = &graph->nodes;
	return graph;
}

struct sim_node *sim_graph_add_node(struct sim_graph *graph,
				    enum sim_node_type type,
				    struct sim_graph_memory *memory)
{
	struct sim_node *node = sim_object_make(SIM_NODE, sizeof(*node), NULL);

	if (!node)
		return NULL;
	node->type = type;
	node->memory = memory;
	if (memory)
		memory->references++;
	*graph->last = node;
	graph->last = &node->next;
	graph->count++;
	return node;
}

int sim_graph_add_kernel(struct sim_graph *graph)
{
	return sim_graph_add_node(graph, SIM_NODE_KERNEL, NULL) ? OK
								: OUT_OF_MEMORY;
}

void sim_graph_free(struct sim_graph *graph)
{
	while (graph->nodes) {
		struct sim_node *node = graph->nodes;

		graph->nodes = node->next;
		sim_graph_memory_release(node->memory);
		sim_object_free(node);
	}
	sim_object_free(graph);
}

static int add_allocation(struct sim_graph *graph, uint32_t device,
			  uint64_t bytes, struct sim_node **node)
{
	struct sim_graph_memory *memory = NULL;
	int result = sim_graph_memory_make(device, bytes, &memory);

	if (result)
		return result;
	*node = sim_graph_add_node(graph, SIM_NODE_ALLOCATION, memory);
	if (!*node)
		sim_graph_memory_release(memory);
	return *node ? OK : OUT_OF_MEMORY;
}

int sim_graph_add_allocation(struct sim_graph *graph, uint32_t device,
			     uint64_t bytes, uint64_t *address)
{
	struct sim_node *node = NULL;
	int result = add_allocation(graph, device, bytes, &node);

	if (!result)
		*address = node->memory->block->address;
	return result;
}

static int add_free(struct sim_graph *graph, uint64_t address,
		    struct sim_node **node)
{
	const struct sim_block *block = sim_block_at(address, SIM_GRAPH_MEMORY);

	if (!block)
		return INVALID_VALUE;
	*node = sim_graph_add_node(graph, SIM_NODE_FREE, block->owner);
	return *node ? OK : OUT_OF_MEMORY;
}

int sim_graph_add_free(struct sim_graph *graph, uint64_t address)
{
	struct sim_node *node = NULL;

	return add_free(graph, address, &node);
}

/* Where a new node goes; its dependencies are the order of the nodes here. */
struct graphs_place {
	void **handle;
	struct sim_graph *graph;
};

static int enter_graph(void **handle, const void *graph,
		       struct graphs_place *place)
{
	int result = sim_enter();

	if (result)
		return result;
	place->handle = handle;
	place->graph = sim_object_find(graph, SIM_GRAPH);
	return handle && place->graph ? OK : sim_leave(INVALID_VALUE);
}

static int leave_with(const struct graphs_place *place, int result,
		      struct sim_node *node)
{
	if (!result)
		*place->handle = node;
	return sim_leave(result);
}

static int put_plain(const struct graphs_place *place, enum sim_node_type type)
{
	struct sim_node *node = sim_graph_add_node(place->graph, type, NULL);

	return leave_with(place, node ? OK : OUT_OF_MEMORY, node);
}

static int put_allocation(const struct graphs_place *place,
			  struct allocation_parameters *parameters)
{
	struct sim_node *node = NULL;
	uint32_t device = 0;
	int result = OK;

	if (!parameters || !parameters->bytes ||
	    parameters->location_type != LOCATION_DEVICE)
		return sim_leave(INVALID_VALUE);
	result = sim_device(parameters->location_id, &device);
	if (!result)
		result = add_allocation(place->graph, device, parameters->bytes,
					&node);
	if (!result)
		parameters->pointer = node->memory->block->address;
	return leave_with(place, result, node);
}

static int put_free(const struct graphs_place *place, uint64_t pointer)
{
	struct sim_node *node = NULL;
	int result = add_free(place->graph, pointer, &node);

	return leave_with(place, result, node);
}

EXPORT int cuGraphCreate(void **handle, unsigned int flags)
{
	int result = sim_enter();

	if (result)
		return result;
	if (!handle || flags)
		return sim_leave(INVALID_VALUE);
	*handle = sim_graph_make();
	return sim_leave(*handle ? OK : OUT_OF_MEMORY);
}

EXPORT int cuGraphAddMemAllocNode(void **node, const void *graph,
				  const void *dependencies, size_t count,
				  struct allocation_parameters *parameters)
{
	struct graphs_place place = { 0 };
	int result = enter_graph(node, graph, &place);

	(void)dependencies;
	(void)count;
	return result ? result : put_allocation(&place, parameters);
}

EXPORT int cuGraphAddMemFreeNode(void **node, const void *graph,
				 const void *dependencies, size_t count,
				 uint64_t pointer)
{
	struct graphs_place place = { 0 };
	int result = enter_graph(node, graph, &place);

	(void)dependencies;
	(void)count;
	return result ? result : put_free(&place, pointer);
}

EXPORT int cuGraphAddEmptyNode(void **node, const void *graph,
			       const void *dependencies, size_t count)
{
	struct graphs_place place = { 0 };
	int result = enter_graph(node, graph, &place);

	(void)dependencies;
	(void)count;
	return result ? result : put_plain(&place, SIM_NODE_EMPTY);
}

EXPORT int cuGraphAddKernelNode_v2(void **node, const void *graph,
				   const void *dependencies, size_t count,
				   const void *parameters)
{
	struct graphs_place place = { 0 };
	int result = enter_graph(node, graph, &place);

	(void)dependencies;
	(void)count;
	if (result)
		return result;
	return parameters ? put_plain(&place, SIM_NODE_KERNEL)
			  : sim_leave(INVALID_VALUE);
}

SIM_TWIN(cuGraphAddKernelNode, cuGraphAddKernelNode_v2,
	 (void **node, const void *graph, const void *dependencies,
	  size_t count, const void *parameters),
	 (node, graph, dependencies, count, parameters))

EXPORT int cuGraphAddNode_v2(void **node, const void *graph,
			     const void *dependencies, const void *edges,
			     size_t count, struct node_parameters *parameters)
{
	struct graphs_place place = { 0 };
	int result = enter_graph(node, graph, &place);

	(void)dependencies;
	(void)edges;
	(void)count;
	if (result)
		return result;
	if (!parameters)
		return sim_leave(INVALID_VALUE);
	if (parameters->type == SIM_NODE_ALLOCATION)
		return put_allocation(&place, &parameters->of.allocation);
	if (parameters->type == SIM_NODE_FREE)
		return put_free(&place, parameters->of.free_pointer);
	return put_plain(&place, (enum sim_node_type)parameters->type);
}

SIM_TWIN(cuGraphAddNode_v3, cuGraphAddNode_v2,
	 (void **node, const void *graph, const void *dependencies,
	  const void *edges, size_t count, struct node_parameters *parameters),
	 (node, graph, dependencies, edges, count, parameters))

EXPORT int cuGraphAddNode(void **node, const void *graph,
			  const void *dependencies, size_t count,
			  struct node_parameters *parameters)
{
	return cuGraphAddNode_v2(node, graph, dependencies, NULL, count,
				 parameters);
}

EXPORT int cuGraphGetNodes(const void *handle, void **nodes, size_t *count)
{
	const struct sim_graph *graph;
	size_t number = 0;
	int result = sim_enter();

	if (result)
		return result;
	graph = sim_object_find(handle, SIM_GRAPH);
	if (!graph || !count)
		return sim_leave(INVALID_VALUE);
	for (struct sim_node *node = graph->nodes; nodes && node;
	     node = node->next) {
		if (number == *count)
			break;
		nodes[number++] = node;
	}
	*count = nodes ? number : graph->count;
	return sim_leave(OK);
}

EXPORT int cuGraphDestroy(const void *handle)
{
	struct sim_graph *graph;
	int result = sim_enter();

	if (result)
		return result;
	graph = sim_object_find(handle, SIM_GRAPH);
	if (!graph)
		return sim_leave(INVALID_VALUE);
	sim_graph_free(graph);
	return sim_leave(OK);
}

const struct sim_export sim_graph_exports[] = {
	SIM_SAME(cuGraphCreate, 10000),
	SIM_SAME(cuGraphAddMemAllocNode, 11040),
	SIM_SAME(cuGraphAddMemFreeNode, 11040),
	SIM_SAME(cuGraphAddEmptyNode, 10000),
	SIM_SAME(cuGraphAddKernelNode, 10000),
	SIM_ROW(cuGraphAddKernelNode_v2, "cuGraphAddKernelNode", 12000),
	SIM_SAME(cuGraphAddNode, 12020),
	SIM_ROW(cuGraphAddNode_v2, "cuGraphAddNode", 12030),
	SIM_ROW(cuGraphAddNode_v3, "cuGraphAddNode", 13040),
	SIM_SAME(cuGraphGetNodes, 10000),
	SIM_SAME(cuGraphDestroy, 10000),
	SIM_END,
};

/* NOLINTEND(readability-function-size) */
/* NOLINTEND(readability-identifier-naming) */
