/* Wrappers of graphs: those that allocate hold memory of their own. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/cap.h"
#include "probes/preload/device.h"
#include "probes/preload/held.h"
#include "probes/preload/pools.h"
#include "probes/preload/properties.h"
#include "probes/preload/wrap.h"

#include <errno.h>

/* NOLINTBEGIN(readability-identifier-naming, readability-function-size): the
 * names and the parameters are the driver's. */

/* Before it begins: what another thread asks meanwhile may spoil it. */
#define CAPTURE(elf, parameters, arguments)                                    \
	WRAPPER cu_result elf parameters                                       \
	{                                                                      \
		fn_##elf *real = REAL(elf);                                    \
                                                                               \
		if (!real)                                                     \
			return CU_NOT_FOUND;                                   \
		device_capture_begins();                                       \
		return real arguments;                                         \
	}

#define INTO_GRAPH                                                             \
	(void *h_stream, void *h_graph, void *const *dependencies,             \
	 const void *dependency_data, size_t num_dependencies,                 \
	 unsigned int mode)
#define INTO_GRAPH_ARGUMENTS                                                   \
	(h_stream, h_graph, dependencies, dependency_data, num_dependencies,   \
	 mode)

CAPTURE(cuStreamBeginCapture, (void *h_stream), (h_stream))
CAPTURE(cuStreamBeginCapture_ptsz, (void *h_stream), (h_stream))
CAPTURE(cuStreamBeginCapture_v2, (void *h_stream, unsigned int mode),
	(h_stream, mode))
CAPTURE(cuStreamBeginCapture_v2_ptsz, (void *h_stream, unsigned int mode),
	(h_stream, mode))
CAPTURE(cuStreamBeginCaptureToGraph, INTO_GRAPH, INTO_GRAPH_ARGUMENTS)
CAPTURE(cuStreamBeginCaptureToGraph_ptsz, INTO_GRAPH, INTO_GRAPH_ARGUMENTS)

#define INTO_SAME_GRAPH                                                        \
	(void *h_stream, unsigned int mode, void *h_graph,                     \
	 void *callback_func, void *user_data)
#define INTO_SAME_GRAPH_ARGUMENTS                                              \
	(h_stream, mode, h_graph, callback_func, user_data)

/* CUDA 13.1 and 13.3. */
CAPTURE(cuStreamBeginCaptureToCig,
	(void *h_stream, void *stream_cig_capture_params),
	(h_stream, stream_cig_capture_params))
CAPTURE(cuStreamBeginCaptureToCig_ptsz,
	(void *h_stream, void *stream_cig_capture_params),
	(h_stream, stream_cig_capture_params))
CAPTURE(cuStreamBeginRecaptureToGraph, INTO_SAME_GRAPH,
	INTO_SAME_GRAPH_ARGUMENTS)
CAPTURE(cuStreamBeginRecaptureToGraph_ptsz, INTO_SAME_GRAPH,
	INTO_SAME_GRAPH_ARGUMENTS)

/* A node that allocates was added to a graph, or could not be. */
static void note_node(const struct allocation_node *node, cu_result result)
{
	if (!node)
		return;
	if (result == CU_SUCCESS && node->pool.location.type == LOCATION_DEVICE)
		pools_add_graphs(node->pool.location.id);
	count_result(PRELOAD_CALL_GRAPH, COUNT_CURRENT, node->bytes, result);
}

static const struct allocation_node *allocation_of(const void *parameters)
{
	const struct graph_node *node = parameters;

	return node && node->type == GRAPH_NODE_ALLOCATION ? &node->allocation
							   : NULL;
}

#define GRAPH_NODE(elf, node, parameters, arguments)                           \
	WRAPPER cu_result elf parameters                                       \
	{                                                                      \
		fn_##elf *real = REAL(elf);                                    \
		cu_result result;                                              \
                                                                               \
		if (!real)                                                     \
			return CU_NOT_FOUND;                                   \
		if (!count_begin())                                            \
			return real arguments;                                 \
		result = real arguments;                                       \
		note_node(node, result);                                       \
		call_end();                                                    \
		return result;                                                 \
	}

