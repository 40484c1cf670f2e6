/* Graphs of the simulated driver: what their launches hold. */
/* SPDX-License-Identifier: MIT */
/* USES base */
#include "sim_case.h"

enum graph_attribute { GRAPH_USED, GRAPH_USED_HIGH, GRAPH_RESERVED };

static uint64_t graph_value(const struct case_driver *cu,
			    enum graph_attribute attribute)
{
	uint64_t value = 0;

	OK(cu->cuDeviceGetGraphMemAttribute(0, (int)attribute, &value));
	return value;
}

static void graph_memory(const struct case_driver *cu)
{
	struct case_node kept = { .bytes = 10 * MIB };
	struct case_node freed = { .bytes = 6 * MIB };
	void *graph = NULL;
	void *node = NULL;
	void *exec = NULL;

	case_begin(cu);
	kept.pool.location_type = freed.pool.location_type = 1;
	OK(cu->cuGraphCreate(&graph, 0));
	OK(cu->cuGraphAddMemAllocNode(&node, graph, NULL, 0, &kept));
	OK(cu->cuGraphAddMemAllocNode(&node, graph, NULL, 0, &freed));
	OK(cu->cuGraphAddMemFreeNode(&node, graph, NULL, 0, freed.pointer));
	OK(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cu->cuGraphDestroy(graph));
	IS(case_taken(cu), 0);
	OK(cu->cuGraphLaunch(exec, NULL));
	IS(case_taken(cu), 16 * MIB);
	IS(graph_value(cu, GRAPH_USED), 10 * MIB);
	IS(graph_value(cu, GRAPH_USED_HIGH), 16 * MIB);
	IS(graph_value(cu, GRAPH_RESERVED), 16 * MIB);
	IS(cu->cuGraphLaunch(exec, NULL), 1);
	OK(cu->cuDeviceGraphMemTrim(0));
	IS(case_taken(cu), 10 * MIB);
	OK(cu->cuMemFreeAsync(kept.pointer, NULL));
	IS(cu->cuMemFree_v2(kept.pointer), 1);
	OK(cu->cuGraphLaunch(exec, NULL));
	IS(case_taken(cu), 16 * MIB);
	OK(cu->cuMemFree_v2(kept.pointer));
	OK(cu->cuGraphExecDestroy(exec));
	OK(cu->cuDeviceGraphMemTrim(0));
	IS(case_taken(cu), 0);
}

static void a_captured_allocation(const struct case_driver *cu)
{
	uint64_t pointer = 0;
	void *stream = NULL;
	void *graph = NULL;
	void *exec = NULL;
	int status = -1;

	case_begin(cu);
	OK(cu->cuStreamCreate(&stream, 1));
	IS(cu->cuStreamBeginCapture_v2(NULL, 0), 900);
	OK(cu->cuStreamBeginCapture_v2(stream, 0));
	OK(cu->cuStreamIsCapturing(stream, &status));
	IS(status, 1);
	OK(cu->cuMemAllocAsync(&pointer, 3 * MIB, stream));
	OK(cu->cuMemFreeAsync(pointer, stream));
	IS(cu->cuStreamSynchronize(stream), 900);
	OK(cu->cuStreamEndCapture(stream, &graph));
	OK(cu->cuStreamIsCapturing(stream, &status));
	IS(status, 0);
	IS(case_taken(cu), 0);
	OK(cu->cuGraphInstantiateWithFlags(&exec, graph, 0));
	for (int i = 0; i < 3; i++)
		OK(cu->cuGraphLaunch(exec, stream));
	IS(case_taken(cu), 4 * MIB);
	IS(graph_value(cu, GRAPH_USED), 0);
	OK(cu->cuStreamDestroy_v2(stream));
}

static void what_graphs_hold(void **state)
{
	static const struct case_row rows[] = {
		{ "graphs", graph_memory, NULL },
		{ "captured", a_captured_allocation, NULL },
	};

	case_play(*state, CASE_DRIVER, rows, sizeof(rows) / sizeof(*rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_graphs_hold, scratch_make,
						scratch_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