GRAPH_NODE(cuGraphAddMemAllocNode, node_params,
	   (void **ph_graph_node, void *h_graph, void *const *dependencies,
	    size_t num_dependencies, void *node_params),
	   (ph_graph_node, h_graph, dependencies, num_dependencies,
	    node_params))
GRAPH_NODE(cuGraphAddNode, allocation_of(node_params),
	   (void **ph_graph_node, void *h_graph, void *const *dependencies,
	    size_t num_dependencies, void *node_params),
	   (ph_graph_node, h_graph, dependencies, num_dependencies,
	    node_params))

#define WITH_EDGES                                                             \
	(void **ph_graph_node, void *h_graph, void *const *dependencies,       \
	 const void *dependency_data, size_t num_dependencies,                 \
	 void *node_params)
#define WITH_EDGES_ARGUMENTS                                                   \
	(ph_graph_node, h_graph, dependencies, dependency_data,                \
	 num_dependencies, node_params)

GRAPH_NODE(cuGraphAddNode_v2, allocation_of(node_params), WITH_EDGES,
	   WITH_EDGES_ARGUMENTS)
/* CUDA 13.4: the same, with nodes of more kinds. */
GRAPH_NODE(cuGraphAddNode_v3, allocation_of(node_params), WITH_EDGES,
	   WITH_EDGES_ARGUMENTS)
WATCHED(cuGraphAddMemFreeNode, PRELOAD_CALL_GRAPH,
	(void **ph_graph_node, void *h_graph, void *const *dependencies,
	 size_t num_dependencies, cu_pointer dptr),
	(ph_graph_node, h_graph, dependencies, num_dependencies, dptr))

/* What graphs hold of the current device may be more after the call. */
static int grow_begin(void)
{
	struct device_now now;

	ledger_give_begin();
	if (!pools_have_graphs())
		return -1;
	now = device_now();
	cap_look(now.row);
	return now.ordinal;
}

/* False: more than the cap; it was given back, if it could be. */
static bool grow_end(int ordinal)
{
	bool is_allowed = pools_grow_graphs(ordinal);

	if (!is_allowed)
		pools_undo_graphs(ordinal);
	return is_allowed;
}

/* exec: what is destroyed when the cap refuses its memory; NULL: nothing. */
static cu_result grown(void **exec, int ordinal, cu_result result)
{
	fn_cuGraphExecDestroy *destroy = REAL(cuGraphExecDestroy);
	int saved = errno;
	bool by_cap = result == CU_SUCCESS && !grow_end(ordinal);

	ledger_done();
	if (by_cap) {
		if (destroy && exec)
			(void)destroy(*exec);
		result = CU_OUT_OF_MEMORY;
	}
	if (result == CU_OUT_OF_MEMORY)
		count_refused(PRELOAD_CALL_GRAPH, COUNT_CURRENT, 0, by_cap);
	call_end();
	errno = saved;
	return result;
}

#define GRAPH_GROWTH(elf, exec, parameters, arguments)                         \
	WRAPPER cu_result elf parameters                                       \
	{                                                                      \
		fn_##elf *real = REAL(elf);                                    \
		int ordinal;                                                   \
                                                                               \
		if (!real)                                                     \
			return CU_NOT_FOUND;                                   \
		if (!count_begin())                                            \
			return real arguments;                                 \
		ordinal = grow_begin();                                        \
		return grown(exec, ordinal, real arguments);                   \
	}

GRAPH_GROWTH(cuGraphInstantiate, ph_graph_exec,
	     (void **ph_graph_exec, void *h_graph, void **ph_error_node,
	      char *log_buffer, size_t buffer_size),
	     (ph_graph_exec, h_graph, ph_error_node, log_buffer, buffer_size))
GRAPH_GROWTH(cuGraphInstantiate_v2, ph_graph_exec,
	     (void **ph_graph_exec, void *h_graph, void **ph_error_node,
	      char *log_buffer, size_t buffer_size),
	     (ph_graph_exec, h_graph, ph_error_node, log_buffer, buffer_size))
GRAPH_GROWTH(cuGraphInstantiateWithFlags, ph_graph_exec,
	     (void **ph_graph_exec, void *h_graph, unsigned long long flags),
	     (ph_graph_exec, h_graph, flags))
GRAPH_GROWTH(cuGraphInstantiateWithParams, ph_graph_exec,
	     (void **ph_graph_exec, void *h_graph, void *instantiate_params),
	     (ph_graph_exec, h_graph, instantiate_params))
GRAPH_GROWTH(cuGraphInstantiateWithParams_ptsz, ph_graph_exec,
	     (void **ph_graph_exec, void *h_graph, void *instantiate_params),
	     (ph_graph_exec, h_graph, instantiate_params))

GRAPH_GROWTH(cuGraphUpload, NULL, (void *h_graph, void *h_stream),
	     (h_graph, h_stream))
GRAPH_GROWTH(cuGraphUpload_ptsz, NULL, (void *h_graph_exec, void *h_stream),
	     (h_graph_exec, h_stream))

/*
 * What a launch takes cannot be given back. Under a cap the graph is uploaded
 * before, which takes the same; not into a stream that is being captured.
 */
static bool launch_fits(enum device_family family, void *exec, void *stream)
{
	fn_cuGraphUpload *upload;
	struct device_now now = device_now();
	bool is_allowed = true;
	unsigned int mode;
	cu_result result;

	if (now.row < 0 || !ledger_cap(now.row) ||
	    device_is_capturing(stream, family))
		return true;
	upload = family == DEVICE_LEGACY ? REAL(cuGraphUpload)
					 : REAL(cuGraphUpload_ptsz);
	if (!upload)
		return true;
	ledger_give_begin();
	cap_look(now.row);
	mode = device_relax();
	result = upload(exec, stream);
	device_restore(mode);
	if (result == CU_SUCCESS)
		is_allowed = grow_end(now.ordinal);
	ledger_done();
	return is_allowed;
}

static cu_result launch(fn_cuGraphLaunch *real, enum device_family family,
			void *exec, void *stream)
{
	bool has_graphs = pools_have_graphs();
	bool is_allowed = !has_graphs || launch_fits(family, exec, stream);
	cu_result result = CU_OUT_OF_MEMORY;
	int saved;

	if (has_graphs)
		ledger_give_begin();
	if (is_allowed)
		result = real(exec, stream);
	saved = errno;
	if (result == CU_SUCCESS)
		ledger_launch();
	if (has_graphs) {
		pools_read();
		ledger_done();
	}
	if (result == CU_OUT_OF_MEMORY)
		count_refused(PRELOAD_CALL_LAUNCH, COUNT_CURRENT, 0,
			      !is_allowed);
	call_end();
	errno = saved;
	return result;
}

#define GRAPH_LAUNCH(elf, family)                                              \
	WRAPPER cu_result elf(void *h_graph, void *h_stream)                   \
	{                                                                      \
		fn_##elf *real = REAL(elf);                                    \
                                                                               \
		if (!real)                                                     \
			return CU_NOT_FOUND;                                   \
		if (!count_begin())                                            \
			return real(h_graph, h_stream);                        \
		return launch(real, family, h_graph, h_stream);                \
	}

GRAPH_LAUNCH(cuGraphLaunch, DEVICE_LEGACY)
GRAPH_LAUNCH(cuGraphLaunch_ptsz, DEVICE_PER_THREAD)

#define GRAPH_RELEASE(elf, parameters, arguments)                              \
	WRAPPER cu_result elf parameters                                       \
	{                                                                      \
		fn_##elf *real = REAL(elf);                                    \
		cu_result result;                                              \
                                                                               \
		if (!real)                                                     \
			return CU_NOT_FOUND;                                   \
		if (!count_begin())                                            \
			return real arguments;                                 \
		ledger_give_begin();                                           \
		result = real arguments;                                       \
		if (result == CU_SUCCESS)                                      \
			pools_read();                                          \
		ledger_done();                                                 \
		call_end();                                                    \
		return result;                                                 \
	}

GRAPH_RELEASE(cuGraphExecDestroy, (void *h_graph_exec), (h_graph_exec))
GRAPH_RELEASE(cuDeviceGraphMemTrim, (int device), (device))

/* NOLINTEND(readability-identifier-naming, readability-function-size) */
